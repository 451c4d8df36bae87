//! Navigation in a schema: references, alternatives, types and members.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use ucp_model::json;

/// The maximum length of a chain of schemas that apply to one value, through references and alternatives.
const MAX_HOPS: usize = 16;

/// The keywords whose schemas apply to the same value as the schema that contains them.
const LISTED: [&str; 3] = ["allOf", "anyOf", "oneOf"];
const SINGLE: [&str; 4] = ["not", "if", "then", "else"];

/// Follows the references of a schema. Returns `None` for `true`, `false`, a value that is not a schema, and a dangling
/// reference.
pub fn resolve<'a>(document: &'a Value, schema: &'a Value) -> Option<&'a Map<String, Value>> {
    let mut schema = schema.as_object()?;
    for _ in 0..MAX_HOPS {
        let Some(reference) = schema.get("$ref") else {
            return Some(schema);
        };
        schema = target(document, reference)?.as_object()?;
    }
    None
}

pub(crate) fn target<'a>(document: &'a Value, reference: &Value) -> Option<&'a Value> {
    document.pointer(reference.as_str()?.strip_prefix('#')?)
}

/// Returns the JSON types that a schema allows. Empty if it does not restrict them.
pub fn types(schema: &Map<String, Value>) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Returns whether a value has a JSON type. True for a name that is not a JSON type.
pub(crate) fn is_of_type(value: &Value, json_type: &str) -> bool {
    match json_type {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => {
            value.is_i64()
                || value.is_u64()
                || value.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        _ => true,
    }
}

/// Returns the schemas in a combining keyword (`allOf`, `anyOf`, `oneOf`).
pub fn branches<'a>(
    schema: &'a Map<String, Value>,
    keyword: &str,
) -> impl Iterator<Item = &'a Value> {
    let listed = schema.get(keyword).and_then(Value::as_array);
    listed.into_iter().flatten()
}

/// Returns a schema and all that it combines, with references resolved.
pub fn flatten<'a>(document: &'a Value, schema: &'a Value) -> Vec<&'a Map<String, Value>> {
    let Some(schema) = resolve(document, schema) else {
        return Vec::new();
    };
    let combined = LISTED
        .into_iter()
        .flat_map(|keyword| branches(schema, keyword));
    std::iter::once(schema)
        .chain(combined.flat_map(|branch| flatten(document, branch)))
        .collect()
}

/// Returns the named schemas in a keyword such as `properties`.
pub fn named<'a>(
    schema: &'a Map<String, Value>,
    keyword: &str,
) -> impl Iterator<Item = (&'a String, &'a Value)> {
    let members = schema.get(keyword).and_then(Value::as_object);
    members.into_iter().flatten()
}

/// The maximum number of schemas that one schema applies to a value, with all that they combine. Those of public types
/// apply fewer.
pub(crate) const MAX_APPLIED: u64 = 10_000;

/// Returns the pointer of a schema that applies too many schemas to one value, if there is any. The document is not
/// circular.
pub(crate) fn applies_too_many(document: &Value) -> Option<String> {
    let mut applied = BTreeMap::new();
    let mut found = None;
    json::walk(document, |place, value| {
        if let Value::Object(members) = value
            && found.is_none()
            && is_schema(members)
            && count(document, members, 0, &mut applied) > MAX_APPLIED
        {
            found = Some(place.to_string());
        }
    });
    found
}

fn is_schema(members: &Map<String, Value>) -> bool {
    let mut keywords = LISTED.iter().chain(&SINGLE).chain(&["$ref"]);
    keywords.any(|keyword| members.contains_key(*keyword))
}

/// Returns the number of schemas that apply to one value, starting at `schema`.
fn count(
    document: &Value,
    schema: &Map<String, Value>,
    hops: usize,
    applied: &mut BTreeMap<*const Map<String, Value>, u64>,
) -> u64 {
    if let Some(count) = applied.get(&std::ptr::from_ref(schema)) {
        return *count;
    }
    // An unused definition may be circular.
    if hops > MAX_HOPS {
        return 0;
    }
    let below = combined(document, schema)
        .map(|next| count(document, next, hops + 1, applied))
        .fold(1, u64::saturating_add);
    applied.insert(std::ptr::from_ref(schema), below);
    below
}

/// Returns the schemas that a schema applies to the same value.
fn combined<'a>(
    document: &'a Value,
    schema: &'a Map<String, Value>,
) -> impl Iterator<Item = &'a Map<String, Value>> {
    let target = schema
        .get("$ref")
        .and_then(|reference| target(document, reference));
    let listed = LISTED
        .into_iter()
        .flat_map(|keyword| branches(schema, keyword));
    let single = SINGLE.into_iter().filter_map(|keyword| schema.get(keyword));
    let all = target.into_iter().chain(listed).chain(single);
    all.filter_map(Value::as_object)
}

/// Returns whether a schema reachable from a document's properties applies itself again to the same value, or applies
/// so long a chain of others that validation would not end in reasonable time. (A schema that recurs further down in
/// the value, as in a tree, is fine. So is an unused definition.)
pub(crate) fn is_circular(document: &Value) -> bool {
    let mut heights = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let keywords = document.as_object().into_iter().flatten();
    let mut rest: Vec<&Value> = keywords
        .filter(|(keyword, _)| *keyword != "definitions")
        .map(|(_, value)| value)
        .collect();
    while let Some(value) = rest.pop() {
        match value {
            Value::Object(members) if seen.insert(std::ptr::from_ref(members)) => {
                if height(document, members, 0, &mut heights) > MAX_HOPS {
                    return true;
                }
                rest.extend(members.values());
                rest.extend(members.get("$ref").and_then(|to| target(document, to)));
            }
            Value::Array(items) => rest.extend(items),
            _ => {}
        }
    }
    false
}

/// Returns the length of the longest chain of schemas that apply to one value, starting at `schema`. Counts no further
/// than [`MAX_HOPS`].
fn height(
    document: &Value,
    schema: &Map<String, Value>,
    hops: usize,
    heights: &mut BTreeMap<*const Map<String, Value>, usize>,
) -> usize {
    if let Some(height) = heights.get(&std::ptr::from_ref(schema)) {
        return *height;
    }
    if hops > MAX_HOPS {
        return MAX_HOPS + 1;
    }
    let below = combined(document, schema)
        .map(|next| height(document, next, hops + 1, heights))
        .max();
    let height = below.map_or(0, |below| below.saturating_add(1));
    heights.insert(std::ptr::from_ref(schema), height);
    height
}
