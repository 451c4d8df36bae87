//! Write-only values as evidence: of resources with equal contents, which have the same ones.
//!
//! What was last put of them is known as digests under the lineage of its resource. So two deployed resources cannot be compared
//! with each other, and a declared one is compared with each.

use std::collections::HashMap;

use crate::content::{Sha, sha};

/// How many digests are computed, about; one of a long value counts as one for each [`DIGEST_CHARS`].
const DIGESTS_MAX: usize = 1_000_000;

/// The length of a value, in characters of JSON, that counts as one digest.
pub(crate) const DIGEST_CHARS: usize = 1_000;

/// The resources that have write-only values, by their content.
#[derive(Debug)]
pub(crate) struct Secrets {
    contents: HashMap<Sha, Contents>,
    /// How many digests may still be computed.
    left: usize,
}

/// Resources of one content.
#[derive(Debug, Default)]
struct Contents {
    /// Those that are deployed and have not turned out to have declared values.
    deployed: Vec<usize>,
    /// The numbers of declared values, by a digest of them.
    declared: HashMap<Sha, usize>,
    /// The declared resources whose values were not compared.
    uncompared: Vec<usize>,
    /// The deployed resources of whose values nothing is known, and the declared ones that may be them.
    unknown: Vec<usize>,
    declared_ones: Vec<usize>,
}

/// What the values of a declared resource tell.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// The digest of its content and these values, and which deployed resources turn out to have them too.
    Digest(Sha, Vec<usize>),
    /// It would take too long to find out.
    Nothing,
}

impl Default for Secrets {
    fn default() -> Self {
        Self {
            contents: HashMap::new(),
            left: DIGESTS_MAX,
        }
    }
}

impl Secrets {
    /// Adds a deployed resource of a content. Returns a digest of its own.
    pub(crate) fn add(&mut self, content: Sha, deployed: usize) -> Sha {
        let contents = self.contents.entry(content).or_default();
        contents.deployed.push(deployed);
        sha([&content[..], b"deployed", &deployed.to_be_bytes()])
    }

    /// Adds a deployed resource of a content of whose values nothing is known.
    pub(crate) fn add_unknown(&mut self, content: Sha, deployed: usize) {
        let contents = self.contents.entry(content).or_default();
        contents.unknown.push(deployed);
    }

    /// Adds a declared resource of a content whose values will not be known.
    pub(crate) fn cannot_tell(&mut self, content: Sha, declared: usize) {
        let contents = self.contents.entry(content).or_default();
        contents.uncompared.push(declared);
    }

    /// Returns what the values of a declared resource tell, which are given as a digest. Comparing them with those of one
    /// deployed resource takes `cost` digests.
    pub(crate) fn tell(
        &mut self,
        content: Sha,
        (declared, values): (usize, Sha),
        cost: usize,
        has_same: impl Fn(usize) -> bool,
    ) -> Told {
        let contents = self.contents.entry(content).or_default();
        contents.declared_ones.push(declared);
        let next = contents.declared.len();
        let number = contents.declared.get(&values).copied();
        let digest = |number: usize| sha([&content[..], b"declared", &number.to_be_bytes()]);
        if let Some(number) = number {
            return Told::Digest(digest(number), Vec::new());
        }
        let cost = cost.saturating_mul(contents.deployed.len());
        let Some(left) = self.left.checked_sub(cost) else {
            contents.uncompared.push(declared);
            return Told::Nothing;
        };
        self.left = left;
        contents.declared.insert(values, next);
        let all = std::mem::take(&mut contents.deployed);
        let (same, others) = all.into_iter().partition(|deployed| has_same(*deployed));
        contents.deployed = others;
        Told::Digest(digest(next), same)
    }

    /// Returns what was not compared, or cannot be: deployed and declared resources of equal contents.
    pub(crate) fn uncompared(&self) -> impl Iterator<Item = [Vec<usize>; 2]> {
        let contents = self.contents.values();
        contents.map(|contents| {
            let all = |one: &[usize], other: &[usize]| [one, other].concat();
            if contents.unknown.is_empty() {
                [contents.deployed.clone(), contents.uncompared.clone()]
            } else {
                [
                    all(&contents.deployed, &contents.unknown),
                    all(&contents.uncompared, &contents.declared_ones),
                ]
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_digests_are_computed_and_no_more() {
        let content = sha([&b"c"[..]]);
        for (left, is_told) in [(6, true), (5, false)] {
            let mut secrets = Secrets {
                left,
                ..Secrets::default()
            };
            let digests = [0, 1].map(|deployed| secrets.add(content, deployed));
            assert_ne!(digests[0], digests[1]);
            let told = secrets.tell(content, (2, sha([&b"x"[..]])), 3, |deployed| deployed == 1);
            match told {
                Told::Digest(_, same) => assert_eq!((same, is_told), (vec![1], true)),
                Told::Nothing => {
                    assert!(!is_told);
                    let left: Vec<_> = secrets.uncompared().collect();
                    assert_eq!(left, [[vec![0, 1], vec![2]]]);
                }
            }
        }
    }

    #[test]
    fn equal_values_are_compared_once() {
        let content = sha([&b"c"[..]]);
        let mut secrets = Secrets::default();
        secrets.add(content, 0);
        let values = sha([&b"x"[..]]);
        let Told::Digest(first, same) = secrets.tell(content, (1, values), 1, |_| true) else {
            panic!("there is room");
        };
        assert_eq!(same, [0]);
        let again = secrets.tell(content, (2, values), 1, |_| panic!("it is known"));
        assert_eq!(again, Told::Digest(first, vec![]));
    }
}
