//! Forms in which AWS stores what it is given: with defaults, and re-serialised.

use std::cmp::Reverse;

use serde_json::{Map, Value, json};
use ucp_schema::Classes;

use crate::occurrences::{self, Place};
use crate::resource_type::ResourceType;

/// The members of a policy statement that may be one text or a list of texts.
const ONE_OR_MORE: [&str; 6] = [
    "Action",
    "NotAction",
    "Resource",
    "NotResource",
    "AWS",
    "Service",
];

/// Sets absent properties to their defaults in the schema, unless the model would then violate it.
pub(super) fn fill_defaults(resource_type: &ResourceType, model: &mut Value) {
    let mut filled = model.clone();
    let Some(document) = resource_type.schema.document().as_object() else {
        return;
    };
    fill(resource_type, document, &mut Vec::new(), &mut filled);
    let is_valid = filled != *model
        && resource_type.violations(&filled).len() <= resource_type.violations(model).len();
    if is_valid {
        *model = filled;
    }
}

fn fill<'a>(
    resource_type: &'a ResourceType,
    schema: &'a Map<String, Value>,
    place: &mut Vec<&'a str>,
    value: &mut Value,
) {
    match value {
        Value::Object(members) => {
            let properties = schema.get("properties").and_then(Value::as_object);
            for (name, property) in properties.into_iter().flatten() {
                let Some(property) = resource_type.resolve(property) else {
                    continue;
                };
                place.push(name);
                let is_assigned = resource_type.schema.lists(Classes::READ_ONLY, place);
                match (members.get_mut(name), property.get("default")) {
                    (Some(member), _) => fill(resource_type, property, place, member),
                    (None, Some(default)) if !is_assigned => {
                        members.insert(name.clone(), default.clone());
                    }
                    (None, _) => {}
                }
                place.pop();
            }
        }
        Value::Array(items) => {
            let schema = schema.get("items");
            let Some(schema) = schema.and_then(|schema| resource_type.resolve(schema)) else {
                return;
            };
            place.push("0");
            for item in items {
                fill(resource_type, schema, place, item);
            }
            place.pop();
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Writes sets in an order of its own, and policy documents in an equivalent form. What the schema describes keeps its shape: the
/// `Statement` of a web ACL is no policy's.
pub(super) fn restate(resource_type: &ResourceType, model: &mut Value) {
    if let Some(document) = resource_type.schema.document().as_object() {
        restate_described(resource_type, document, model);
    }
}

fn restate_described(resource_type: &ResourceType, schema: &Map<String, Value>, value: &mut Value) {
    match (value, schema.get("properties"), schema.get("items")) {
        (Value::Object(members), Some(Value::Object(properties)), _) => {
            for (name, member) in members {
                let property = properties.get(name);
                match property.and_then(|property| resource_type.resolve(property)) {
                    Some(property) => restate_described(resource_type, property, member),
                    None => restate_policies(member),
                }
            }
        }
        (Value::Array(items), _, of_items) => {
            let of_items = of_items.and_then(|of_items| resource_type.resolve(of_items));
            for item in items.iter_mut() {
                match of_items {
                    Some(of_items) => restate_described(resource_type, of_items, item),
                    None => restate_policies(item),
                }
            }
            if schema.get("insertionOrder") == Some(&Value::Bool(false)) {
                items.sort_by_cached_key(|item| Reverse(item.to_string()));
            }
        }
        (value, ..) => restate_policies(value),
    }
}

/// Writes create-only texts with a dot at the end, as names of domains, and adds a text to lists of them, as the domain of a
/// certificate comes to its alternative names. What names the resource stays,
/// and so do tags.
pub(super) fn restate_fixed(resource_type: &ResourceType, model: &mut Value) {
    let schema = &resource_type.schema;
    let custom_name = schema.custom_name(model).map(|(name, _)| name.to_owned());
    let is_name = |place: &[String]| {
        let mut identifier = schema.primary_identifier().iter();
        identifier.any(|path| path.names() == place) || custom_name.as_slice() == place
    };
    let tags = schema.tag_property();
    let fixed = occurrences::of_class(schema, Classes::CREATE_ONLY, model);
    let fixed = fixed.into_iter().filter(|(place, _)| {
        let names: Vec<&str> = place.iter().map(String::as_str).collect();
        let is_tag = tags
            .as_ref()
            .is_some_and(|tags| names.starts_with(&tags.names()));
        !is_name(place) && !is_tag && !schema.lists(Classes::READ_ONLY, &names)
    });
    let restated: Vec<(Place, Value)> = fixed
        .map(|(place, value)| (place, restated_texts(value)))
        .collect();
    for (place, value) in restated {
        occurrences::insert(model, &place, value);
    }
}

fn restated_texts(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::from(format!("{text}.")),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            let added = Value::from("added.");
            items.iter().cloned().chain([added]).collect()
        }
        Value::Array(items) => items.iter().map(restated_texts).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(name, member)| (name.clone(), restated_texts(member)))
            .collect(),
        other => other.clone(),
    }
}

/// Restates the policy documents in a value that no schema describes.
fn restate_policies(value: &mut Value) {
    match value {
        Value::String(text) if text.contains("\"Statement\"") => {
            if let Ok(mut policy @ Value::Object(_)) = serde_json::from_str(text) {
                restate_policies(&mut policy);
                *text = policy.to_string();
            }
        }
        Value::Object(members) => {
            if let Some(statements) = members.get_mut("Statement") {
                restate_statements(statements);
                members.sort_keys();
            } else {
                members.values_mut().for_each(restate_policies);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(restate_policies),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Writes a single statement as a list, and lists of one text as the text.
fn restate_statements(statements: &mut Value) {
    if statements.is_object() {
        *statements = json!([statements.take()]);
    }
    let statements = statements.as_array_mut().into_iter().flatten();
    for statement in statements.filter_map(Value::as_object_mut) {
        if let Some(Value::Object(principals)) = statement.get_mut("Principal") {
            unwrap_single(principals);
        }
        unwrap_single(statement);
        statement.sort_keys();
    }
}

fn unwrap_single(members: &mut Map<String, Value>) {
    for name in ONE_OR_MORE {
        if let Some(Value::Array(items)) = members.get_mut(name)
            && items.len() == 1
            && let Some(only) = items.pop()
        {
            members.insert(name.to_owned(), only);
        }
    }
}
