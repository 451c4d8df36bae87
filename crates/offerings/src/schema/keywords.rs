//! The keywords with which a file describes or narrows a parameter.

use std::sync::Arc;

use serde_json::{Value, json};
use ucp_model::json;
use ucp_schema::Patterns;

use super::judge::{each_pattern, is_schema};
use crate::problem::Problems;
use crate::source::Member;

/// The keywords of a parameter.
pub(crate) const NAMES: [&str; 18] = [
    "type",
    "title",
    "description",
    "default",
    "enum",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
];

/// Those that only a parameter without a place has: what is in the value at a place is what the type says.
pub(crate) const INNER: [&str; 3] = ["items", "properties", "additionalProperties"];

/// A keyword, and where it is written.
#[derive(Clone, Debug)]
pub(crate) struct Keyword {
    pub(crate) name: &'static str,
    pub(crate) line: usize,
    pub(crate) value: Value,
}

/// Reads a keyword, and tells what is wrong with its form. `None` if it cannot be used.
pub(crate) fn read(
    name: &'static str,
    member: &Member,
    patterns: &Arc<Patterns>,
    problems: &mut Problems,
) -> Option<Keyword> {
    let value = member.node.to_json();
    if let Some(wrong) = misfit(name, &value, patterns) {
        problems.add(member.line, format!("`{name}` {wrong}"));
        return None;
    }
    Some(Keyword {
        name,
        line: member.line,
        value,
    })
}

/// Returns what is wrong with the form of a keyword.
fn misfit(name: &str, value: &Value, patterns: &Arc<Patterns>) -> Option<String> {
    let told = |is_right: bool, what: &str| (!is_right).then(|| what.to_owned());
    match name {
        "default" => None,
        "title" | "description" => told(value.is_string(), "is a text"),
        "type" => told(
            is_schema(&json!({ "type": value })),
            "is array, boolean, integer, null, number, object or string, or a list of these",
        ),
        "enum" => {
            let options = value.as_array().map(Vec::as_slice).unwrap_or_default();
            let mut known = std::collections::BTreeSet::new();
            let is_right = !options.is_empty()
                && (options.iter()).all(|option| known.insert(json::canonical(option)));
            told(is_right, "is a list of different values that is not empty")
        }
        "minimum" | "maximum" => told(value.is_number(), "is a number"),
        "exclusiveMinimum" | "exclusiveMaximum" | "uniqueItems" => {
            told(value.is_boolean(), "is true or false")
        }
        "multipleOf" => told(
            value.as_f64().is_some_and(|step| step > 0.0),
            "is a number above 0",
        ),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
            told(value.is_u64(), "is a whole number, 0 or more")
        }
        "pattern" => match value.as_str() {
            None => Some("is a text".to_owned()),
            Some(pattern) => told(
                is_schema(&json!({ "pattern": pattern })) && patterns.checks(pattern),
                "is not a regular expression that can be matched in linear time: it is wrong, too large, or refers back",
            ),
        },
        _ => inner(name, value, patterns),
    }
}

/// Returns what is wrong with schemas in a keyword.
fn inner(name: &str, value: &Value, patterns: &Arc<Patterns>) -> Option<String> {
    let schema = json!({ name: value });
    if !is_schema(&schema) {
        return Some("is not a schema in draft-04".to_owned());
    }
    let mut foreign = None;
    json::walk(value, |_, value| {
        let members = value.as_object();
        let name = members.and_then(|members| members.keys().find(|name| name.starts_with('$')));
        foreign = foreign.take().or_else(|| name.cloned());
    });
    if let Some(name) = foreign {
        return Some(format!("may not have `{name}`: write the schema out"));
    }
    let mut unchecked = None;
    each_pattern(&schema, &mut |pattern| {
        if !patterns.checks(pattern) {
            unchecked = Some(pattern.to_owned());
        }
    });
    unchecked.map(|_| "has a pattern that cannot be matched in linear time".to_owned())
}
