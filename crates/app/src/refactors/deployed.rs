//! What is deployed in groups, as a refactor compares it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use serde_json::{Map, Value};
use ucp_model::{Baseline, Digest, ErrorCode, Failure, Reference, ResourceGroup, json, pointer};
use ucp_refactor::{Deployed, LastSecrets, RESOURCES_MAX};
use ucp_schema::{Classes, ResourceSchema};
use ucp_store::Limit;

use crate::ground::refusal::no_such_group;
use crate::in_flight::recorded_by;
use crate::listed::PAGE_MAX_BYTES;
use crate::{RefactorCases, Rejection, Room};

/// How much is compared of what is known of the resources in the named groups: last declarations and models, as JSON.
pub(crate) const DEPLOYED_MAX_BYTES: usize = 64 << 20;
/// How many references are read at once.
const PAGE: Limit = Limit {
    items: 200,
    bytes: PAGE_MAX_BYTES,
};

impl RefactorCases {
    /// Returns the references of groups, and takes room for each page of them before the next is read. One more than may be
    /// compared, if there are so many.
    pub(super) async fn deployed(
        &self,
        groups: &[&ResourceGroup],
        room: &Room,
    ) -> Result<Vec<Reference>, Rejection> {
        let (mut deployed, mut bytes) = (Vec::new(), 0);
        for group in groups {
            let mut after = None;
            loop {
                let store = &self.ground.store;
                let page = store.list_references(&group.id, None, after.as_ref(), PAGE);
                let page = match page.await {
                    Err(ucp_store::Error::NoSuchGroup) => return Err(no_such_group(&group.id)),
                    other => other?,
                };
                after = page.items.last().map(|last| last.id.clone());
                bytes += page.items.iter().map(known_bytes).sum::<usize>();
                judge_known(bytes)?;
                room.take(page.items.iter().map(recorded_by).sum())?;
                deployed.extend(page.items);
                if deployed.len() > RESOURCES_MAX {
                    return Ok(deployed);
                }
                if !page.is_limited {
                    break;
                }
            }
        }
        Ok(deployed)
    }
}

fn judge_known(bytes: usize) -> Result<(), Rejection> {
    if bytes <= DEPLOYED_MAX_BYTES {
        return Ok(());
    }
    let message = format!(
        "What is known of the resources in these groups is more than {DEPLOYED_MAX_BYTES} bytes of JSON, and no more is compared at once. Name fewer groups."
    );
    let failure = Failure::new(ErrorCode::BadRequest, message);
    Err(Rejection::Invalid(failure))
}

/// Returns the length of what is known of a reference, as JSON.
fn known_bytes(reference: &Reference) -> usize {
    let declared = reference.baseline.as_ref().map(|last| &last.declared);
    let known = [declared, reference.observed.as_ref()];
    known.into_iter().flatten().map(json::length).sum()
}

/// Tags that are not compared, by type: those of the configuration, of the groups, and of the body.
#[derive(Debug, Default)]
pub(super) struct DefaultTags {
    /// By type and key: the values.
    known: HashMap<String, HashMap<String, HashSet<String>>>,
}

impl DefaultTags {
    /// Adds tags of a resource of a type.
    pub(super) fn add(&mut self, schema: &ResourceSchema, tags: BTreeMap<String, String>) {
        let known = self.known.entry(type_key(schema)).or_default();
        for (key, value) in tags {
            known.entry(key).or_default().insert(value);
        }
    }

    /// Returns the part of a declaration that is such tags.
    pub(super) fn among(&self, properties: &Value, schema: &ResourceSchema) -> Value {
        let known = self.known.get(&type_key(schema));
        schema.tags_among(properties, |key, value| {
            let values = known.and_then(|known| known.get(key));
            values.is_some_and(|values| values.contains(value))
        })
    }
}

fn type_key(schema: &ResourceSchema) -> String {
    schema.type_name().as_str().to_ascii_lowercase()
}

/// Returns a reference as it is compared, with the id of the current digest key. `schema` is `None` if its type is not known any more:
/// then its identifier is.
pub(super) fn compared(
    reference: &Reference,
    schema: Option<&Arc<ResourceSchema>>,
    default_tags: &DefaultTags,
    digest_key: &str,
) -> Deployed {
    let declared = reference.last_put().map(|last| last.declared.clone());
    Deployed {
        address: reference.id.clone(),
        scope: reference.scope.clone(),
        identifier: reference.identifier.clone(),
        attributes: schema.map_or_else(BTreeMap::new, |schema| attributes(reference, schema)),
        default_tags: match (schema, &declared) {
            (Some(schema), Some(declared)) => default_tags.among(declared, schema),
            _ => Value::Object(Map::new()),
        },
        declared,
        // A baseline has none.
        write_only: BTreeSet::new(),
        secrets: secrets(reference, digest_key),
    }
}

/// Returns what is known of the write-only values that were last put.
fn secrets(reference: &Reference, digest_key: &str) -> LastSecrets {
    let Some(Baseline {
        digests,
        unconfirmed,
        ..
    }) = reference.last_put()
    else {
        return LastSecrets::None;
    };
    let has_key = |digest: &Digest| digest.key_id == digest_key;
    match digests.values().all(has_key) && unconfirmed.is_empty() {
        true if digests.is_empty() => LastSecrets::None,
        true => LastSecrets::Known,
        false => LastSecrets::Unknown,
    }
}

/// Returns the read-only properties as last observed, and those that the identifier consists of.
fn attributes(reference: &Reference, schema: &ResourceSchema) -> BTreeMap<String, Value> {
    let identifier = reference.identifier.as_ref();
    let parts = identifier.and_then(|identifier| schema.properties_of_identifier(identifier));
    let mut attributes = BTreeMap::new();
    for model in [reference.observed.as_ref(), parts.as_ref()]
        .into_iter()
        .flatten()
    {
        schema.each_of(Classes::READ_ONLY, model, |place, value| {
            leaves(value, place, &mut attributes);
        });
    }
    attributes
}

/// Adds the texts, numbers and Booleans of a value, with their places.
fn leaves(value: &Value, place: &str, attributes: &mut BTreeMap<String, Value>) {
    match value {
        Value::Null => {}
        Value::Array(_) | Value::Object(_) => {
            for (step, child) in json::children(value) {
                leaves(child, &below(place, step), attributes);
            }
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            attributes.insert(place.to_owned(), value.clone());
        }
    }
}

fn below(place: &str, step: json::Step<'_>) -> String {
    match step {
        json::Step::Member(name) => pointer::join(place, name),
        json::Step::Element(index) => format!("{place}/{index}"),
    }
}

#[cfg(test)]
mod tests {
    use ucp_model::{GroupId, Lineage, ProvisioningState, ReferenceId, Scope, Timestamp, TypeName};

    use serde_json::json;

    use super::*;

    fn observed(model: Value) -> Reference {
        let type_name = TypeName::from_cloudformation("AWS::EC2::VPC").unwrap();
        let group = GroupId::new("local", "rg").unwrap();
        let id = ReferenceId::new(group, type_name, "net").unwrap();
        let now = Timestamp::from_millis(0);
        Reference {
            lineage: Lineage::of(&id),
            id,
            scope: Scope::new("aws", "1", "us-west-2").unwrap(),
            identifier: None,
            owned: true,
            told_to_own: false,
            marked: false,
            tags: BTreeMap::new(),
            operation: None,
            provisioning_state: ProvisioningState::Succeeded,
            baseline: None,
            observed: Some(model),
            observed_at: None,
            created_at: now,
            updated_at: now,
            revision: 1,
            moves: 0,
        }
    }

    /// What is known of these digests and of what is unconfirmed, with the key `b`.
    fn known(key_ids: &[&str], unconfirmed: &[&str]) -> LastSecrets {
        let digest = |key_id: &str| Digest {
            key_id: key_id.to_owned(),
            hmac: String::new(),
        };
        let places = ["/A", "/B"].map(str::to_owned);
        let reference = Reference {
            baseline: Some(Baseline {
                digests: places
                    .into_iter()
                    .zip(key_ids.iter().map(|it| digest(it)))
                    .collect(),
                unconfirmed: unconfirmed.iter().map(|&it| it.to_owned()).collect(),
                ..Baseline::default()
            }),
            ..observed(json!({}))
        };
        secrets(&reference, "b")
    }

    #[test]
    fn digests_of_another_key_and_what_is_unconfirmed_tell_nothing() {
        assert_eq!(secrets(&observed(json!({})), "b"), LastSecrets::None);
        assert_eq!(known(&[], &[]), LastSecrets::None);
        assert_eq!(known(&["b", "b"], &[]), LastSecrets::Known);
        assert_eq!(known(&["b", "a"], &[]), LastSecrets::Unknown);
        assert_eq!(known(&["b"], &["/A"]), LastSecrets::Unknown);
        assert_eq!(known(&[], &["/A"]), LastSecrets::Unknown);
    }

    #[test]
    fn what_was_imported_has_no_content() {
        let imported = observed(json!({"CidrBlock": "10.0.0.0/16"}));
        let compared = compared(&imported, None, &DefaultTags::default(), "b");
        assert_eq!(compared.declared, None);
    }

    #[test]
    fn so_much_is_compared_and_no_more() {
        assert_eq!(known_bytes(&observed(json!({"a": [1]}))), 9);
        assert!(judge_known(DEPLOYED_MAX_BYTES).is_ok());
        assert!(judge_known(DEPLOYED_MAX_BYTES + 1).is_err());
    }
}
