//! Lists: matching of their elements, and the edit of the list.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use ucp_schema::{Classes, Cursor, Violation, ViolationCode, is_unknown};

use crate::edit::{Edit, Why};
use crate::merge::{Member, Merge};
use crate::warning::WarningCode;
use crate::{Mode, pairing, tags, tidy};

/// A list as declared, live, and last declared. Positions count only visible elements.
struct Lists<'a> {
    declared: Vec<(usize, &'a Value)>,
    live: Vec<(usize, &'a Value)>,
    last: Vec<(usize, &'a Value)>,
    /// The member that identifies elements.
    key: Option<&'a str>,
}

/// The result for a declared element.
enum Fate {
    /// It matches the live element at this position, with this edit.
    Live(usize, Edit),
    /// It is added.
    New(Value),
}

impl<'a> Merge<'a> {
    /// Returns the edit of a live list.
    pub(crate) fn list(
        &mut self,
        declared: &'a [Value],
        live: &'a [Value],
        member: Member<'a>,
        cursor: Cursor<'a>,
    ) -> Edit {
        let watched = Classes::READ_ONLY | Classes::WRITE_ONLY | Classes::DEPRECATED;
        if declared == live && !cursor.holds(watched) {
            return Edit::Keep;
        }
        self.warn_of_reserved(member.declared, cursor);
        let lists = Lists::new(declared, live, member.last, cursor);
        if cursor.is(Classes::TAGS)
            && let Some(key) = doubled_tag(&lists)
        {
            let pointer = self.path.pointer();
            self.found.errors.push(Violation {
                message: format!(
                    "`{pointer}`: has two tags with the key `{key}`; keep one of them"
                ),
                code: ViolationCode::InvalidValue,
                pointer,
            });
        }
        let pairs = self.pairs(&lists, member.parent, cursor);
        let last = self.last_positions(&lists, member.parent, cursor);
        let is_kept = kept(&lists, &pairs, self.mode);
        // If one element is removed and one with other create-only values is added, AWS takes that for a change of
        // these values.
        let counts_fixed = is_kept.contains(&false);
        let mut fates = Vec::with_capacity(lists.declared.len());
        for (position, &(index, value)) in lists.declared.iter().enumerate() {
            let last_element = last[position].map(|position| lists.last[position]);
            self.path
                .push_element(index, last_element.map(|(index, _)| index));
            fates.push(match pairs[position] {
                Some(other) => {
                    let member = Member {
                        declared: value,
                        live: Some(lists.live[other].1),
                        last: last_element.map(|(_, value)| value),
                        parent: if value.is_object() {
                            value
                        } else {
                            member.parent
                        },
                    };
                    Fate::Live(other, self.member(member, cursor.element()))
                }
                None => {
                    let mark = self.found.mark();
                    let value = self.fresh(value, cursor.element());
                    if !counts_fixed {
                        self.found.forget_replacements(mark);
                    }
                    Fate::New(value)
                }
            });
            self.path.pop();
        }
        combine(live, &lists, fates, &is_kept, cursor)
    }

    pub(crate) fn warn_of_reserved(&mut self, declared: &Value, cursor: Cursor<'a>) {
        let is_reserved = match declared {
            _ if !cursor.is(Classes::TAGS) => false,
            Value::Array(tags) => tags.iter().any(tags::is_reserved),
            Value::Object(tags) => tags.keys().any(|key| tags::is_reserved_key(key)),
            _ => false,
        };
        if is_reserved {
            self.warn(WarningCode::ReservedTag);
        }
    }

    /// Returns the position of the matching live element for each declared one.
    fn pairs(&self, lists: &Lists<'a>, parent: &Value, cursor: Cursor<'a>) -> Vec<Option<usize>> {
        if let Some(key) = lists.key {
            return by_key(&lists.declared, &lists.live, key);
        }
        let declared = values(&lists.declared);
        let live = values(&lists.live);
        let element = cursor.element();
        let holds = |one: &Value, other: &Value| {
            let parent = if one.is_object() { one } else { parent };
            self.same.holds(one, other, element, parent)
        };
        let mut pairs = if pairing::is_set(&declared, cursor) {
            pairing::matching(&declared, &live, self.same.budget, holds)
        } else {
            pairing::in_order(&declared, &live, self.same.budget, holds)
        };
        let list = self.path.last_key();
        let scores = |one: &Value, other: &Value| self.same.likeness(one, other, (list, element));
        pairing::pair_alike(&declared, &live, &mut pairs, scores);
        self.pair_as_shown(lists, &mut pairs);
        pairs
    }

    /// Pairs the elements that are left with those at the same places, if AWS has shown create-only values there in a form of its
    /// own since the last put. Whether it still does is judged value by value.
    fn pair_as_shown(&self, lists: &Lists<'a>, pairs: &mut [Option<usize>]) {
        let shown = self.last.map(|last| &last.shown);
        let Some(shown) = shown.filter(|shown| !shown.is_empty()) else {
            return;
        };
        for (position, &(index, _)) in lists.declared.iter().enumerate() {
            let place = format!("{}/{index}/", self.path.pointer());
            let next = shown.range(place.clone()..).next();
            let is_shown = next.is_some_and(|(shown, _)| shown.starts_with(&place));
            let other = lists.live.iter().position(|(other, _)| *other == index);
            if is_shown && pairs[position].is_none() && !pairs.contains(&other) {
                pairs[position] = other;
            }
        }
    }

    /// Returns the position of the matching element of the last declaration for each declared one.
    fn last_positions(
        &self,
        lists: &Lists<'a>,
        parent: &Value,
        cursor: Cursor<'a>,
    ) -> Vec<Option<usize>> {
        if let Some(key) = lists.key {
            return by_key(&lists.declared, &lists.last, key);
        }
        let declared = values(&lists.declared);
        let last = values(&lists.last);
        let element = cursor.element();
        let holds = |one: &Value, other: &Value| {
            let parent = if one.is_object() { one } else { parent };
            self.same.holds(one, other, element, parent)
        };
        let mut pairs = pairing::matching(&declared, &last, self.same.budget, holds);
        if declared.len() == last.len() {
            let taken: HashSet<usize> = pairs.iter().flatten().copied().collect();
            for (position, pair) in pairs.iter_mut().enumerate() {
                if pair.is_none() && !taken.contains(&position) {
                    *pair = Some(position);
                }
            }
        }
        pairs
    }
}

impl<'a> Lists<'a> {
    fn new(
        declared: &'a [Value],
        live: &'a [Value],
        last: Option<&'a Value>,
        cursor: Cursor<'a>,
    ) -> Self {
        let last = last
            .and_then(Value::as_array)
            .map_or(&[][..], Vec::as_slice);
        let mut lists = Self {
            declared: visible(declared, cursor),
            live: visible(live, cursor),
            last: visible(last, cursor),
            key: None,
        };
        let tells_apart = |key: &&str| {
            is_stored_as_declared(key, cursor)
                && is_key_of(key, &lists.live)
                && is_key_of(key, &lists.declared)
        };
        let of_tags = tags::KEYS
            .iter()
            .copied()
            .filter(|_| cursor.is(Classes::TAGS));
        let known = cursor.list().key.as_deref();
        lists.key = known.into_iter().chain(of_tags).find(tells_apart);
        lists
    }
}

fn visible<'a>(elements: &'a [Value], cursor: Cursor<'a>) -> Vec<(usize, &'a Value)> {
    let counts = tags::counts(cursor);
    elements
        .iter()
        .enumerate()
        .filter(|(_, element)| counts(element))
        .collect()
}

fn values<'a>(elements: &[(usize, &'a Value)]) -> Vec<&'a Value> {
    elements.iter().map(|(_, element)| *element).collect()
}

/// Returns whether AWS stores this key as declared. A transformed key cannot be looked up by its text.
fn is_stored_as_declared(key: &str, cursor: Cursor<'_>) -> bool {
    let member = cursor.element().member_or_anything(key);
    member.transform().is_none()
}

/// Returns whether the key of every element is unique, as far as known.
fn is_key_of(key: &str, elements: &[(usize, &Value)]) -> bool {
    let mut seen = HashSet::with_capacity(elements.len());
    elements.iter().all(|(_, element)| {
        let is_not_known_yet = || element.get(key).is_some_and(is_unknown);
        match key_text(element, key) {
            Some(text) => seen.insert(text),
            None => is_not_known_yet(),
        }
    })
}

/// Returns the first tag key that occurs twice, if any.
fn doubled_tag<'a>(lists: &Lists<'a>) -> Option<&'a str> {
    let mut seen = HashSet::with_capacity(lists.declared.len());
    let mut keys = lists.declared.iter().filter_map(|(_, tag)| tags::key(tag));
    keys.find(|key| !seen.insert(*key))
}

fn key_text<'a>(element: &'a Value, key: &str) -> Option<&'a str> {
    match element.get(key)? {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.as_str()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn by_key(
    elements: &[(usize, &Value)],
    others: &[(usize, &Value)],
    key: &str,
) -> Vec<Option<usize>> {
    let mut places: HashMap<&str, usize> = others
        .iter()
        .enumerate()
        .filter_map(|(position, (_, other))| Some((key_text(other, key)?, position)))
        .collect();
    elements
        .iter()
        .map(|(_, element)| places.remove(key_text(element, key)?))
        .collect()
}

/// Determines which live elements stay: those declared, and when merging a keyed list those not declared last time.
fn kept(lists: &Lists<'_>, pairs: &[Option<usize>], mode: Mode) -> Vec<bool> {
    let mut is_kept = vec![false; lists.live.len()];
    for position in pairs.iter().flatten() {
        is_kept[*position] = true;
    }
    if let (Some(key), Mode::Merge) = (lists.key, mode) {
        let was_declared = by_key(&lists.live, &lists.last, key);
        for (is_kept, was_declared) in is_kept.iter_mut().zip(was_declared) {
            *is_kept |= was_declared.is_none();
        }
    }
    is_kept
}

/// Combines the results for the elements into one edit of the list.
fn combine(
    live: &[Value],
    lists: &Lists<'_>,
    fates: Vec<Fate>,
    is_kept: &[bool],
    cursor: Cursor<'_>,
) -> Edit {
    let is_ordered = !pairing::is_set(&values(&lists.declared), cursor);
    let positions: Vec<usize> = fates
        .iter()
        .filter_map(|fate| match fate {
            Fate::Live(position, _) => Some(*position),
            Fate::New(_) => None,
        })
        .collect();
    let is_moved = is_ordered && !positions.is_sorted();
    let gone: Vec<usize> = (0..is_kept.len())
        .filter(|position| !is_kept[*position])
        .collect();
    let new = fates.len() - positions.len();
    let edited: Vec<&Edit> = fates
        .iter()
        .filter_map(|fate| match fate {
            Fate::Live(_, edit) if !edit.is_keep() => Some(edit),
            Fate::Live(..) | Fate::New(_) => None,
        })
        .collect();
    let takes_null = cursor.element().shape().takes_null();
    let has_nulls = !takes_null && live.iter().any(Value::is_null);
    let mut why = edited.iter().filter_map(|edit| edit.why()).max();
    if is_moved || new > 0 || !gone.is_empty() {
        why = Some(Why::Change);
    }
    if has_nulls {
        why = why.max(Some(Why::Tidy));
    }
    let Some(why) = why else {
        return Edit::Keep;
    };
    let is_simple = is_ordered && !is_moved && !has_nulls;
    match (edited.len(), new, gone.as_slice()) {
        (1, 0, []) if is_simple && edited[0].operations() == 1 => {
            return single_edit(lists, fates);
        }
        // A list that becomes empty is written as a whole, so that it is known to be empty.
        (0, 0, [position]) if is_simple && live.len() > 1 => {
            return Edit::Element(lists.live[*position].0, Box::new(Edit::Remove(why)));
        }
        _ => {}
    }
    let is_insertion = is_simple && edited.is_empty() && new == 1 && gone.is_empty();
    let target = target(live, lists, fates, is_kept, cursor);
    if is_insertion
        && let Some(index) = target.iter().position(|(is_new, _)| *is_new)
        && let Some((_, value)) = target.get(index)
    {
        return Edit::Insert(index, value.clone(), why);
    }
    Edit::Set(target.into_iter().map(|(_, value)| value).collect(), why)
}

fn single_edit(lists: &Lists<'_>, fates: Vec<Fate>) -> Edit {
    for fate in fates {
        if let Fate::Live(position, edit) = fate
            && !edit.is_keep()
        {
            return Edit::Element(lists.live[position].0, Box::new(edit));
        }
    }
    Edit::Keep
}

/// Returns the elements of the new list, and whether each is new. An unordered list keeps its live order. Otherwise the
/// declared order applies, and an undeclared element stays after the one that it followed.
fn target(
    live: &[Value],
    lists: &Lists<'_>,
    fates: Vec<Fate>,
    is_kept: &[bool],
    cursor: Cursor<'_>,
) -> Vec<(bool, Value)> {
    let position_of: HashMap<usize, usize> = lists
        .live
        .iter()
        .enumerate()
        .map(|(position, (index, _))| (*index, position))
        .collect();
    // The live index of each element that stays, or `None` for a new one.
    let mut items: Vec<(Option<usize>, Value)> = Vec::with_capacity(fates.len());
    for fate in fates {
        match fate {
            Fate::Live(position, edit) => {
                let (index, value) = lists.live[position];
                items.extend(edit.apply(value).map(|value| (Some(index), value)));
            }
            Fate::New(value) => items.push((None, value)),
        }
    }
    let declared: HashSet<usize> = items.iter().filter_map(|(index, _)| *index).collect();
    // The undeclared elements that stay, by the declared one that they follow.
    let mut followers: HashMap<Option<usize>, Vec<_>> = HashMap::new();
    let mut leader = None;
    for (index, element) in live.iter().enumerate() {
        let stays = match position_of.get(&index) {
            Some(position) => is_kept[*position],
            None => tags::is_reserved(element),
        };
        if !stays {
            continue;
        }
        if declared.contains(&index) {
            leader = Some(index);
            continue;
        }
        let value = tidy::undeclared(element, cursor.element(), true)
            .apply(element)
            .unwrap_or_else(|| element.clone());
        let followers = followers.entry(leader).or_default();
        followers.push((Some(index), value));
    }
    let mut target = followers.remove(&None).unwrap_or_default();
    for item in items {
        let followers = followers.remove(&item.0).unwrap_or_default();
        target.push(item);
        target.extend(followers);
    }
    if cursor.keeps_live_order() {
        target.sort_by_key(|(index, _)| index.unwrap_or(usize::MAX));
    }
    target
        .into_iter()
        .map(|(index, value)| (index.is_none(), value))
        .collect()
}
