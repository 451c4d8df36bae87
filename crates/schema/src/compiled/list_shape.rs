use serde_json::{Map, Value};

/// The properties of an array in a schema.
#[derive(Debug, Default)]
pub struct ListShape {
    /// Whether the order of elements is irrelevant.
    pub is_unordered: bool,
    /// Whether elements are unique.
    pub is_unique: bool,
    /// The minimum number of elements.
    pub min_items: u64,
    /// The member that should identify elements. A given list may still have duplicates.
    pub key: Option<String>,
}

impl ListShape {
    pub(super) fn of<'d>(schemas: impl Iterator<Item = &'d Map<String, Value>>) -> Self {
        let mut list = Self::default();
        for schema in schemas {
            let says = |keyword, truth| schema.get(keyword) == Some(&Value::Bool(truth));
            list.is_unordered |= says("insertionOrder", false);
            list.is_unique |= says("uniqueItems", true);
            let min = schema.get("minItems").and_then(Value::as_u64);
            list.min_items = list.min_items.max(min.unwrap_or(0));
        }
        list
    }
}
