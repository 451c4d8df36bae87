//! Values that are laid over others.

use serde_json::{Map, Value};
use ucp_schema::reserved_member;

/// Puts a value at a place. What is above it becomes an object, if it is none or stands for another value.
pub(crate) fn put(members: &mut Map<String, Value>, path: &[String], value: Value) {
    match path {
        [] => {}
        [name] => {
            members.insert(name.clone(), value);
        }
        [name, below @ ..] => {
            let holder = members.entry(name.as_str()).or_insert(Value::Null);
            let mut inner = match std::mem::take(holder) {
                Value::Object(inner) if reserved_member(&inner).is_none() => inner,
                _ => Map::new(),
            };
            put(&mut inner, below, value);
            *holder = Value::Object(inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn members(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn a_value_is_put_at_its_place() {
        let mut properties =
            members(json!({"A": {"B": 1, "C": 2}, "D": "x", "E": {"$reference": "a"}}));
        let path = |text: &str| -> Vec<String> { text.split('/').map(str::to_owned).collect() };
        put(&mut properties, &path("A/B"), json!({"new": true}));
        put(&mut properties, &path("D/F"), json!(1));
        put(&mut properties, &path("E/F"), json!(1));
        put(&mut properties, &path("G/H/I"), json!([]));
        let expected = json!({"A": {"B": {"new": true}, "C": 2}, "D": {"F": 1}, "E": {"F": 1}, "G": {"H": {"I": []}}});
        assert_eq!(Value::Object(properties), expected);
    }
}
