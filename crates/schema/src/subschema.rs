//! Moving about in a schema: references, alternatives and properties.

use serde_json::{Map, Value};

/// References followed, and alternatives nested, before a schema is taken to go round in circles.
pub(crate) const MAX_HOPS: usize = 32;

/// The object that a schema is after following its references; none for `true`, `false`, what is not a schema, a
/// reference that leads nowhere, and one that goes round in circles.
pub(crate) fn resolve<'a>(
    document: &'a Value,
    schema: &'a Value,
) -> Option<&'a Map<String, Value>> {
    let mut schema = schema.as_object()?;
    for _ in 0..MAX_HOPS {
        let Some(reference) = schema.get("$ref") else {
            return Some(schema);
        };
        let pointer = reference.as_str()?.strip_prefix('#')?;
        schema = document.pointer(pointer)?.as_object()?;
    }
    None
}

/// The JSON types that a schema names, none when it does not restrict them.
pub(crate) fn types(schema: &Map<String, Value>) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}
