//! Values that stand for others: unknown ones, which are known only after another plan is applied, and the expressions of
//! sets.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use ucp_model::json::{children, walk};
use ucp_model::pointer;

use crate::{Classes, Cursor, PropertyPath, ResourceSchema};

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

impl ResourceSchema {
    /// Returns a model of a resource that is to be updated, in which what AWS may assign anew is unknown: what is read-only,
    /// but for identifiers.
    pub fn with_reassigned(&self, model: &Value) -> Value {
        let additional = self.additional_identifiers().iter().flatten();
        let kept = self.primary_identifier().iter().chain(additional);
        let kept: BTreeSet<String> = kept.map(PropertyPath::pointer).collect();
        reassigned(model, self.root(), "", &kept)
    }
}

fn reassigned(value: &Value, cursor: Cursor<'_>, place: &str, kept: &BTreeSet<String>) -> Value {
    let is_assigned = cursor.is(Classes::READ_ONLY) && !is_unknown(value);
    match value {
        _ if kept.contains(place) => value.clone(),
        _ if is_assigned => unknown(),
        Value::Object(members) => members
            .iter()
            .map(|(name, member)| {
                let below = cursor.member_or_anything(name);
                let place = pointer::join(place, name);
                (name.clone(), reassigned(member, below, &place, kept))
            })
            .collect(),
        Value::Array(elements) => {
            let (below, place) = (cursor.element(), pointer::join(place, "*"));
            let elements = elements.iter();
            elements
                .map(|element| reassigned(element, below, &place, kept))
                .collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// Makes the value at a JSON Pointer unknown. In a list whose order may be another one it is the list that is unknown.
pub fn make_unknown(model: &mut Value, place: &str) {
    let mut at = model;
    for token in place.split('/').skip(1).map(pointer::unescape) {
        if is_unknown(at) {
            return;
        }
        let Value::Object(members) = at else {
            break;
        };
        at = members.entry(token).or_insert(Value::Null);
    }
    *at = unknown();
}

/// Makes the value at a JSON Pointer of a declaration unknown, whose lists keep their order.
pub fn make_declared_unknown(declared: &mut Value, place: &str) {
    let mut at = declared;
    for token in place.split('/').skip(1).map(pointer::unescape) {
        if is_unknown(at) {
            return;
        }
        at = match at {
            Value::Object(members) => members.entry(token).or_insert(Value::Null),
            Value::Array(elements) => {
                let element = token.parse().ok();
                match element.and_then(|index: usize| elements.get_mut(index)) {
                    Some(element) => element,
                    None => return,
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => break,
        };
    }
    *at = unknown();
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
    // Most values have none, and to know where one is takes more than to know that.
    if !holds_unknown(value) {
        return found;
    }
    walk(value, |place, value| {
        if is_unknown(value) {
            found.push(place.to_string());
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_element_of_a_declared_list_is_unknown() {
        let model = json!({"Rules": [{"Cidr": "a"}, {"Role": "b"}], "Name": "n"});
        let opened = |make: fn(&mut Value, &str)| {
            let mut model = model.clone();
            make(&mut model, "/Rules/1/Role");
            model["Rules"].clone()
        };
        assert_eq!(opened(make_unknown), unknown());
        let declared = json!([{"Cidr": "a"}, {"Role": unknown()}]);
        assert_eq!(opened(make_declared_unknown), declared);
    }

    #[test]
    fn what_aws_may_assign_anew_is_unknown() {
        let text = json!({"type": "string"});
        let schema = json!({
            "typeName": "AWS::A::B", "description": "",
            "properties": {
                "Id": text, "Arn": text, "Name": text, "Version": text,
                "Parts": {"type": "array", "items": {"type": "object", "properties": {"A": text, "B": text}}}
            },
            "additionalProperties": false,
            "primaryIdentifier": ["/properties/Id"],
            "additionalIdentifiers": [["/properties/Arn"]],
            "readOnlyProperties": [
                "/properties/Id", "/properties/Arn", "/properties/Version", "/properties/Parts/*/B"
            ]
        });
        let schema = ResourceSchema::parse(&schema.to_string()).unwrap();
        let model = json!({"Id": "i", "Arn": "a", "Name": "n", "Version": "1", "Parts": [{"A": "a", "B": "b"}]});
        let expected = json!({"Id": "i", "Arn": "a", "Name": "n", "Version": unknown(),
            "Parts": [{"A": "a", "B": unknown()}]});
        assert_eq!(schema.with_reassigned(&model), expected);
    }

    #[test]
    fn a_place_is_made_unknown() {
        let model = json!({"A": {"B": 1}, "L": [{"C": 1}], "U": unknown()});
        for (place, expected) in [
            (
                "/A/B",
                json!({"A": {"B": unknown()}, "L": [{"C": 1}], "U": unknown()}),
            ),
            (
                "/A/D",
                json!({"A": {"B": 1, "D": unknown()}, "L": [{"C": 1}], "U": unknown()}),
            ),
            (
                "/L/0/C",
                json!({"A": {"B": 1}, "L": unknown(), "U": unknown()}),
            ),
            ("/U/X", model.clone()),
        ] {
            let mut opened = model.clone();
            make_unknown(&mut opened, place);
            assert_eq!(opened, expected, "{place}");
        }
    }
}
