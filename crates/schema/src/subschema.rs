//! Moving about in a schema: references, alternatives, types and members.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

/// Schemas that may apply to one value one after the other, through references and alternatives.
const MAX_HOPS: usize = 16;

/// The keywords whose schemas apply to the same value as the schema that holds them.
const LISTED: [&str; 3] = ["allOf", "anyOf", "oneOf"];
const SINGLE: [&str; 4] = ["not", "if", "then", "else"];

/// The object that a schema is after following its references; none for `true`, `false`, what is not a schema, and a
/// reference that leads nowhere.
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

/// The JSON types that a schema names, none when it does not restrict them.
pub fn types(schema: &Map<String, Value>) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Whether a value is of a JSON type; so it is of a type that JSON does not have.
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

/// The schemas that a combining keyword (`allOf`, `anyOf`, `oneOf`) lists.
pub fn branches<'a>(
    schema: &'a Map<String, Value>,
    keyword: &str,
) -> impl Iterator<Item = &'a Value> {
    let listed = schema.get(keyword).and_then(Value::as_array);
    listed.into_iter().flatten()
}

/// A schema and those that it combines, their references followed.
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

/// The members of an object that a keyword holds by name, such as `properties`.
pub fn named<'a>(
    schema: &'a Map<String, Value>,
    keyword: &str,
) -> impl Iterator<Item = (&'a String, &'a Value)> {
    let members = schema.get(keyword).and_then(Value::as_object);
    members.into_iter().flatten()
}

/// Whether a schema that a document's properties lead to applies itself again to the same value, or so many others that
/// judging the value would hardly end. (A schema that comes back further down in the value, like a tree's, is fine, and so is a
/// definition that nobody uses.)
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

/// How many schemas apply to one value one after the other, at most, from `schema` on. More than [`MAX_HOPS`] are not
/// counted.
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
    let target = schema
        .get("$ref")
        .and_then(|reference| target(document, reference));
    let listed = LISTED
        .into_iter()
        .flat_map(|keyword| branches(schema, keyword));
    let single = SINGLE.into_iter().filter_map(|keyword| schema.get(keyword));
    let next = target.into_iter().chain(listed).chain(single);
    let below = next
        .filter_map(Value::as_object)
        .map(|next| height(document, next, hops + 1, heights))
        .max();
    let height = below.map_or(0, |below| below.saturating_add(1));
    heights.insert(std::ptr::from_ref(schema), height);
    height
}
