//! Comparison of a live or a planned model with what it was when a plan was made.

use std::collections::BTreeSet;

use serde_json::Value;
use ucp_model::json::{self, Step};
use ucp_model::pointer::PointerBuf;
use ucp_schema::{Cursor, ResourceSchema, holds_unknown, is_unknown};

use crate::same::coerced;
use crate::{document, pairing};

/// How many elements of a list with unknown values are matched. Longer ones are compared in their order.
const MATCHED_MAX: usize = 200;

/// Returns a model in a form in which two that mean the same are equal: without what is read-only, write-only, `null`, or a
/// reserved tag, in the JSON types of the schema, and with the elements of unordered lists in an order of their own.
pub fn settled(model: &Value, schema: &ResourceSchema) -> Value {
    let model = coerced(&schema.without_write_only(model), schema.root());
    ordered(&model, schema.root())
}

fn ordered(value: &Value, cursor: Cursor<'_>) -> Value {
    match value {
        unknown if is_unknown(unknown) => unknown.clone(),
        // The text of a document with unknown values. Once it is known, its lists have the order of the text.
        Value::String(_) if let Some(open) = document::open(value) => open,
        Value::Object(_) | Value::String(_)
            if !holds_unknown(value)
                && let Some(document) = document::normal(value) =>
        {
            Value::from(json::canonical(&document))
        }
        Value::Object(_) => json::map_children(value, |step, child| {
            (!child.is_null()).then(|| ordered(child, cursor.below_or_anything(step)))
        }),
        Value::Array(elements) => {
            let below = |element| ordered(element, cursor.element());
            let mut elements: Vec<Value> = elements.iter().map(below).collect();
            if pairing::is_set(&elements.iter().collect::<Vec<_>>(), cursor) {
                elements.sort_by_cached_key(json::canonical);
            }
            Value::Array(elements)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// Returns the place of the first difference between two [settled] models, if there is one.
pub fn first_difference(one: &Value, other: &Value) -> Option<String> {
    let mut place = PointerBuf::root();
    differs(one, other, &mut place).then(|| place.as_str().to_owned())
}

/// Returns whether two values differ, and leaves the place in `place`.
fn differs(one: &Value, other: &Value, place: &mut PointerBuf) -> bool {
    match (one, other) {
        (Value::Object(members), Value::Object(others)) => {
            for (name, member) in members {
                place.push_back(Step::Member(name));
                match others.get(name) {
                    Some(other) if !differs(member, other, place) => {}
                    Some(_) | None => return true,
                }
                place.pop_back();
            }
            match others.keys().find(|name| !members.contains_key(*name)) {
                Some(more) => {
                    place.push_back(Step::Member(more));
                    true
                }
                None => false,
            }
        }
        // The order is not that of the live model, so an index would tell nothing.
        _ => !json::equal(one, other),
    }
}

/// Returns the place of the first difference between two [settled] models in what a declaration names, if there is one.
pub fn first_difference_in(declared: &Value, one: &Value, other: &Value) -> Option<String> {
    let mut place = PointerBuf::root();
    let differs = differs_in(declared, Some(one), Some(other), &mut place);
    differs.then(|| place.as_str().to_owned())
}

/// Returns whether two values differ in what is declared of them, and leaves the place in `place`.
fn differs_in(
    declared: &Value,
    one: Option<&Value>,
    other: Option<&Value>,
    place: &mut PointerBuf,
) -> bool {
    match (declared, one, other) {
        (Value::Object(declared), Some(Value::Object(members)), Some(Value::Object(others))) => {
            declared.iter().any(|(name, declared)| {
                place.push_back(Step::Member(name));
                let differs = differs_in(declared, members.get(name), others.get(name), place);
                if !differs {
                    place.pop_back();
                }
                differs
            })
        }
        _ => !is_same(one, other),
    }
}

fn is_same(one: Option<&Value>, other: Option<&Value>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => json::equal(one, other),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

/// A change of a model. Both sides of it are [settled].
#[derive(Clone, Copy, Debug)]
pub struct Transition<'a> {
    /// The live model that it starts from.
    pub before: &'a Value,
    /// The planned model.
    pub after: &'a Value,
}

/// Returns a [settled] model without what a planned change has made of it: where it is as planned, it is what it was
/// before.
pub fn taken_back(planned: Transition<'_>, model: &Value) -> Value {
    back([planned.before, planned.after, model].map(Some)).unwrap_or_default()
}

/// The values are that before the planned change, that after it, and the one that is there.
fn back(values: [Option<&Value>; 3]) -> Option<Value> {
    let [before, after, now] = values;
    let objects = values.map(|value| value.and_then(Value::as_object));
    if !after.is_some_and(is_unknown)
        && let [Some(_), Some(_), Some(_)] = objects
    {
        let names: BTreeSet<&String> = objects.iter().flatten().flat_map(|it| it.keys()).collect();
        let members = names.into_iter().filter_map(|name| {
            let below = values.map(|value| value.and_then(|value| value.get(name)));
            Some((name.clone(), back(below)?))
        });
        return Some(members.collect());
    }
    let is_made = match (after, now) {
        (Some(after), Some(now)) => is_as_planned(after, now),
        (Some(_), None) => false,
        (None, now) => now.is_none(),
    };
    if is_made {
        before.cloned()
    } else {
        now.cloned()
    }
}

/// Returns the first place where a change is another one than was planned, if there is one: it changes what was to stay, or
/// what was to be changed starts from something else, or becomes something else. What neither of them touches may differ.
pub fn first_departure(planned: Transition<'_>, found: Transition<'_>) -> Option<String> {
    let mut place = PointerBuf::root();
    let values = [planned.before, planned.after, found.before, found.after];
    departs(values.map(Some), &mut place).then(|| place.as_str().to_owned())
}

/// Returns whether a value is changed otherwise than planned, and leaves the place in `place`. The values are that before
/// the planned change and after it, and the same of the change that was found.
fn departs(values: [Option<&Value>; 4], place: &mut PointerBuf) -> bool {
    let [before, after, now, then] = values;
    let is_open = after.is_some_and(is_unknown);
    let objects = values.map(|value| value.and_then(Value::as_object));
    if !is_open && let [Some(_), Some(_), Some(_), Some(_)] = objects {
        let names: BTreeSet<&String> = objects.iter().flatten().flat_map(|it| it.keys()).collect();
        return names.into_iter().any(|name| {
            place.push_back(Step::Member(name));
            let below = values.map(|value| value.and_then(|value| value.get(name)));
            let departs = departs(below, place);
            if !departs {
                place.pop_back();
            }
            departs
        });
    }
    if is_same(before, after) {
        return !is_same(now, then);
    }
    let becomes_as_planned = match (after, then) {
        (Some(after), Some(then)) => is_as_planned(after, then),
        (Some(_), None) => is_open,
        (None, then) => then.is_none(),
    };
    !is_same(before, now) || !becomes_as_planned
}

/// Returns whether a model is as it was planned, as far as that was known. Both are [settled].
pub fn is_as_planned(planned: &Value, model: &Value) -> bool {
    match (planned, model) {
        (planned, _) if is_unknown(planned) => true,
        // A document has a canonical form only once it is known.
        (Value::Object(_) | Value::Array(_), Value::String(_)) if holds_unknown(planned) => {
            match (document::is_policy(planned), document::known(model)) {
                (true, Some(policy)) => document::is_policy_as_planned(planned, &policy),
                (false, Some(document)) => is_as_planned(planned, &document),
                (_, None) => false,
            }
        }
        (Value::Object(members), Value::Object(others)) => {
            let is_there = |(name, member): (&String, &Value)| match others.get(name) {
                Some(other) => is_as_planned(member, other),
                None => is_unknown(member),
            };
            members.iter().all(is_there) && others.keys().all(|name| members.contains_key(name))
        }
        (Value::Array(elements), Value::Array(others)) if elements.len() == others.len() => {
            if !holds_unknown(planned) || elements.len() > MATCHED_MAX {
                let mut pairs = elements.iter().zip(others);
                return pairs.all(|(one, other)| is_as_planned(one, other));
            }
            // A value that is known now may have moved its element, and one that is not may have become what another one is.
            document::are_matched(elements, others, is_as_planned)
        }
        _ => json::equal(planned, model),
    }
}
