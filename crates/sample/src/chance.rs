/// A small deterministic random number generator (SplitMix64). Not for cryptography.
pub(crate) struct Chance(u64);

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl Chance {
    /// Creates the stream number `stream` of a seed.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let mut seeded = Self(seed);
        Self(seeded.next() ^ stream.wrapping_mul(GOLDEN))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`, which must not be 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let bound = bound.max(1) as u64;
        usize::try_from(self.next() % bound).unwrap_or_default()
    }

    /// Returns one of the options; `None` if there are none.
    pub(crate) fn pick<'a, T>(&mut self, options: &'a [T]) -> Option<&'a T> {
        options.get(self.below(options.len()))
    }

    /// Returns true with a probability of 1 in `times`.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}
