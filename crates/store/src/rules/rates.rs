//! Whose turn it is to call AWS.

use std::collections::BTreeMap;
use std::ops::Bound;

use ucp_model::Served;

/// Takes turns among those who wait, given by the key of their resource group: up to `limit`. In a round, each group has as many turns in
/// a row as its weight, which is one unless `weights` says otherwise. `served` says where the round stands.
pub fn in_turn<T: Clone>(
    waiting: &BTreeMap<String, Vec<T>>,
    served: &mut Served,
    weights: &BTreeMap<String, u32>,
    limit: u32,
) -> Vec<T> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut left: BTreeMap<&str, std::slice::Iter<'_, T>> = BTreeMap::new();
    for (group, members) in waiting.iter().filter(|(_, members)| !members.is_empty()) {
        left.insert(group, members.iter());
    }
    let mut turns = Vec::new();
    while turns.len() < limit
        && let Some(group) = next_group(&left, served, weights)
    {
        let members = left.get_mut(group);
        turns.extend(members.and_then(Iterator::next).cloned());
        if served.group == group {
            served.count = served.count.saturating_add(1)
        } else {
            *served = Served {
                group: group.to_owned(),
                count: 1,
            }
        }
        if left.get(group).is_none_or(|members| members.len() == 0) {
            left.remove(group);
        }
    }
    turns
}

/// Returns the group whose turn it is: the one that was served last while it has turns in this round, or the one behind it.
fn next_group<'a, T>(
    left: &BTreeMap<&'a str, T>,
    served: &mut Served,
    weights: &BTreeMap<String, u32>,
) -> Option<&'a str> {
    let last = served.group.as_str();
    let goes_on = served.count < weight_of(last, weights);
    if goes_on && let Some((group, _)) = left.get_key_value(last) {
        return Some(group);
    }
    let behind = (Bound::Excluded(last), Bound::Unbounded);
    let next = left.range::<str, _>(behind).next();
    let (group, _) = next.or_else(|| left.first_key_value())?;
    if *group == last {
        // It is alone: another round begins.
        served.count = 0;
    }
    Some(group)
}

/// Returns how many turns a group has in a row.
pub fn weight_of(group: &str, weights: &BTreeMap<String, u32>) -> u32 {
    weights.get(group).copied().unwrap_or(1).max(1)
}

/// Lets another operation of a group wait, where so many of each group wait, and returns how many have their turn until it has.
/// Weights are left aside.
pub fn turns_until(waiting: &mut BTreeMap<String, u64>, group: &str) -> u64 {
    let own = waiting.entry(group.to_owned()).or_default();
    *own = own.saturating_add(1);
    let own = *own;
    // Of the others, as many go before it as there are of its own.
    let turns = waiting.values().map(|count| (*count).min(own));
    turns.fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(groups: &[(&str, usize)]) -> BTreeMap<String, Vec<String>> {
        let members = |(group, count): &(&str, usize)| {
            let names = (1..=*count).map(|number| format!("{group}{number}"));
            ((*group).to_owned(), names.collect())
        };
        groups.iter().map(members).collect()
    }

    #[test]
    fn a_group_waits_for_as_many_of_each_other() {
        let mut waiting = BTreeMap::from([("a".to_owned(), 10_000), ("b".to_owned(), 2)]);
        let mut turns = |group| turns_until(&mut waiting, group);
        assert_eq!(turns("c"), 3);
        assert_eq!(turns("c"), 6);
        assert_eq!(turns("c"), 8);
        assert_eq!(turns("a"), 10_006);
    }

    #[test]
    fn groups_take_turns() {
        let mut served = Served::default();
        let mut taken = |groups: &[(&str, usize)], limit| {
            in_turn(&waiting(groups), &mut served, &BTreeMap::new(), limit).join(" ")
        };
        assert_eq!(
            taken(&[("a", 9), ("b", 2), ("c", 1)], 7),
            "a1 b1 c1 a2 b2 a3 a4"
        );
        // One at a time is as fair as many.
        assert_eq!(taken(&[("a", 9), ("b", 2)], 1), "b1");
        assert_eq!(taken(&[("a", 9), ("b", 2)], 1), "a1");
        assert_eq!(taken(&[("a", 9), ("b", 2)], 1), "b1");
        // The last one has gone.
        assert_eq!(taken(&[("a", 9), ("d", 2)], 3), "d1 a1 d2");
        assert_eq!(taken(&[("d", 2)], 3), "d1 d2");
        assert_eq!(taken(&[], 3), "");
    }

    #[test]
    fn a_weight_is_turns_in_a_row() {
        let mut served = Served::default();
        let weights = BTreeMap::from([("b".to_owned(), 3)]);
        let groups = waiting(&[("a", 4), ("b", 9)]);
        assert_eq!(
            in_turn(&groups, &mut served, &weights, 8).join(" "),
            "a1 b1 b2 b3 a2 b4 b5 b6"
        );
        served = Served::default();
        let (mut of_a, mut of_b) = (0, 0);
        for _ in 0..40 {
            match in_turn(&groups, &mut served, &weights, 1)[0].as_str() {
                "a1" => of_a += 1,
                _ => of_b += 1,
            }
        }
        assert_eq!((of_a, of_b), (10, 30));
    }
}
