//! What a type says of properties that a file sets.

use serde_json::Value;
use ucp_model::pointer;
use ucp_schema::{Classes, ResourceSchema, ViolationCode, unknown};

use crate::layers::put;
use crate::place::{Place, cursor, to_pointer};
use crate::problem::Problems;
use crate::resource::Head;
use crate::source::Node;
use crate::template::{Template, with_unknown};

/// Tells of properties of a resource that its type refuses, and of the places of parameters that cannot be reached.
pub(super) fn judge(
    head: &Head,
    properties: &[(String, Template)],
    node: Option<&Node>,
    problems: &mut Problems,
) {
    let Some(schema) = &head.schema else { return };
    let value = Value::Object(with_unknown(properties));
    let line = |place: &str| node.map_or(head.line, |node| node.line_at(place));
    for (place, message) in objections(schema, &value) {
        problems.add(line(&place), message);
    }
}

/// Returns what a type refuses of properties that are not all there, each with its place.
fn objections(schema: &ResourceSchema, value: &Value) -> Vec<(String, String)> {
    let mut found = read_only(schema, value);
    found.extend(violations(schema, value));
    found
}

fn read_only(schema: &ResourceSchema, value: &Value) -> Vec<(String, String)> {
    let type_name = schema.type_name();
    let mut found = Vec::new();
    schema.each_of(Classes::READ_ONLY, value, |place, _| {
        let message = format!("{place} of {type_name} is read-only: AWS alone sets it");
        found.push((place.to_owned(), message));
    });
    found
}

/// Properties that are missing may come from parameters, and those of bindings and instances that AWS needs are judged
/// with the declaration.
fn violations(schema: &ResourceSchema, value: &Value) -> impl Iterator<Item = (String, String)> {
    let violations = schema.validate_model(value).into_iter();
    let type_name = schema.type_name().clone();
    violations.filter_map(move |violation| match violation.code {
        ViolationCode::MissingProperty | ViolationCode::InvalidCombination => None,
        ViolationCode::WrongType
        | ViolationCode::UnknownProperty
        | ViolationCode::InvalidValue
        | ViolationCode::ReadOnlyProperty => {
            let message = format!("{type_name} refuses this: {}", violation.message);
            Some((violation.pointer, message))
        }
    })
}

/// A value that a plan sets, before it is judged.
pub(super) struct Set<'a> {
    pub(super) place: &'a Place,
    pub(super) template: &'a Template,
    pub(super) line: usize,
    pub(super) node: &'a Node,
}

/// Tells of presets of one resource that its type refuses.
pub(super) fn judge_presets(
    head: &Head,
    properties: &[(String, Template)],
    parameters: &[&Place],
    presets: &[Set<'_>],
    problems: &mut Problems,
) {
    let Some(schema) = &head.schema else { return };
    let mut value = with_unknown(properties);
    for place in parameters {
        put(&mut value, &place.path, unknown());
    }
    let mut alone = serde_json::Map::new();
    let mut is_known = true;
    for preset in presets {
        if cursor(schema, &preset.place.path).is_none() {
            let message = format!(
                "{} has no property at {}",
                schema.type_name(),
                to_pointer(&preset.place.path)
            );
            problems.add(preset.line, message);
            is_known = false;
            continue;
        }
        put(
            &mut value,
            &preset.place.path,
            preset.template.with_unknown(),
        );
        put(
            &mut alone,
            &preset.place.path,
            preset.template.with_unknown(),
        );
    }
    if !is_known {
        return;
    }
    let mut found = read_only(schema, &Value::Object(alone));
    found.extend(violations(schema, &Value::Object(value)));
    for (place, message) in found {
        for preset in presets {
            let at = to_pointer(&preset.place.path);
            if let Some(below) = place.strip_prefix(&at)
                && pointer::is_within(&place, &at)
            {
                let line = match below {
                    "" => preset.line,
                    below => preset.node.line_at(below),
                };
                problems.add(line, message.clone());
            } else if pointer::is_within(&at, &place) {
                problems.add(preset.line, message.clone());
            }
        }
    }
}
