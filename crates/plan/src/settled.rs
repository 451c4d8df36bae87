//! Comparison of a live or a planned model with what it was when a plan was made.

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

/// Returns whether a model is as it was planned, as far as that was known. Both are [settled].
pub fn is_as_planned(planned: &Value, model: &Value) -> bool {
    match (planned, model) {
        (planned, _) if is_unknown(planned) => true,
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
            // A value that is known now may have moved its element.
            let mut left: Vec<&Value> = others.iter().collect();
            let (open, known): (Vec<_>, Vec<_>) =
                elements.iter().partition(|element| holds_unknown(element));
            known.into_iter().chain(open).all(|element| {
                let found = left.iter().position(|other| is_as_planned(element, other));
                found.map(|index| left.swap_remove(index)).is_some()
            })
        }
        _ => json::equal(planned, model),
    }
}
