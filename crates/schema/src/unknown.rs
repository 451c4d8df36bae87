//! Values that are known only after something else was applied.

use serde_json::{Value, json};
use ucp_model::json::{children, walk};

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
    is_unknown(value) || children(value).any(|(_, child)| holds_unknown(child))
}

/// Where unknown values stand in `value`, as JSON Pointers.
pub fn unknown_pointers(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    walk(value, |place, value| {
        if is_unknown(value) {
            found.push(place.to_string());
        }
    });
    found
}
