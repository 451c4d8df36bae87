use serde_json::{Value, json};

/// The one member of an object that stands for a value that is known only after something else was applied.
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
