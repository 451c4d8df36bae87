use std::cell::Cell;

use serde_json::Value;
use ucp_model::json;

/// How many characters are compared as quickly as one pair of values.
const QUICK: usize = 32;

/// What one evaluation of a transform takes, in comparisons, beside what it reads.
const TRANSFORM: usize = 500;

/// The comparisons that a plan may still make. Matching nested long lists takes many, and a worker's time is limited. Once
/// the budget is spent, values that are not exactly equal count as changed, and their list is sent as a whole.
#[derive(Debug)]
pub(crate) struct Budget(Cell<usize>);

impl Budget {
    /// Several times the need of the longest declaration that Cloud Control accepts, unless it is crafted to need more.
    const COMPARISONS: usize = 2_000_000;

    pub(crate) fn new() -> Self {
        Self(Cell::new(Self::COMPARISONS))
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.0.get() == 0
    }

    /// Takes the comparison of two values, but not of those in them. Returns whether there was enough left.
    pub(crate) fn take_values(&self, declared: &Value, live: &Value) -> bool {
        let length = |value: &Value| value.as_str().map_or(0, str::len);
        self.take(1 + (length(declared) + length(live)) / QUICK)
    }

    /// Takes the comparison of two documents with all that is in them.
    pub(crate) fn take_documents(&self, declared: &Value, live: &Value) -> bool {
        self.take(values_in(declared) + values_in(live))
    }

    /// Takes the evaluation of a transform that reads values of this size.
    pub(crate) fn take_transform(&self, size: usize) -> bool {
        self.take(TRANSFORM + size / QUICK)
    }

    /// Takes a look at what is known of a pair.
    pub(crate) fn take_known(&self) -> bool {
        self.take(1)
    }

    fn take(&self, comparisons: usize) -> bool {
        let left = self.0.get().checked_sub(comparisons);
        self.0.set(left.unwrap_or_default());
        left.is_some()
    }
}

/// Returns the number of values in a document, texts by their length.
fn values_in(value: &Value) -> usize {
    let own = 1 + value.as_str().map_or(0, str::len) / QUICK;
    json::children(value)
        .map(|(_, child)| values_in(child))
        .fold(own, usize::saturating_add)
}
