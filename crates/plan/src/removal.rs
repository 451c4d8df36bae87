//! Taking away what is no longer declared, as far as it can be.

use serde_json::{Map, Value};
use ucp_model::json;
use ucp_schema::{Classes, Cursor};

use crate::edit::{Edit, Why};
use crate::same::is_hollow;
use crate::tags;

/// The edit that takes `live` away, all but what is fixed, required, or AWS's own.
pub(crate) fn removal(live: &Value, cursor: Cursor<'_>, is_required: bool) -> Edit {
    if cursor.is(Classes::READ_ONLY | Classes::CREATE_ONLY) || is_required {
        return Edit::Keep;
    }
    // AWS returns what is empty or leaves it out as it likes.
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
            match reserved.len() == elements.len() {
                true => Edit::Keep,
                false => Edit::Set(Value::Array(reserved), why),
            }
        }
        _ => Edit::Remove(why),
    }
}

/// The edit that takes away what was declared of a map: all of it, unless others put keys into it as well.
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

/// The same of what was never declared, where only what is declared may stay. A default goes along with an update, but
/// is no reason for one: AWS would put it back.
pub(crate) fn strict(live: &Value, cursor: Cursor<'_>, is_required: bool) -> Edit {
    let default = cursor.shape().default.as_ref();
    match removal(live, cursor, is_required) {
        Edit::Remove(_) if default.is_some_and(|default| json::equal(default, live)) => {
            Edit::Remove(Why::Tidy)
        }
        edit => edit,
    }
}

/// Whether an object holds, not counting lists, something that must stay.
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
