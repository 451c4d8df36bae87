//! Removal of values that a read returns although the schema forbids them: empty lists and objects, `null` elements.
//! AWS validates the whole patched model, so an update must remove them.

use serde_json::{Map, Value};
use ucp_schema::{Classes, Cursor};

use crate::edit::{Edit, Why};
use crate::either_or;

/// Returns the edit of a live value that is not declared.
pub(crate) fn undeclared(live: &Value, cursor: Cursor<'_>, is_required: bool) -> Edit {
    if cursor.is(Classes::READ_ONLY | Classes::CREATE_ONLY) {
        return Edit::Keep;
    }
    match live {
        Value::Null if !is_required && !cursor.shape().takes_null() => Edit::Remove(Why::Tidy),
        Value::Array(elements) => list(elements, cursor, is_required),
        Value::Object(members) => object(members, cursor, is_required),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Edit::Keep,
    }
}

fn list(elements: &[Value], cursor: Cursor<'_>, is_required: bool) -> Edit {
    let element = cursor.element();
    let takes_null = element.shape().takes_null();
    let has_nulls = !takes_null && elements.iter().any(Value::is_null);
    let real = elements
        .iter()
        .filter(|element| takes_null || !element.is_null());
    let is_too_short = (real.clone().count() as u64) < cursor.list().min_items;
    let is_empty = real.clone().next().is_none();
    if is_empty && (is_too_short || has_nulls) && !is_required {
        return Edit::Remove(Why::Tidy);
    }
    let edits: Vec<Edit> = real
        .clone()
        .map(|value| undeclared(value, element, true))
        .collect();
    let edited = edits.iter().filter(|edit| !edit.is_keep()).count();
    match edited {
        0 if !has_nulls => Edit::Keep,
        1 if !has_nulls && !cursor.is_unordered() => {
            let place = edits
                .into_iter()
                .enumerate()
                .find(|(_, edit)| !edit.is_keep());
            match place {
                Some((index, edit)) if edit.operations() == 1 => {
                    Edit::Element(index, Box::new(edit))
                }
                Some((index, edit)) => {
                    let mut tidied = elements.to_vec();
                    tidied[index] = edit.apply(&elements[index]).unwrap_or_default();
                    Edit::Set(Value::Array(tidied), Why::Tidy)
                }
                None => Edit::Keep,
            }
        }
        _ => {
            let tidied = edits.into_iter().zip(real);
            let tidied = tidied.filter_map(|(edit, value)| edit.apply(value));
            Edit::Set(tidied.collect(), Why::Tidy)
        }
    }
}

fn object(members: &Map<String, Value>, cursor: Cursor<'_>, is_required: bool) -> Edit {
    let mut edits: Vec<(String, Edit)> = Vec::new();
    for (name, value) in members {
        let below = cursor.member_or_anything(name);
        let edit = undeclared(value, below, cursor.shape().requires(name));
        if !edit.is_keep() {
            edits.push((name.clone(), edit));
        }
    }
    either_or::settle(&Value::Null, members, cursor, &mut edits);
    let removed = edits
        .iter()
        .filter(|(_, edit)| matches!(edit, Edit::Remove(_)));
    let is_empty = removed.count() == members.len();
    if is_empty && !is_required && needs_members(cursor) {
        return Edit::Remove(Why::Tidy);
    }
    Edit::members(edits)
}

/// Returns whether an object must have members that a read returns.
fn needs_members(cursor: Cursor<'_>) -> bool {
    let shape = cursor.shape();
    let unseen = Classes::WRITE_ONLY | Classes::READ_ONLY;
    let is_seen = |name: &String| cursor.member(name).is_some_and(|member| !member.is(unseen));
    shape.min_properties > 0 && !cursor.holds(unseen) || shape.required.iter().any(is_seen)
}
