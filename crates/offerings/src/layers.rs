//! Values that are laid over others.

use serde_json::{Map, Value};
use ucp_schema::reserved_member;

/// Puts a value at a place. What is above it becomes an object.
pub(crate) fn put(properties: &mut Map<String, Value>, path: &[String], value: Value) {
    let Some((last, above)) = path.split_last() else {
        return;
    };
    let holder = above.iter().fold(properties, |members, name| {
        object(members.entry(name.as_str()).or_insert(Value::Null))
    });
    holder.insert(last.clone(), value);
}

/// Returns the members of an object. Anything else, or what stands for another value, becomes one.
fn object(value: &mut Value) -> &mut Map<String, Value> {
    let is_open = value
        .as_object()
        .is_some_and(|members| reserved_member(members).is_none());
    if !is_open {
        *value = Value::Object(Map::new());
    }
    match value {
        Value::Object(members) => members,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            unreachable!("it has just become an object")
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
