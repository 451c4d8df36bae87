use ucp_model::{Entropy, SeededEntropy};

/// The draws of a world.
pub(super) struct Draw(SeededEntropy);

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        Self(SeededEntropy::new(seed))
    }

    /// Returns a number from 0 to `count` - 1.
    pub(super) fn below(&self, count: usize) -> usize {
        (self.0.fraction("world") * count as f64) as usize
    }

    pub(super) fn one_in(&self, count: usize) -> bool {
        self.below(count) == 0
    }

    pub(super) fn pick<T: Clone>(&self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }
}
