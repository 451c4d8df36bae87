//! Values that stand for others: unknown ones, which are known only after another plan is applied, and the expressions of
//! sets.

use serde_json::{Map, Value, json};
use ucp_model::json::{children, walk};

/// The only member of an object that represents an unknown value.
const UNKNOWN: &str = "$unknown";

/// The members of objects that stand for another value. Other members with a `$`, such as `$ref`, are ordinary ones.
const RESERVED: [&str; 3] = ["$concat", "$reference", UNKNOWN];

/// Returns the member that makes an object stand for another value, if it has one.
pub fn reserved_member(members: &Map<String, Value>) -> Option<&'static str> {
    RESERVED
        .into_iter()
        .find(|name| members.contains_key(*name))
}

/// An object that stands for another value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StandIn {
    /// An unknown value.
    Unknown,
    /// What looks like an unknown value, but is none.
    NearlyUnknown,
    /// An expression of a set.
    Expression,
}

/// Returns JSON Pointers to the objects in `value` that stand for another value.
pub(crate) fn stand_ins(value: &Value) -> Vec<(String, StandIn)> {
    let mut found = Vec::new();
    walk(value, |place, value| {
        let stand_in = match value.as_object().and_then(reserved_member) {
            None => return,
            Some(UNKNOWN) if is_unknown(value) => StandIn::Unknown,
            Some(UNKNOWN) => StandIn::NearlyUnknown,
            Some(_) => StandIn::Expression,
        };
        found.push((place.to_string(), stand_in));
    });
    found
}

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
