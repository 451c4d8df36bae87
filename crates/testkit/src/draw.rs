//! Draws from a seed.

use ucp_model::{Entropy, SeededEntropy};

/// The draws of one seed.
pub struct Draw(SeededEntropy);

impl Draw {
    /// The draws of `seed`.
    pub fn new(seed: u64) -> Self {
        Self(SeededEntropy::new(seed))
    }

    /// Returns a number from 0 to `count` - 1.
    pub fn below(&self, count: usize) -> usize {
        (self.0.fraction("world") * count as f64) as usize
    }

    /// Whether it is the one in `count`.
    pub fn one_in(&self, count: usize) -> bool {
        self.below(count) == 0
    }

    /// Returns one of several.
    pub fn pick<T: Clone>(&self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }
}
