//! Changes that a handler silently leaves out, although it reports success.

use serde_json::Value;
use ucp_schema::Classes;

use crate::occurrences;
use crate::resource_type::ResourceType;

/// Leaves `paths` of `after` as they were in `before`, which is `None` for a create. Without paths, one of the changed
/// properties is drawn.
pub(super) fn leave_out(
    resource_type: &ResourceType,
    paths: &[String],
    before: Option<&Value>,
    after: &mut Value,
    fraction: impl FnOnce() -> f64,
) {
    if !paths.is_empty() {
        for path in paths {
            restore(&place(path), before, after);
        }
        return;
    }
    let mut changed = changed(resource_type, before, after);
    if changed.is_empty() {
        return;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a type has few properties, and a fraction is in [0, 1)"
    )]
    let index = (fraction() * changed.len() as f64) as usize;
    let drawn = changed.swap_remove(index);
    restore(&[drawn], before, after);
}

/// Returns the readable top-level properties that differ and that a resource can lack. What only a create can set is never
/// left out of one.
fn changed(resource_type: &ResourceType, before: Option<&Value>, after: &Value) -> Vec<String> {
    let schema = &resource_type.schema;
    let members = |model: Option<&'_ Value>| -> Vec<String> {
        let members = model.and_then(Value::as_object).into_iter().flatten();
        members.map(|(name, _)| name.clone()).collect()
    };
    let mut names = members(before);
    names.extend(members(Some(after)));
    names.sort();
    names.dedup();
    let is_settled_by_create = |name: &str| {
        schema.required().any(|required| required == name)
            || schema.lists(Classes::CREATE_ONLY, &[name])
    };
    let is_fixed = |name: &str| {
        schema.lists(Classes::READ_ONLY, &[name])
            || schema.lists(Classes::WRITE_ONLY, &[name])
            || (before.is_none() && is_settled_by_create(name))
            || (schema.primary_identifier().iter()).any(|path| path.property() == Some(name))
    };
    let was = |name: &str| before.and_then(|before| before.get(name));
    names.retain(|name| was(name) != after.get(name) && !is_fixed(name));
    names
}

/// Gives a place of `after` the value that it has in `before`.
fn restore(place: &[String], before: Option<&Value>, after: &mut Value) {
    let was = before.and_then(|before| occurrences::get(before, place));
    match (was, place.split_last()) {
        (Some(value), _) => occurrences::insert(after, place, value.clone()),
        (None, Some((last, above))) => {
            if let Some(Value::Object(members)) = occurrences::get_mut(after, above) {
                members.shift_remove(last);
            }
        }
        (None, None) => {}
    }
}

/// The place that a JSON Pointer names.
fn place(pointer: &str) -> Vec<String> {
    let steps = pointer.split('/').skip(1);
    steps.map(ucp_model::pointer::unescape).collect()
}
