//! Which live element of a list is which declared one.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;
use ucp_schema::Cursor;

/// The longest list whose elements are matched in every possible way; in longer ones each takes the first that fits.
const MAX_EXHAUSTIVE: usize = 64;

/// The most pairs of elements of one list that are compared.
const MAX_COMPARED: usize = 1_000_000;

/// Whether the order of a list means nothing: its schema or its name says so, or it lists things of a network, which AWS
/// returns in any order.
pub(crate) fn is_set(elements: &[&Value], cursor: Cursor<'_>) -> bool {
    let is_network_id = |element: &&Value| element.as_str().is_some_and(is_network_id);
    cursor.is_unordered() || !elements.is_empty() && elements.iter().all(is_network_id)
}

/// Whether it is the id of a thing of a network, such as `subnet-0123456789abcdef0`.
fn is_network_id(text: &str) -> bool {
    const PREFIXES: [&str; 6] = ["acl", "eni", "rtb", "sg", "subnet", "vpce"];
    text.rsplit_once('-').is_some_and(|(prefix, id)| {
        PREFIXES.contains(&prefix)
            && (id.len() == 8 || id.len() == 17)
            && id.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

/// Whether each of `declared` has one of `live` to itself. Both are equally long.
pub(crate) fn all_match(
    declared: &[&Value],
    live: &[&Value],
    holds: impl Fn(&Value, &Value) -> bool,
) -> bool {
    matching(declared, live, holds).iter().all(Option::is_some)
}

/// For each of `declared` the index of the live element that says what it asks for, no live element twice, and as many
/// as can be.
pub(crate) fn matching(
    declared: &[&Value],
    live: &[&Value],
    holds: impl Fn(&Value, &Value) -> bool,
) -> Vec<Option<usize>> {
    // Elements may hold lists that are matched in turn: to compare two of them again would take twice the time at each
    // level.
    let known = RefCell::new(HashMap::new());
    let holds_once = |one: usize, other: usize| {
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
        // Beyond this, what is neither in its place nor equal to the letter counts as new.
        let is_worth_it = left.len().saturating_mul(free.len()) <= MAX_COMPARED;
        for index in left.into_iter().filter(|_| is_worth_it) {
            let fits = |other: &&usize| !is_taken[**other] && holds(declared[index], live[**other]);
            if let Some(other) = free.iter().find(fits).copied() {
                pairs[index] = Some(other);
                is_taken[other] = true;
            }
        }
        return pairs;
    }
    // An element that was taken above may be the only one for somebody else, so all of them are up for change.
    let everything: Vec<usize> = match left.is_empty() || declared.len() > MAX_EXHAUSTIVE {
        true => free,
        false => (0..live.len()).collect(),
    };
    let mut owners: Vec<Option<usize>> = vec![None; live.len()];
    for (index, other) in pairs.iter().enumerate() {
        if let Some(other) = other {
            owners[*other] = Some(index);
        }
    }
    for index in left {
        let mut is_seen = vec![false; live.len()];
        find_place(index, &everything, &holds_once, &mut owners, &mut is_seen);
    }
    let mut pairs = vec![None; declared.len()];
    for (other, owner) in owners.into_iter().enumerate() {
        if let Some(owner) = owner {
            pairs[owner] = Some(other);
        }
    }
    pairs
}

/// Most lists come back as they were sent.
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

/// Elements that are equal to the letter, found without comparing each with each.
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

/// The augmenting path of bipartite matching: gives `index` a place, moving others to other places where that helps.
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

/// The same for the same value, in whatever order its members are.
fn hash(value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    match value {
        Value::Object(members) => {
            let member = |(name, member): (&String, &Value)| {
                let mut hasher = DefaultHasher::new();
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

/// The same for lists whose order counts: what agrees at both ends stays where it is, and what is between is paired as in
/// an unordered list, so that what moved is seen to have moved.
pub(crate) fn in_order(
    declared: &[&Value],
    live: &[&Value],
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
        holds,
    );
    for (index, pair) in between.into_iter().enumerate() {
        pairs[head + index] = pair.map(|other| head + other);
    }
    pairs
}

/// How much of a declared element a live one has to say to be taken for it.
const ALIKE: f64 = 0.5;

/// How alike two elements are that are not the same.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Likeness {
    /// The share of the declared values that are live, from 0 to 1.
    pub(crate) share: f64,
    /// Whether they could be the same element at all: of the same form, and of the same `Type`.
    pub(crate) is_possible: bool,
    /// Whether every declared member has a live one.
    pub(crate) is_covered: bool,
}

impl Likeness {
    /// Of values that are no objects, or not both.
    pub(crate) const NONE: Self = Self {
        share: 0.0,
        is_possible: false,
        is_covered: false,
    };
}

/// Pairs what is left of two lists by likeness: a changed element is still the one that it was.
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
    if let ([index], [other]) = (left.as_slice(), free.as_slice())
        && declared.len() == live.len()
    {
        let likeness = likeness(declared[*index], live[*other]);
        if likeness.is_possible && (likeness.is_covered || likeness.share >= ALIKE) {
            pairs[*index] = Some(*other);
        }
        return;
    }
    if left.len() > MAX_EXHAUSTIVE || free.len() > MAX_EXHAUSTIVE {
        // Too many to compare each with each: what stands in the same place, then.
        for index in left {
            if is_free.get(index) == Some(&true) {
                let likeness = likeness(declared[index], live[index]);
                if likeness.is_possible && likeness.share >= ALIKE {
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
            if likeness.is_possible && likeness.share >= ALIKE {
                candidates.push((likeness.share, index, other));
            }
        }
    }
    // The most alike first, and of those the nearest.
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
