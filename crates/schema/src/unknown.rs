//! Unknown values: values that are known only after another plan is applied.

use serde_json::{Value, json};
use ucp_model::json::{children, walk};

/// The only member of an object that represents an unknown value.
const UNKNOWN: &str = "$unknown";

/// Returns an unknown value, `{"$unknown": true}`.
pub fn unknown() -> Value {
    json!({ UNKNOWN: true })
}

/// Returns whether `value` is unknown.
pub fn is_unknown(value: &Value) -> bool {
    value.as_object().is_some_and(|members| {
        members.len() == 1 && members.get(UNKNOWN) == Some(&Value::Bool(true))
    })
}

/// Returns whether `value` is or contains an unknown value.
pub fn holds_unknown(value: &Value) -> bool {
    is_unknown(value) || children(value).any(|(_, child)| holds_unknown(child))
}

/// Returns JSON Pointers to the unknown values in `value`.
pub fn unknown_pointers(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    walk(value, |place, value| {
        if is_unknown(value) {
            found.push(place.to_string());
        }
    });
    found
}
