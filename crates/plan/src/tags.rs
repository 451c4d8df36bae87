//! Tags that AWS reserves for itself: invisible in what is declared and in what is live, and never taken away.

use serde_json::Value;
use ucp_schema::{Classes, Cursor};

/// What the keys of reserved tags start with.
const RESERVED: &str = "aws:";
/// What lists of tags call the key.
pub(crate) const KEYS: [&str; 4] = ["Key", "key", "TagKey", "tagKey"];

/// Whether an element of a list of tags is reserved.
pub(crate) fn is_reserved(tag: &Value) -> bool {
    key(tag).is_some_and(is_reserved_key)
}

/// Whether the tag of a map of tags is reserved.
pub(crate) fn is_reserved_key(key: &str) -> bool {
    key.starts_with(RESERVED)
}

pub(crate) fn key(tag: &Value) -> Option<&str> {
    KEYS.iter().find_map(|key| tag.get(key)?.as_str())
}

/// Which elements of a list count: not reserved tags, and not `null` where it cannot be a value.
pub(crate) fn counts(cursor: Cursor<'_>) -> impl Fn(&Value) -> bool {
    let are_tags = cursor.is(Classes::TAGS);
    let takes_null = cursor.element().shape().takes_null();
    move |element| {
        let is_nothing = element.is_null() && !takes_null;
        !(is_nothing || are_tags && is_reserved(element))
    }
}

/// The elements of a list that count.
pub(crate) fn visible<'v>(
    elements: &'v [Value],
    cursor: Cursor<'_>,
) -> impl Iterator<Item = &'v Value> {
    let counts = counts(cursor);
    elements.iter().filter(move |element| counts(element))
}
