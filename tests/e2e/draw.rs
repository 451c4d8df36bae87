//! Draws from a seed.

use ucp_model::{Entropy, SeededEntropy};

/// The draws of one seed.
pub(crate) struct Draw(SeededEntropy);

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Self(SeededEntropy::new(seed))
    }

    /// Returns a number from 0 to `count` - 1.
    pub(crate) fn below(&self, count: usize) -> usize {
        (self.0.fraction("world") * count as f64) as usize
    }

    pub(crate) fn one_in(&self, count: usize) -> bool {
        self.below(count) == 0
    }

    pub(crate) fn pick<T: Clone>(&self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }
}
