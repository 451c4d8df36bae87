//! What is found at once, without looking at everything again: resources of which all that they refer to is known.
//!
//! The class of such a resource is told by its digest and by what it refers to. So when something is found, only who refers
//! to that is looked at again, and a chain of any length is found in the time that its references take.

use std::collections::{BTreeSet, HashMap};

use crate::content::Sha;

/// The open resources of which all that they refer to is known, in classes.
#[derive(Debug, Default)]
pub(crate) struct Settled {
    /// Who refers to each resource, once for each reference.
    users: Vec<Vec<usize>>,
    /// How many references of each resource lead to what is not known yet.
    unknown: Vec<usize>,
    /// The class of each resource, if it has one.
    class_of: Vec<Option<Sha>>,
    classes: HashMap<Sha, [Side; 2]>,
    /// The classes that have changed.
    changed: BTreeSet<Sha>,
}

/// The members of a class on one side. Their sum is the only member, if there is one.
#[derive(Clone, Copy, Debug, Default)]
struct Side {
    count: usize,
    sum: usize,
}

impl Settled {
    /// Returns the same of so many resources. None of them has a class.
    pub(crate) fn of(count: usize) -> Self {
        Self {
            users: vec![Vec::new(); count],
            unknown: vec![0; count],
            class_of: vec![None; count],
            ..Self::default()
        }
    }

    /// Notes that `user` refers to `target`.
    pub(crate) fn refers(&mut self, user: usize, target: usize) {
        self.users[target].push(user);
    }

    /// Notes how many references of a resource lead to what is not known yet.
    pub(crate) fn has_unknown(&mut self, resource: usize, count: usize) {
        self.unknown[resource] = count;
    }

    /// Notes that a resource is known. Returns who refers to it, each with whether all that it refers to is known, as far as
    /// that was counted.
    pub(crate) fn is_known(&mut self, resource: usize) -> Vec<(usize, bool)> {
        let users = std::mem::take(&mut self.users[resource]);
        for user in &users {
            self.unknown[*user] = self.unknown[*user].saturating_sub(1);
        }
        let is_all_known = |user: usize| (user, self.unknown[user] == 0);
        users.into_iter().map(is_all_known).collect()
    }

    /// Puts a resource into a class, or into none.
    pub(crate) fn classify(&mut self, resource: usize, is_declared: bool, class: Option<Sha>) {
        let before = std::mem::replace(&mut self.class_of[resource], class);
        if before == class {
            return;
        }
        if let Some(before) = before {
            let side = &mut self.classes.entry(before).or_default()[usize::from(is_declared)];
            side.count -= 1;
            side.sum -= resource;
            self.changed.insert(before);
        }
        if let Some(class) = class {
            let side = &mut self.classes.entry(class).or_default()[usize::from(is_declared)];
            side.count += 1;
            side.sum += resource;
            self.changed.insert(class);
        }
    }

    /// Returns the pairs of those classes that have changed and have one member on each side, in the order of the deployed ones.
    pub(crate) fn take_pairs(&mut self) -> Vec<(usize, usize)> {
        let changed = std::mem::take(&mut self.changed);
        let sides = changed.iter().filter_map(|class| self.classes.get(class));
        let one = |side: &Side| (side.count == 1).then_some(side.sum);
        let pairs = sides.filter_map(|[deployed, declared]| Some((one(deployed)?, one(declared)?)));
        let mut pairs: Vec<(usize, usize)> = pairs.collect();
        pairs.sort_unstable();
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_of_one_and_one_is_a_pair_whenever_it_becomes_so() {
        let (class, other) = ([1; 32], [2; 32]);
        let mut settled = Settled::of(5);
        for (resource, is_declared) in [(0, false), (1, false), (2, true)] {
            settled.classify(resource, is_declared, Some(class));
        }
        assert_eq!(settled.take_pairs(), []);
        settled.classify(0, false, Some(other));
        assert_eq!(settled.take_pairs(), [(1, 2)]);
        assert_eq!(settled.take_pairs(), []);
        settled.classify(3, true, Some(other));
        assert_eq!(settled.take_pairs(), [(0, 3)]);
        settled.classify(0, false, None);
        assert_eq!(settled.take_pairs(), []);
    }

    #[test]
    fn who_refers_to_something_known_is_told_once() {
        let mut settled = Settled::of(3);
        settled.refers(2, 0);
        settled.refers(2, 1);
        settled.has_unknown(2, 2);
        assert_eq!(settled.is_known(0), [(2, false)]);
        assert_eq!(settled.is_known(0), []);
        assert_eq!(settled.is_known(1), [(2, true)]);
    }
}
