use serde_json::{Map, Value};
use ucp_model::pointer::{escape, unescape};

/// Flattens a JSON object to its leaves by path: `{"Endpoint": {"Address": "a"}}` becomes `{"Endpoint/Address": "a"}`.
/// Names are escaped as in a JSON Pointer (RFC 6901): `/` becomes `~1`. Lists, scalars and empty objects are leaves.
pub fn flatten(object: &Map<String, Value>) -> Map<String, Value> {
    let mut flat = Map::new();
    flatten_below(object, "", &mut flat);
    flat
}

fn flatten_below(object: &Map<String, Value>, prefix: &str, flat: &mut Map<String, Value>) {
    for (name, value) in object {
        let key = format!("{prefix}{}", escape(name));
        match value {
            Value::Object(members) if !members.is_empty() => {
                flatten_below(members, &format!("{key}/"), flat);
            }
            leaf => {
                flat.insert(key, leaf.clone());
            }
        }
    }
}

/// The inverse of [`flatten`]. If a path is both a leaf and the prefix of another, the leaf is dropped.
pub fn unflatten(flat: &Map<String, Value>) -> Map<String, Value> {
    let mut object = Map::new();
    for (key, value) in flat {
        let names: Vec<String> = key.split('/').map(unescape).collect();
        insert(&mut object, &names, value);
    }
    object
}

fn insert(object: &mut Map<String, Value>, names: &[String], value: &Value) {
    let Some((name, rest)) = names.split_first() else {
        return;
    };
    if rest.is_empty() {
        let is_taken = object
            .get(name)
            .and_then(Value::as_object)
            .is_some_and(|members| !members.is_empty());
        if !is_taken {
            object.insert(name.clone(), value.clone());
        }
        return;
    }
    let below = object
        .entry(name.as_str())
        .or_insert_with(|| Value::Object(Map::new()));
    if !below.is_object() {
        *below = Value::Object(Map::new());
    }
    if let Value::Object(members) = below {
        insert(members, rest, value);
    }
}
