//! Reserved tags, those of AWS and the mark of a reference: ignored in declarations and live models, and never removed.

use serde_json::Value;
use ucp_model::Mark;
use ucp_model::json::{self, Step};
use ucp_schema::{Classes, Cursor};

/// The prefix of tag keys that AWS reserves.
const RESERVED: &str = "aws:";
/// The names of the key member in lists of tags.
pub(crate) const KEYS: [&str; 4] = ["Key", "key", "TagKey", "tagKey"];

/// Returns whether an element of a list of tags is reserved.
pub(crate) fn is_reserved(tag: &Value) -> bool {
    key(tag).is_some_and(is_reserved_key)
}

/// Returns whether a key in a map of tags is reserved.
pub(crate) fn is_reserved_key(key: &str) -> bool {
    key.starts_with(RESERVED) || Mark::is_key(key)
}

pub(crate) fn key(tag: &Value) -> Option<&str> {
    KEYS.iter().find_map(|key| tag.get(key)?.as_str())
}

/// Returns a filter of visible list elements: all but reserved tags, and `null` where it is not a valid value.
pub(crate) fn counts(cursor: Cursor<'_>) -> impl Fn(&Value) -> bool {
    let are_tags = cursor.is(Classes::TAGS);
    let takes_null = cursor.element().shape().takes_null();
    move |element| {
        let is_nothing = element.is_null() && !takes_null;
        !(is_nothing || are_tags && is_reserved(element))
    }
}

/// Returns the visible elements of a list.
pub(crate) fn visible<'v>(
    elements: &'v [Value],
    cursor: Cursor<'_>,
) -> impl Iterator<Item = &'v Value> {
    let counts = counts(cursor);
    elements.iter().filter(move |element| counts(element))
}

/// Returns whether an element of a list of tags is the mark of a reference.
pub(crate) fn is_mark(tag: &Value) -> bool {
    key(tag).is_some_and(Mark::is_key)
}

/// Returns tags as a change shows them: without the mark of a reference.
pub(crate) fn without_mark(tags: &Value) -> Value {
    json::map_children(tags, |step, tag| {
        let is_shown = match step {
            Step::Member(name) => !Mark::is_key(name),
            Step::Element(_) => !is_mark(tag),
        };
        is_shown.then(|| tag.clone())
    })
}
