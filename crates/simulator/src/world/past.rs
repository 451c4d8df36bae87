//! What resources were before their latest changes, for reads that lag.

use std::collections::VecDeque;
use std::ops::RangeInclusive;
use std::time::Duration;

use ucp_model::{Entropy, Timestamp};

use super::resource::{Resource, ResourceKey};

/// The maximum number of changes of which the state before them is kept.
const CAPACITY: usize = 10_000;

/// The states before the latest changes, oldest first, as long as a read may show them.
#[derive(Default)]
pub(super) struct Past {
    /// How long a change may be hidden from reads. Nothing is kept while no read can lag.
    longest: Option<Duration>,
    befores: VecDeque<Before>,
}

/// A resource before a change.
struct Before {
    key: ResourceKey,
    resource: Option<Resource>,
    changed_at: Timestamp,
    /// The fraction of a range of lags that hides this change.
    fraction: f64,
}

impl Before {
    fn is_shown(&self, lag: &RangeInclusive<Duration>, now: Timestamp) -> bool {
        let span = lag.end().saturating_sub(*lag.start());
        now.since(self.changed_at) < *lag.start() + span.mul_f64(self.fraction)
    }
}

impl Past {
    /// Keeps what a read may show for `longest` after a change, and drops the rest.
    pub(super) fn keep(&mut self, longest: Option<Duration>, now: Timestamp) {
        self.longest = longest;
        let is_over =
            |before: &Before| longest.is_none_or(|longest| now.since(before.changed_at) >= longest);
        while self.befores.front().is_some_and(is_over) {
            self.befores.pop_front();
        }
    }

    /// Records what a resource was before a change.
    pub(super) fn record(
        &mut self,
        key: ResourceKey,
        resource: Option<Resource>,
        changed_at: Timestamp,
        entropy: &dyn Entropy,
    ) {
        if self.longest.is_none() {
            return;
        }
        if self.befores.len() == CAPACITY {
            self.befores.pop_front();
        }
        self.befores.push_back(Before {
            key,
            resource,
            changed_at,
            fraction: entropy.fraction("simulator.lag"),
        });
    }

    /// Returns what a lagging read shows of a resource: what it was before the earliest change that is still hidden.
    /// `None` if no change is hidden, and `Some(None)` if the resource did not exist.
    pub(super) fn shown(
        &self,
        key: &ResourceKey,
        lag: &RangeInclusive<Duration>,
        now: Timestamp,
    ) -> Option<Option<&Resource>> {
        let mut befores = self.befores.iter().filter(|before| before.key == *key);
        let earliest = befores.find(|before| before.is_shown(lag, now))?;
        Some(earliest.resource.as_ref())
    }

    /// Whether a read that lags shows something older in a resource of this type, or in the one with this key.
    pub(super) fn hides(
        &self,
        (type_name, key): (&str, Option<&str>),
        lag: &RangeInclusive<Duration>,
        now: Timestamp,
    ) -> bool {
        let mut befores = self.befores.iter();
        befores.any(|before| {
            before.key.0 == type_name
                && key.is_none_or(|key| key == before.key.1)
                && before.is_shown(lag, now)
        })
    }

    /// Returns the keys of the changed resources, some more than once.
    pub(super) fn keys(&self) -> impl Iterator<Item = &ResourceKey> {
        self.befores.iter().map(|before| &before.key)
    }
}
