//! Values that are known only after something else was applied.

use serde_json::{Value, json};
use ucp_model::json::pointer_token;

/// The one member of an object that stands for such a value.
const UNKNOWN: &str = "$unknown";

/// `{"$unknown": true}`
pub fn unknown() -> Value {
    json!({ UNKNOWN: true })
}

/// Whether `value` stands for one that is known only after something else was applied.
pub fn is_unknown(value: &Value) -> bool {
    value.as_object().is_some_and(|members| {
        members.len() == 1 && members.get(UNKNOWN) == Some(&Value::Bool(true))
    })
}

/// Whether an unknown value stands anywhere in `value`.
pub fn holds_unknown(value: &Value) -> bool {
    is_unknown(value)
        || match value {
            Value::Object(members) => members.values().any(holds_unknown),
            Value::Array(elements) => elements.iter().any(holds_unknown),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
        }
}

/// Where unknown values stand in `value`, as JSON Pointers.
pub fn unknown_pointers(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect(value, String::new(), &mut found);
    found
}

fn collect(value: &Value, pointer: String, found: &mut Vec<String>) {
    if is_unknown(value) {
        return found.push(pointer);
    }
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                collect(member, format!("{pointer}/{}", pointer_token(name)), found);
            }
        }
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                collect(element, format!("{pointer}/{index}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
