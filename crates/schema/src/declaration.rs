use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};
use ucp_model::json;

use crate::unknown::{StandIn, stand_ins};
use crate::{ResourceSchema, Violation, ViolationCode};

/// The maximum length of the declared properties as JSON: what Cloud Control accepts of a desired state, in characters.
pub const MAX_DECLARED_CHARS: usize = 262_144;

/// A member of our replies that clients send back. It is never declared.
pub const PROVISIONING_STATE: &str = "provisioningState";

/// Whether a declaration may have unknown values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// It may: somebody asks what would happen.
    Allowed,
    /// It may not: it is to be applied.
    Refused,
}

/// The declared properties of a resource.
#[derive(Clone, PartialEq)]
pub struct Declaration(Value);

impl Declaration {
    /// Parses the properties of a request. `null` and members that only replies have are dropped. Default tags, and
    /// `named`, the [properties of the identifier](ResourceSchema::properties_of_identifier) in the URL, are added.
    ///
    /// Fails with all violations that do not depend on live state: values of a wrong type, unknown properties, control
    /// characters, unknown values, references to other resources, contradictions to the identifier, and the tag that marks
    /// a reference's resource.
    pub fn parse(
        properties: Map<String, Value>,
        schema: &ResourceSchema,
        default_tags: &BTreeMap<String, String>,
        named: Option<&Value>,
    ) -> Result<Self, Vec<Violation>> {
        let (declaration, violations) = Self::draft(properties, schema, default_tags, named);
        declaration.judged(violations, Unknown::Refused)
    }

    /// Returns the declaration if nothing is wrong with it: nothing that was found by then, and no value stands for another one, but for
    /// unknown ones if these are allowed.
    pub fn judged(
        self,
        mut violations: Vec<Violation>,
        unknown: Unknown,
    ) -> Result<Self, Vec<Violation>> {
        for (pointer, stands_for) in stand_ins(self.properties()) {
            let what = match stands_for {
                StandIn::Unknown if unknown == Unknown::Allowed => continue,
                StandIn::Unknown => "is not known yet; put it once it is, or ask for a :whatIf",
                StandIn::NearlyUnknown => {
                    "is neither a value nor {\"$unknown\": true}, which has no other members"
                }
                StandIn::Expression => {
                    "refers to another resource, which only a set may do; send it with the :apply of a group"
                }
            };
            violations.extend(invalid(vec![pointer], what));
        }
        if violations.is_empty() {
            Ok(self)
        } else {
            Err(violations)
        }
    }

    /// Like [`parse`](Self::parse), for a plan that is only displayed: the declaration is returned with its violations,
    /// and may contain unknown values.
    pub fn draft(
        properties: Map<String, Value>,
        schema: &ResourceSchema,
        default_tags: &BTreeMap<String, String>,
        named: Option<&Value>,
    ) -> (Self, Vec<Violation>) {
        let mut properties = Value::Object(properties);
        json::drop_nulls(&mut properties);
        if let Some(members) = properties.as_object_mut() {
            members.shift_remove(PROVISIONING_STATE);
        }
        schema.add_default_tags(&mut properties, default_tags);
        let contradictions = match named {
            Some(named) => schema.declare_identifier(named, &mut properties),
            None => Vec::new(),
        };
        let mut violations = invalid(
            contradictions,
            "contradicts the name in the URL; leave it out",
        );
        violations.extend(schema.validate_declaration(&properties));
        violations.extend(control_characters(&properties));
        violations.extend(invalid(
            schema.declared_marks(&properties),
            "is the tag with which ucp marks what it creates; leave it out, ucp keeps it on the resource",
        ));
        (Self(properties), violations)
    }

    /// Wraps the stored properties of a parsed declaration. They are not checked again.
    pub fn stored(properties: Value) -> Self {
        Self(properties)
    }

    /// Wraps properties without checks, for a plan that is only displayed.
    pub fn unjudged(mut properties: Value) -> Self {
        json::drop_nulls(&mut properties);
        Self(properties)
    }

    /// Returns the properties, without `null` members.
    pub fn properties(&self) -> &Value {
        &self.0
    }
}

impl fmt::Debug for Declaration {
    /// Formats it without the properties, which may contain write-only values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Declaration").finish_non_exhaustive()
    }
}

fn invalid(pointers: Vec<String>, what: &str) -> Vec<Violation> {
    let violation =
        |pointer: &String| Violation::expected(pointer, ViolationCode::InvalidValue, what);
    pointers.iter().map(violation).collect()
}

/// Finds control characters other than line breaks and tabs. No AWS property contains them, and NUL in particular
/// breaks later readers.
fn control_characters(properties: &Value) -> Vec<Violation> {
    let is_control = |letter: char| letter < ' ' && !matches!(letter, '\t' | '\n' | '\r');
    let mut violations = Vec::new();
    json::walk(properties, |place, value| {
        if (place.back()).is_some_and(|name| name.decoded().contains(is_control)) {
            violations.push(Violation {
                pointer: place.to_string(),
                message: "a member's name holds a control character".to_owned(),
                code: ViolationCode::InvalidValue,
            });
        }
        if (value.as_str()).is_some_and(|text| text.contains(is_control)) {
            let pointer = vec![place.to_string()];
            violations.extend(invalid(pointer, "holds a control character"));
        }
    });
    violations
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use ucp_model::{Identifier, TypeName};

    use super::*;
    use crate::Catalogue;

    fn parse(properties: Value, tag: &str, name: &str) -> Result<Value, Vec<String>> {
        let name_of_type = TypeName::from_cloudformation("AWS::Logs::LogGroup").unwrap();
        let schema = Catalogue::embedded().get(&name_of_type).unwrap();
        let named = schema.properties_of_identifier(&Identifier::new(name));
        let tags = BTreeMap::from([("team".to_owned(), tag.to_owned())]);
        let properties = properties.as_object().cloned().unwrap();
        match Declaration::parse(properties, &schema, &tags, named.as_ref()) {
            Ok(declaration) => Ok(declaration.properties().clone()),
            Err(violations) => Err(violations.iter().map(Violation::to_string).collect()),
        }
    }

    #[test]
    fn it_is_without_nulls_with_tags_and_with_the_name() {
        let declared = json!({
            "RetentionInDays": null,
            "provisioningState": "Succeeded",
            "Tags": [{"Key": "a", "Value": "b"}],
        });
        assert_eq!(
            parse(declared, "platform", "logs"),
            Ok(json!({
                "Tags": [{"Key": "a", "Value": "b"}, {"Key": "team", "Value": "platform"}],
                "LogGroupName": "logs",
            }))
        );
    }

    #[test]
    fn all_that_is_wrong_is_told_at_once() {
        let declared = json!({
            "LogGroupName": "other",
            "RetentionInDays": "soon",
            "KmsKeyId": {"$unknown": true},
            "DeletionProtectionEnabled": {"$reference": "other#/Arn"},
            "LogGroupClass": "a\u{0}",
            "b\u{1}": 1,
        });
        let told = parse(declared, "platform", "logs").unwrap_err();
        let expected = [
            "`/LogGroupName`: contradicts the name in the URL; leave it out",
            "`/RetentionInDays`: expected an integer, got a string",
            "`/DeletionProtectionEnabled`: expected a boolean, got an object",
            "`/b\u{1}` is not a property of AWS::Logs::LogGroup",
            "`/LogGroupClass`: holds a control character",
            "a member's name holds a control character",
            "`/KmsKeyId`: is not known yet; put it once it is, or ask for a :whatIf",
            "`/DeletionProtectionEnabled`: refers to another resource, which only a set may do; send it with the :apply of a group",
        ];
        assert_eq!(told, expected);
    }
}
