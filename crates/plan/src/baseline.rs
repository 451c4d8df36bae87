//! What is kept of a declaration: its write-only values only as digests.

use std::collections::BTreeMap;

use serde_json::Value;
use ucp_model::json::pointer_token;
use ucp_model::{Baseline, Digest};
use ucp_schema::ResourceSchema;

pub(crate) fn of(
    properties: &Value,
    schema: &ResourceSchema,
    mut digest: impl FnMut(&str, &Value) -> Digest,
) -> Baseline {
    let mut digests = BTreeMap::new();
    each_write_only(properties, schema, |pointer, value| {
        digests.insert(pointer.to_owned(), digest(pointer, value));
    });
    Baseline {
        declared: schema.without_write_only(properties),
        digests,
    }
}

/// Calls `visit` with each topmost write-only value of `properties`.
pub(crate) fn each_write_only(
    properties: &Value,
    schema: &ResourceSchema,
    mut visit: impl FnMut(&str, &Value),
) {
    if !schema.write_only().is_empty() {
        walk(
            properties,
            schema,
            &mut Vec::new(),
            &mut String::new(),
            &mut visit,
        );
    }
}

fn walk(
    value: &Value,
    schema: &ResourceSchema,
    segments: &mut Vec<String>,
    pointer: &mut String,
    visit: &mut impl FnMut(&str, &Value),
) {
    let path: Vec<&str> = segments.iter().map(String::as_str).collect();
    if schema.write_only().contains(&path) {
        return visit(pointer, value);
    }
    let members: Vec<(String, &Value)> = match value {
        Value::Object(members) => members
            .iter()
            .map(|(key, member)| (key.clone(), member))
            .collect(),
        Value::Array(elements) => elements
            .iter()
            .enumerate()
            .map(|(index, element)| (index.to_string(), element))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return,
    };
    for (segment, member) in members {
        let length = pointer.len();
        pointer.push('/');
        pointer.push_str(&pointer_token(&segment));
        segments.push(segment);
        walk(member, schema, segments, pointer, visit);
        segments.pop();
        pointer.truncate(length);
    }
}
