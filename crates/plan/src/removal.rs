//! Removal of values that are no longer declared, as far as possible.

use serde_json::{Map, Value};
use ucp_model::json;
use ucp_schema::{Classes, Cursor};

use crate::edit::{Edit, Why};
use crate::same::is_hollow;
use crate::tags;

/// Returns the edit that removes `live`, except for read-only, create-only and required values and reserved tags.
pub(crate) fn removal(live: &Value, cursor: Cursor<'_>, is_required: bool) -> Edit {
    if cursor.is(Classes::READ_ONLY | Classes::CREATE_ONLY) || is_required {
        return Edit::Keep;
    }
    // AWS may return an empty value or omit it.
    let why = if is_hollow(live) {
        Why::Tidy
    } else {
        Why::Change
    };
    match live {
        Value::Object(members) if has_fixed(live, cursor) => {
            let edits = members.iter().filter_map(|(name, value)| {
                let below = cursor.member_or_anything(name);
                let is_reserved = cursor.is(Classes::TAGS) && tags::is_reserved_key(name);
                let edit = removal(value, below, is_reserved || cursor.shape().requires(name));
                (!edit.is_keep()).then(|| (name.clone(), edit))
            });
            Edit::members(edits.collect())
        }
        Value::Array(elements)
            if cursor.is(Classes::TAGS) && elements.iter().any(tags::is_reserved) =>
        {
            let reserved: Vec<Value> = elements
                .iter()
                .filter(|tag| tags::is_reserved(tag))
                .cloned()
                .collect();
            if reserved.len() == elements.len() {
                Edit::Keep
            } else {
                Edit::Set(Value::Array(reserved), why)
            }
        }
        _ => Edit::Remove(why),
    }
}

/// Returns the edit that removes the declared keys of a map, or the whole map if others have added none.
pub(crate) fn of_keys(
    members: &Map<String, Value>,
    last: &Value,
    live: &Value,
    cursor: Cursor<'_>,
) -> Edit {
    let is_ours = |name: &str| last.get(name).is_some();
    let is_reserved = |name: &str| cursor.is(Classes::TAGS) && tags::is_reserved_key(name);
    if members
        .keys()
        .all(|name| is_ours(name) || is_reserved(name))
    {
        return removal(live, cursor, false);
    }
    let ours = members
        .iter()
        .filter(|(name, _)| is_ours(name) && !is_reserved(name));
    let edits = ours.map(|(name, value)| {
        let below = cursor.member_or_anything(name);
        (name.clone(), removal(value, below, false))
    });
    Edit::members(edits.filter(|(_, edit)| !edit.is_keep()).collect())
}

/// Returns the edit that removes an undeclared value in `Mode::Replace`. Removing a default is
/// part of an update but no reason for one, since AWS would set it again.
pub(crate) fn strict(live: &Value, cursor: Cursor<'_>, is_required: bool) -> Edit {
    let default = cursor.shape().default.as_ref();
    match removal(live, cursor, is_required) {
        Edit::Remove(_) if default.is_some_and(|default| json::equal(default, live)) => {
            Edit::Remove(Why::Tidy)
        }
        edit => edit,
    }
}

/// Returns whether an object contains, outside of lists, a value that must stay.
pub(crate) fn has_fixed(live: &Value, cursor: Cursor<'_>) -> bool {
    let Value::Object(members) = live else {
        return false;
    };
    if cursor.is(Classes::TAGS) && members.keys().any(|name| tags::is_reserved_key(name)) {
        return true;
    }
    let fixed = Classes::READ_ONLY | Classes::CREATE_ONLY;
    cursor.holds(fixed)
        && members.iter().any(|(name, value)| {
            let below = cursor.member_or_anything(name);
            below.is(fixed) || has_fixed(value, below)
        })
}
