//! Matching of declared and live list elements.

use std::cell::RefCell;
use std::hash::{BuildHasher, Hash, Hasher};

use foldhash::quality::FixedState;
use foldhash::{HashMap, HashMapExt};
use serde_json::Value;
use ucp_schema::Cursor;

use crate::budget::Budget;

/// The maximum length of a list for maximum matching. In a longer list, each element takes the first that fits.
const MAX_EXHAUSTIVE: usize = 64;

/// The maximum number of pairs of elements compared in one list.
const MAX_COMPARED: usize = 1_000_000;

/// Returns whether the order of a list is irrelevant: by its schema or its name, or because it lists ids of network
/// resources, which AWS returns in any order.
pub(crate) fn is_set(elements: &[&Value], cursor: Cursor<'_>) -> bool {
    let is_network_id = |element: &&Value| element.as_str().is_some_and(is_network_id);
    cursor.is_unordered() || !elements.is_empty() && elements.iter().all(is_network_id)
}

/// Returns whether it is the id of a network resource, such as `subnet-0123456789abcdef0`.
fn is_network_id(text: &str) -> bool {
    const PREFIXES: [&str; 6] = ["acl", "eni", "rtb", "sg", "subnet", "vpce"];
    text.rsplit_once('-').is_some_and(|(prefix, id)| {
        PREFIXES.contains(&prefix)
            && (id.len() == 8 || id.len() == 17)
            && id.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

/// Returns whether the elements of `declared` and `live`, equally many, match one to one.
pub(crate) fn all_match(
    declared: &[&Value],
    live: &[&Value],
    budget: &Budget,
    holds: impl Fn(&Value, &Value) -> bool,
) -> bool {
    pairs(declared, live, budget, holds, Wanted::All)
        .iter()
        .all(Option::is_some)
}

/// Returns the index of the matching live element for each declared one: no live element twice, and as many matches as
/// possible.
pub(crate) fn matching(
    declared: &[&Value],
    live: &[&Value],
    budget: &Budget,
    holds: impl Fn(&Value, &Value) -> bool,
) -> Vec<Option<usize>> {
    pairs(declared, live, budget, holds, Wanted::Most)
}

/// What is asked of a matching.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// Whether all elements match. With the first one that cannot, this is known.
    All,
    /// As many matches as possible.
    Most,
}

fn pairs(
    declared: &[&Value],
    live: &[&Value],
    budget: &Budget,
    holds: impl Fn(&Value, &Value) -> bool,
    wanted: Wanted,
) -> Vec<Option<usize>> {
    // Elements may contain lists that are matched in turn. Comparing a pair again would double the time at each level.
    let known = RefCell::new(HashMap::new());
    let holds_once = |one: usize, other: usize| {
        if !budget.take_known() {
            return declared[one] == live[other];
        }
        *known
            .borrow_mut()
            .entry((one, other))
            .or_insert_with(|| holds(declared[one], live[other]))
    };
    let mut pairs: Vec<Option<usize>> = vec![None; declared.len()];
    let mut is_taken = vec![false; live.len()];
    take_in_place(&holds_once, &mut pairs, &mut is_taken);
    if pairs.iter().all(Option::is_some) {
        return pairs;
    }
    take_equal(declared, live, &mut pairs, &mut is_taken);
    let left: Vec<usize> = (0..declared.len())
        .filter(|index| pairs[*index].is_none())
        .collect();
    let free: Vec<usize> = (0..live.len()).filter(|index| !is_taken[*index]).collect();
    if left.len() > MAX_EXHAUSTIVE {
        // Above the limit, an element that is neither in its place nor exactly equal counts as new.
        let is_worth_it = left.len().saturating_mul(free.len()) <= MAX_COMPARED;
        for index in left.into_iter().filter(|_| is_worth_it) {
            // Those that are exactly equal are matched already.
            if budget.is_spent() {
                break;
            }
            let fits = |other: &&usize| !is_taken[**other] && holds(declared[index], live[**other]);
            if let Some(other) = free.iter().find(fits).copied() {
                pairs[index] = Some(other);
                is_taken[other] = true;
            } else if wanted == Wanted::All {
                break;
            }
        }
        return pairs;
    }
    // A live element taken above may be the only match of another one, so all matches may change.
    let everything: Vec<usize> = if left.is_empty() || declared.len() > MAX_EXHAUSTIVE {
        free
    } else {
        (0..live.len()).collect()
    };
    let mut owners: Vec<Option<usize>> = vec![None; live.len()];
    for (index, other) in pairs.iter().enumerate() {
        if let Some(other) = other {
            owners[*other] = Some(index);
        }
    }
    for index in left {
        if budget.is_spent() {
            break;
        }
        let mut is_seen = vec![false; live.len()];
        let is_found = find_place(index, &everything, &holds_once, &mut owners, &mut is_seen);
        // Without an augmenting path from it now, no matching of all has it (Berge's theorem).
        if !is_found && wanted == Wanted::All {
            break;
        }
    }
    let mut pairs = vec![None; declared.len()];
    for (other, owner) in owners.into_iter().enumerate() {
        if let Some(owner) = owner {
            pairs[owner] = Some(other);
        }
    }
    pairs
}

/// Matches elements at the same index. Most lists are returned as they were sent.
fn take_in_place(
    holds: &impl Fn(usize, usize) -> bool,
    pairs: &mut [Option<usize>],
    is_taken: &mut [bool],
) {
    for (index, (pair, is_taken)) in pairs.iter_mut().zip(is_taken).enumerate() {
        if holds(index, index) {
            *pair = Some(index);
            *is_taken = true;
        }
    }
}

/// Matches exactly equal elements, by hash instead of comparing all pairs.
fn take_equal(
    declared: &[&Value],
    live: &[&Value],
    pairs: &mut [Option<usize>],
    is_taken: &mut [bool],
) {
    let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
    for (index, element) in live.iter().enumerate().rev() {
        if !is_taken[index] {
            places.entry(hash(element)).or_default().push(index);
        }
    }
    for (index, element) in declared.iter().enumerate() {
        if pairs[index].is_some() {
            continue;
        }
        let Some(candidates) = places.get_mut(&hash(element)) else {
            continue;
        };
        if candidates
            .last()
            .is_some_and(|other| live[*other] == *element)
        {
            pairs[index] = candidates.pop();
            pairs[index]
                .iter()
                .for_each(|other| is_taken[*other] = true);
        }
    }
}

/// Finds an augmenting path (bipartite matching): gives `index` a place, moving other elements if necessary.
fn find_place(
    index: usize,
    places: &[usize],
    fits: &impl Fn(usize, usize) -> bool,
    owners: &mut [Option<usize>],
    is_seen: &mut [bool],
) -> bool {
    for &place in places {
        if is_seen[place] || !fits(index, place) {
            continue;
        }
        is_seen[place] = true;
        let is_free = match owners[place] {
            None => true,
            Some(owner) => find_place(owner, places, fits, owners, is_seen),
        };
        if is_free {
            owners[place] = Some(index);
            return true;
        }
    }
    false
}

/// Hashes a value regardless of the order of members. Nothing is taken for equal by its hash alone.
fn hash(value: &Value) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    match value {
        Value::Object(members) => {
            let member = |(name, member): (&String, &Value)| {
                let mut hasher = FixedState::default().build_hasher();
                name.hash(&mut hasher);
                hash(member).hash(&mut hasher);
                hasher.finish()
            };
            let sum = members.iter().map(member).fold(0_u64, u64::wrapping_add);
            (1_u8, sum).hash(&mut hasher);
        }
        Value::Array(elements) => {
            2_u8.hash(&mut hasher);
            elements
                .iter()
                .for_each(|element| hash(element).hash(&mut hasher));
        }
        scalar => scalar.hash(&mut hasher),
    }
    hasher.finish()
}

/// Like [`matching`], for ordered lists. Common elements at both ends stay in place; those between are matched as in an
/// unordered list, so that moves are detected.
pub(crate) fn in_order(
    declared: &[&Value],
    live: &[&Value],
    budget: &Budget,
    holds: impl Fn(&Value, &Value) -> bool,
) -> Vec<Option<usize>> {
    let mut pairs = vec![None; declared.len()];
    let shorter = declared.len().min(live.len());
    let head = (0..shorter)
        .take_while(|index| holds(declared[*index], live[*index]))
        .count();
    let tail = (0..shorter - head)
        .take_while(|back| {
            holds(
                declared[declared.len() - 1 - back],
                live[live.len() - 1 - back],
            )
        })
        .count();
    for (index, pair) in pairs.iter_mut().enumerate().take(head) {
        *pair = Some(index);
    }
    for back in 0..tail {
        pairs[declared.len() - 1 - back] = Some(live.len() - 1 - back);
    }
    let between = matching(
        &declared[head..declared.len() - tail],
        &live[head..live.len() - tail],
        budget,
        holds,
    );
    for (index, pair) in between.into_iter().enumerate() {
        pairs[head + index] = pair.map(|other| head + other);
    }
    pairs
}

/// The minimum share of declared values that a live element must have to match.
const ALIKE: f64 = 0.5;

/// The similarity of two elements that are not the same.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Likeness {
    /// The share of declared values that the live element has, from 0 to 1.
    pub(crate) share: f64,
    /// Whether they can be the same element: both are objects, and neither `Type` nor a read-only member differs.
    pub(crate) is_possible: bool,
    /// Whether both have one name, such as `RuleName`, and no other.
    pub(crate) has_same_name: bool,
}

impl Likeness {
    /// Whether they are taken for the same element.
    fn is_enough(self) -> bool {
        self.is_possible && (self.share >= ALIKE || self.has_same_name)
    }
}

impl Likeness {
    /// The likeness of values that are not both objects.
    pub(crate) const NONE: Self = Self {
        share: 0.0,
        is_possible: false,
        has_same_name: false,
    };
}

/// Matches the remaining elements of two lists by likeness, so that a changed element keeps its identity.
pub(crate) fn pair_alike(
    declared: &[&Value],
    live: &[&Value],
    pairs: &mut [Option<usize>],
    likeness: impl Fn(&Value, &Value) -> Likeness,
) {
    let mut is_free = vec![true; live.len()];
    pairs
        .iter()
        .flatten()
        .for_each(|other| is_free[*other] = false);
    let left: Vec<usize> = (0..declared.len())
        .filter(|index| pairs[*index].is_none())
        .collect();
    let free: Vec<usize> = (0..live.len()).filter(|index| is_free[*index]).collect();
    if left.len() > MAX_EXHAUSTIVE || free.len() > MAX_EXHAUSTIVE {
        // Too many to compare all pairs: compare elements at the same index only.
        for index in left {
            if is_free.get(index) == Some(&true) {
                let likeness = likeness(declared[index], live[index]);
                if likeness.is_enough() {
                    pairs[index] = Some(index);
                }
            }
        }
        return;
    }
    let mut candidates: Vec<(f64, usize, usize)> = Vec::new();
    for &index in &left {
        for &other in &free {
            let likeness = likeness(declared[index], live[other]);
            if likeness.is_enough() {
                candidates.push((likeness.share, index, other));
            }
        }
    }
    // The most similar pairs first; among those, the nearest.
    candidates.sort_by(|a, b| {
        let distance = |(_, index, other): &(f64, usize, usize)| index.abs_diff(*other);
        b.0.total_cmp(&a.0).then(distance(a).cmp(&distance(b)))
    });
    for (_, index, other) in candidates {
        if pairs[index].is_none() && is_free[other] {
            pairs[index] = Some(other);
            is_free[other] = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the most elements from `index` on that can be matched with places that are not taken, found by trying all.
    fn most(fits: &[Vec<bool>], index: usize, is_taken: &mut Vec<bool>) -> usize {
        let Some(places) = fits.get(index) else {
            return 0;
        };
        let mut most_found = most(fits, index + 1, is_taken);
        for place in 0..places.len() {
            if places[place] && !is_taken[place] {
                is_taken[place] = true;
                most_found = most_found.max(1 + most(fits, index + 1, is_taken));
                is_taken[place] = false;
            }
        }
        most_found
    }

    proptest! {
        #[test]
        fn as_many_match_as_can(
            fits in (0..6_usize).prop_flat_map(|count| {
                prop::collection::vec(prop::collection::vec(any::<bool>(), count), count)
            }),
        ) {
            let count = fits.len();
            // Live values differ from all declared ones: none is equal to another.
            let declared: Vec<Value> = (0..count).map(Value::from).collect();
            let live: Vec<Value> = (count..2 * count).map(Value::from).collect();
            let (declared, live): (Vec<&Value>, Vec<&Value>) = (declared.iter().collect(), live.iter().collect());
            let index = |value: &Value| value.as_u64().map_or(0, |index| index as usize);
            let holds = |one: &Value, other: &Value| fits[index(one)][index(other) - count];
            let budget = Budget::new();
            let pairs = matching(&declared, &live, &budget, holds);
            for (one, other) in pairs.iter().enumerate() {
                prop_assert!(other.is_none_or(|other| fits[one][other]));
            }
            let places: Vec<usize> = pairs.iter().flatten().copied().collect();
            let distinct: std::collections::BTreeSet<usize> = places.iter().copied().collect();
            prop_assert_eq!(distinct.len(), places.len());
            let most = most(&fits, 0, &mut vec![false; count]);
            prop_assert_eq!(places.len(), most);
            prop_assert_eq!(all_match(&declared, &live, &budget, holds), most == count);
        }
    }
}
