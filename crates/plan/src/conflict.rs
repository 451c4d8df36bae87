//! Two declarations of one resource that contradict each other.

use std::collections::BTreeMap;

use serde_json::Value;
use ucp_model::json::Step;
use ucp_model::pointer::PointerBuf;
use ucp_schema::{Classes, Cursor, ResourceSchema, holds_unknown, is_unknown};

use crate::budget::Budget;
use crate::same::Sameness;
use crate::{document, tags};

/// Returns the first place, a JSON Pointer, that two declarations of one resource declare otherwise: the put of each would undo what
/// the other one declares. What only one of them declares is no contradiction, nor are the tags of different keys. Values that no
/// read returns are not compared, nor are the parts of the identifier: it is one resource, however they spell it.
pub fn declared_otherwise(one: &Value, other: &Value, schema: &ResourceSchema) -> Option<String> {
    let budget = Budget::new();
    let comparison = Comparison {
        same: Sameness {
            root: one,
            budget: &budget,
        },
        identifier: schema
            .primary_identifier()
            .iter()
            .map(|path| path.pointer())
            .collect(),
    };
    let mut place = PointerBuf::root();
    let differs = comparison.differs((one, other), schema.root(), one, &mut place);
    differs.then(|| place.as_str().to_owned())
}

struct Comparison<'a> {
    same: Sameness<'a>,
    /// The places of the identifier.
    identifier: Vec<String>,
}

impl Comparison<'_> {
    /// Returns whether two values contradict each other, and leaves the place in `place`.
    fn differs(
        &self,
        (one, other): (&Value, &Value),
        cursor: Cursor<'_>,
        parent: &Value,
        place: &mut PointerBuf,
    ) -> bool {
        if cursor.is(Classes::WRITE_ONLY) || one.is_null() || other.is_null() {
            return false;
        }
        if self.identifier.iter().any(|part| part == place.as_str()) {
            return false;
        }
        // What is not known yet is compared when it is.
        if is_unknown(one) || is_unknown(other) {
            return false;
        }
        match (one, other) {
            (Value::Object(members), Value::Object(others)) if !document::is_policy(one) => {
                for (name, member) in members {
                    let (Some(other), Some(below)) = (others.get(name), cursor.member(name)) else {
                        continue;
                    };
                    place.push_back(Step::Member(name));
                    if self.differs((member, other), below, one, place) {
                        return true;
                    }
                    place.pop_back();
                }
                false
            }
            (Value::Array(elements), Value::Array(others)) if cursor.is(Classes::TAGS) => {
                let by_key = |(index, tag)| Some((tags::key(tag)?, (index, tag)));
                let others: BTreeMap<&str, (usize, &Value)> =
                    others.iter().enumerate().filter_map(by_key).collect();
                for (index, tag) in elements.iter().enumerate() {
                    let other = tags::key(tag).and_then(|key| others.get(key));
                    let Some((_, other)) = other else { continue };
                    place.push_back(Step::Element(index));
                    if self.differs((tag, other), cursor.element(), one, place) {
                        return true;
                    }
                    place.pop_back();
                }
                false
            }
            _ if holds_unknown(one) || holds_unknown(other) => false,
            _ => {
                !self.same.holds(one, other, cursor, parent)
                    && !self.same.holds(other, one, cursor, parent)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use ucp_model::TypeName;
    use ucp_schema::Catalogue;

    use super::*;

    fn otherwise(type_name: &str, one: &Value, other: &Value) -> Option<String> {
        let name = TypeName::from_cloudformation(type_name).unwrap();
        let schema = Catalogue::embedded().get(&name).unwrap();
        declared_otherwise(one, other, &schema)
    }

    #[test]
    fn only_what_both_declare_otherwise_is_a_contradiction() {
        let tag = |key: &str, value: &str| json!({"Key": key, "Value": value});
        let logs = json!({"LogGroupName": "a", "RetentionInDays": 7, "Tags": [tag("a", "x")]});
        for (other, place) in [
            (json!({"LogGroupName": "a"}), None),
            (json!({"LogGroupName": "A", "RetentionInDays": 7}), None),
            (
                json!({"LogGroupName": "a", "RetentionInDays": 14}),
                Some("/RetentionInDays"),
            ),
            (
                json!({"RetentionInDays": 7.0, "KmsKeyId": "k", "Tags": [tag("b", "y")]}),
                None,
            ),
            (
                json!({"Tags": [tag("b", "y"), tag("a", "z")]}),
                Some("/Tags/0/Value"),
            ),
        ] {
            let found = otherwise("AWS::Logs::LogGroup", &logs, &other);
            assert_eq!(found.as_deref(), place, "{other}");
        }
    }

    #[test]
    fn a_document_in_another_form_is_the_same() {
        let of = |document: Value| json!({"RoleName": "r", "AssumeRolePolicyDocument": document});
        let document = |action: &str| json!({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": action}]});
        let (one, listed) = (
            document("a"),
            json!({"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Action": ["a"]}}),
        );
        let role = "AWS::IAM::Role";
        assert_eq!(otherwise(role, &of(one.clone()), &of(listed)), None);
        let place = otherwise(role, &of(one), &of(document("b")));
        assert_eq!(place.as_deref(), Some("/AssumeRolePolicyDocument"));
    }

    /// Nobody could tell which of them AWS has.
    #[test]
    fn secrets_are_not_compared() {
        let secret = |text: &str| json!({"Name": "s", "SecretString": text});
        let found = otherwise("AWS::SecretsManager::Secret", &secret("a"), &secret("b"));
        assert_eq!(found, None);
    }
}
