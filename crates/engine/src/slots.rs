use std::collections::{BTreeMap, BTreeSet};

/// The slots of a process, each for one step at a time. An AWS account and region may take another only while it holds
/// fewer than are free. So one whose calls hang holds at most half of the slots, the next one at most half of the others,
/// and so on.
///
/// The first may not take more than half while it is alone either. Slots are not what bounds it: half of the default are
/// more calls at once than AWS takes from one account. But if its calls hung, those that come later would have to share
/// what little was left until they time out.
#[derive(Debug)]
pub(crate) struct Slots {
    size: usize,
    taken: usize,
    /// The number of slots that each scope holds, by its key.
    held: BTreeMap<String, usize>,
}

/// What may be claimed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Room {
    /// How many operations, whichever scopes they are of.
    pub(crate) limit: usize,
    /// The scopes that may take no more.
    pub(crate) crowded: BTreeSet<String>,
}

impl Slots {
    pub(crate) fn new(size: usize) -> Self {
        Self {
            size,
            taken: 0,
            held: BTreeMap::new(),
        }
    }

    pub(crate) fn room(&self) -> Room {
        let free = self.size.saturating_sub(self.taken);
        // With `held` and `free` slots before it, the nth claim of a scope needs held + n <= free - n + 1.
        let more = |held: usize| (free + 1).saturating_sub(held) / 2;
        let crowded = |held: usize| more(held) == 0;
        let scopes = || self.held.iter();
        let most = scopes()
            .map(|(_, held)| *held)
            .filter(|held| !crowded(*held));
        Room {
            limit: more(most.max().unwrap_or_default()).min(free),
            crowded: scopes()
                .filter(|(_, held)| crowded(**held))
                .map(|(scope, _)| scope.clone())
                .collect(),
        }
    }

    pub(crate) fn take(&mut self, scope: String) {
        self.taken += 1;
        *self.held.entry(scope).or_default() += 1;
    }

    pub(crate) fn free(&mut self, scope: &str) {
        self.taken = self.taken.saturating_sub(1);
        if let Some(held) = self.held.get_mut(scope) {
            *held -= 1;
            if *held == 0 {
                self.held.remove(scope);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Claims for a scope until it is crowded or nothing is free, and returns how many it holds.
    fn fill(slots: &mut Slots, scope: &str) -> usize {
        loop {
            let Room { limit, crowded } = slots.room();
            if limit == 0 || crowded.contains(scope) {
                return slots.held.get(scope).copied().unwrap_or_default();
            }
            (0..limit).for_each(|_| slots.take(scope.to_owned()));
            assert!(slots.taken <= slots.size);
        }
    }

    #[test]
    fn each_scope_leaves_as_many_free_as_it_holds() {
        let mut slots = Slots::new(512);
        assert_eq!(fill(&mut slots, "a"), 256);
        assert_eq!(slots.room().crowded, BTreeSet::from(["a".to_owned()]));
        assert_eq!(fill(&mut slots, "b"), 128);
        assert_eq!(fill(&mut slots, "c"), 64);
        for scope in ["d", "e", "f", "g", "h", "i"] {
            assert!(fill(&mut slots, scope) > 0, "{scope}");
        }
        // What one gives back is free for those that hold less.
        (0..200).for_each(|_| slots.free("a"));
        assert!(!slots.room().crowded.contains("i"));
        assert!(fill(&mut slots, "i") > 1);
    }

    #[test]
    fn a_single_slot_is_taken() {
        let mut slots = Slots::new(1);
        assert_eq!(slots.room().limit, 1);
        assert_eq!(fill(&mut slots, "a"), 1);
        assert_eq!(slots.room().limit, 0);
        slots.free("a");
        assert_eq!(slots.room(), Slots::new(1).room());
    }
}
