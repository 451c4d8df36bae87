//! The values that the declarations of a set refer to, and the puts of its members.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value};
use ucp_cloud::FaultClass;
use ucp_cpu_pool::Undone;
use ucp_look::{compared_with, contradicted};
use ucp_model::operation::group::{Child, Refusal};
use ucp_model::operation::{GroupWork, Kind, Options};
use ucp_model::{
    ErrorCode, Failure, Identifier, OperationId, ReferenceId, Target, Timestamp, json,
};
use ucp_schema::{
    Declaration, IdentifierOutcome, MAX_DECLARED_CHARS, ResourceSchema, UnknownType, Violation,
};
use ucp_seal::AssociatedData;
use ucp_set::{
    Declarations, DeclaredMember, Expression, Link, RecordedReferent, Referent, Referred,
    Unresolved, links, resolve,
};
use ucp_store::{NewResourceWork, Sealed};

use crate::abandoned::Abandoned;
use crate::engine::Parts;
use crate::stepper::Stepper;

const NOT_VALID: &str = "With the values that it refers to, the declaration is not valid. Nothing was sent to AWS. Correct what the details name.";

/// How many references to what a member is to stand for are looked at.
pub(crate) const REFERENCES_MAX: usize = 100;

/// What is said of a resource of another group.
const ELSEWHERE: &str = "a resource of another group";

/// Why a resource that a declaration refers to cannot be read now.
struct Unread {
    failure: Failure,
    /// Whether it is not there.
    is_missing: bool,
}

impl From<Failure> for Unread {
    fn from(failure: Failure) -> Self {
        Self {
            failure,
            is_missing: false,
        }
    }
}

/// What some references stand for, by their keys.
#[derive(Default)]
struct Values {
    found: BTreeMap<String, Referent>,
    /// Those that are not there, and need not be.
    lost: BTreeSet<String>,
}

impl Values {
    fn value(&self, link: &Link) -> Option<Value> {
        self.found.get(&link.reference.key())?.value(link)
    }

    /// Returns whether a value refers to nothing that is lost.
    fn has_all_of(&self, value: &Value) -> bool {
        let is_lost = |link: &Link| self.lost.contains(&link.reference.key());
        self.lost.is_empty() || !links(value).iter().any(is_lost)
    }
}

impl Stepper<'_> {
    /// Returns what a set declares. It is opened once in a step.
    fn declarations(&mut self) -> Result<Arc<Declarations>, Failure> {
        if let Some(set) = &self.set {
            return Ok(Arc::clone(set));
        }
        let set = Arc::new(self.opened()?);
        self.set = Some(Arc::clone(&set));
        Ok(set)
    }

    fn opened(&self) -> Result<Declarations, Failure> {
        let unreadable = |error: &dyn std::fmt::Display| {
            Failure::new(
                ErrorCode::InternalFailure,
                format!("The stored set cannot be read: {error}."),
            )
        };
        let sealed = self.claimed.documents.desired.as_ref();
        let sealed = sealed.ok_or_else(|| unreadable(&"it is missing"))?;
        let place = AssociatedData::Desired(self.claimed.operation.header.id);
        let keys = &self.engine.parts().keys;
        let opened = keys.sealing.open(place, &sealed.0);
        let opened = opened.map_err(|error| unreadable(&error))?;
        serde_json::from_slice(&opened).map_err(|error| unreadable(&error))
    }

    /// Reads what the outputs of a set refer to. A binding that has lost resources of its own does not keep its instance from
    /// being updated: it has no output. Of an order, those that have a value are returned too, if others have none.
    pub(crate) async fn outputs(
        &mut self,
    ) -> Result<(Result<Value, Refusal>, Option<Value>), Abandoned> {
        let mut outputs = match self.declarations() {
            Ok(declarations) => declarations.outputs.clone(),
            Err(failure) => return Ok((Err(Refusal::Lasting(failure)), None)),
        };
        let work = self.claimed.operation.work.group();
        let order = work.and_then(GroupWork::order);
        let updated = order.filter(|order| order.binding.is_none());
        let updated = updated.map(|order| order.instance.clone());
        let may_lack = |id: &ReferenceId| {
            let mut updated = updated.iter();
            updated.any(|instance| instance.is_of_binding(&id.alias))
        };
        let all = links(&Value::Object(outputs.clone()));
        let values = match self.values(all, may_lack).await? {
            Ok(values) => values,
            Err(failure) => return Ok((Err(Refusal::Later(failure)), None)),
        };
        outputs.retain(|_, output| values.has_all_of(output));
        let outputs = Value::Object(outputs);
        let work = self.claimed.operation.work.group();
        let is_of_order = work.is_some_and(|work| work.order().is_some());
        Ok(match resolve(&outputs, |link| values.value(link)) {
            Err(missing @ Unresolved::Missing(_)) if is_of_order => {
                match without_missing(&outputs, &values) {
                    Ok(there) => {
                        let there = there.unwrap_or(Value::Object(Map::new()));
                        (Err(self.refusal(missing)), Some(there))
                    }
                    Err(unresolved) => (Err(self.refusal(unresolved)), None),
                }
            }
            resolved => (resolved.map_err(|it| self.refusal(it)), None),
        })
    }

    /// Refuses what cannot be resolved. A value that is not there may come.
    fn refusal(&self, unresolved: Unresolved) -> Refusal {
        let is_missing = matches!(unresolved, Unresolved::Missing(_));
        let failure = self.not_resolved(unresolved);
        if is_missing {
            Refusal::Later(failure)
        } else {
            Refusal::Lasting(failure)
        }
    }

    /// Makes the work of a member's put: its declaration, with the values that it refers to.
    pub(crate) async fn put_work(
        &mut self,
        child: &Child,
        (member, options): (usize, Options),
        schema: &Arc<ResourceSchema>,
        operation: OperationId,
    ) -> Result<Result<NewResourceWork, Refusal>, Abandoned> {
        let declarations = match self.declarations() {
            Ok(declarations) => declarations,
            Err(failure) => return Ok(Err(Refusal::Lasting(failure))),
        };
        let declared = declarations.members.get(member).cloned().flatten();
        let Some(DeclaredMember {
            properties,
            default_tags,
        }) = declared
        else {
            return Ok(Err(Refusal::Lasting(not_declared())));
        };
        let properties = Value::Object(properties);
        // What a plan has shown stays as it was.
        let pinned = |link: &Link| declarations.pinned(link).cloned();
        let mut open = links(&properties);
        open.retain(|link| declarations.pinned(link).is_none());
        let values = match self.values(open, |_| false).await? {
            Ok(values) => values,
            Err(failure) => return Ok(Err(Refusal::Later(failure))),
        };
        let value_of = |link: &Link| pinned(link).or_else(|| values.value(link));
        let mut referred = Referred::since(self.referred_bytes);
        let size_of = |link: &Link| value_of(link).map_or(0, |value| json::length(&value));
        if let Err(failure) = referred.take("/properties", &properties, size_of) {
            return Ok(Err(Refusal::Lasting(failure)));
        }
        let before = std::mem::replace(&mut self.referred_bytes, referred.bytes());
        let referred_bytes = referred.bytes() - before;
        let resolved = match resolve(&properties, value_of) {
            Ok(Value::Object(resolved)) => resolved,
            Ok(_) => return Ok(Err(Refusal::Lasting(not_an_object()))),
            Err(unresolved) => return Ok(Err(self.refusal(unresolved))),
        };
        let is_quick = schema.is_quick_for([&Value::Object(resolved.clone())]);
        let parse = {
            let schema = Arc::clone(schema);
            move || Declaration::parse(resolved, &schema, &default_tags, None)
        };
        if !is_quick {
            self.turn.arm(&mut self.claimed.lease).await?;
        }
        let parts = self.engine.parts();
        let declaration = match parts.pool.run_unless_quick(is_quick, parse).await? {
            Ok(declaration) => declaration,
            Err(violations) => {
                let failure = Violation::refusal(NOT_VALID, violations);
                return Ok(Err(Refusal::Lasting(failure)));
            }
        };
        let Parts { keys, entropy, .. } = parts;
        let text = zeroize::Zeroizing::new(declaration.properties().to_string());
        if text.chars().count() > MAX_DECLARED_CHARS {
            return Ok(Err(Refusal::Lasting(
                self.not_resolved(Unresolved::TooLong),
            )));
        }
        let place = AssociatedData::Desired(operation);
        let desired = keys.sealing.seal(place, text.as_bytes(), entropy.as_ref());
        let identifier = match schema.identifier(declaration.properties()) {
            IdentifierOutcome::Known(identifier) => Some(identifier),
            IdentifierOutcome::AssignedByAws | IdentifierOutcome::Missing(_) => None,
        };
        let compared = self.compared(child, identifier.as_ref(), &declaration, schema);
        let compared_with = match Box::pin(compared).await? {
            Ok(compared_with) => compared_with,
            Err(failure) => return Ok(Err(Refusal::Lasting(failure))),
        };
        Ok(Ok(NewResourceWork {
            marked_for: Some(child.reference.clone()).filter(|_| !schema.is_named_by_aws()),
            has_name: schema.is_named_in(declaration.properties()),
            reference: Some(child.reference.clone()),
            identifier,
            compared_with,
            referred_bytes,
            options,
            desired: Some(Sealed(desired)),
            schema_fingerprint: schema.fingerprint().to_owned(),
            ..NewResourceWork::new(Kind::Put, child.scope.clone(), schema.type_name().clone())
        }))
    }

    /// Compares the put of a member with the references to its resource, and returns how many there are; or why it is refused to
    /// make another one.
    async fn compared(
        &self,
        child: &Child,
        identifier: Option<&Identifier>,
        declaration: &Declaration,
        schema: &ResourceSchema,
    ) -> Result<Result<usize, Failure>, Abandoned> {
        let Some(identifier) = identifier else {
            return Ok(Ok(0));
        };
        let target = Target {
            scope: &child.scope,
            type_name: schema.type_name(),
            identifier,
        };
        let (own, store) = (&child.reference, &self.engine.parts().store);
        let mut others = store.references_to(&[target.key()], REFERENCES_MAX).await?;
        if others.len() == REFERENCES_MAX {
            // Its own may be among those that were not read.
            others.extend(store.get_reference(own).await?);
        }
        let is_of_group = |other: &ReferenceId| other.group.key() == own.group.key();
        let declared = declaration.properties();
        Ok(
            match contradicted(own, declared, &others, schema, is_of_group) {
                Some(failure) => Err(failure),
                None => Ok(compared_with(own, &others, REFERENCES_MAX)),
            },
        )
    }

    /// Returns the values of references, or why they cannot be read now. What `may_lack` says need not be there.
    async fn values(
        &mut self,
        links: Vec<Link>,
        may_lack: impl Fn(&ReferenceId) -> bool,
    ) -> Result<Result<Values, Failure>, Abandoned> {
        let mut values = Values::default();
        let mut referred: BTreeMap<String, Vec<Link>> = BTreeMap::new();
        for link in links {
            referred.entry(link.reference.key()).or_default().push(link);
        }
        for (key, links) in referred {
            match self.found(&links).await? {
                Ok(found) => _ = values.found.insert(key, found),
                Err(unread) => {
                    let mut ids = links.iter().map(|link| &link.reference);
                    if !unread.is_missing || !ids.all(&may_lack) {
                        return Ok(Err(unread.failure));
                    }
                    values.lost.insert(key);
                }
            }
        }
        Ok(Ok(values))
    }

    /// Returns the resource that all of these refer to as it was seen since the set was accepted, or else as AWS shows it
    /// now.
    async fn found(&mut self, links: &[Link]) -> Result<Result<Referent, Unread>, Abandoned> {
        let Some(Link { reference: id, .. }) = links.first() else {
            return Ok(Err(not_declared().into()));
        };
        let Parts {
            store,
            types,
            cloud,
            ..
        } = self.engine.parts();
        let is_of_group = self.is_of_group(id);
        let name = if is_of_group {
            format!("'{}'", id.alias)
        } else {
            ELSEWHERE.to_owned()
        };
        let about = |failure: Failure| {
            if is_of_group {
                failure.with_target(id.to_string())
            } else {
                failure
            }
        };
        let not_there = || {
            let message = format!(
                "{name} stands for no AWS resource. Its set or its put has to make it first."
            );
            Unread {
                failure: about(Failure::new(ErrorCode::NotFound, message)),
                is_missing: true,
            }
        };
        let accepted_at = self.claimed.operation.header.accepted_at;
        let is_enough = |seen: &Referent, at: Option<Timestamp>| {
            let is_recent = at.is_some_and(|at| at >= accepted_at);
            is_recent && links.iter().all(|link| seen.value(link).is_some())
                || links.iter().all(|link| link.pointer.is_none())
        };
        let unread = match RecordedReferent::of(store.get_reference(id).await?, is_enough) {
            RecordedReferent::Nothing => return Ok(Err(not_there())),
            RecordedReferent::Known(known) => return Ok(Ok(known)),
            RecordedReferent::Unread(unread) => *unread,
        };
        let schema = types.get(&unread.scope, &unread.type_name);
        let lease = &mut self.claimed.lease;
        let schema = match self.turn.call_armed(lease, schema).await? {
            Ok(schema) => schema,
            Err(UnknownType::Store(error)) => return Err(Abandoned::Schema(error)),
            Err(UnknownType::Busy) => return Err(Undone::Busy.into()),
            Err(
                unknown @ (UnknownType::Missing { .. }
                | UnknownType::Refused(_)
                | UnknownType::Unusable(_)
                | UnknownType::Unreachable(_)),
            ) => {
                let message = if is_of_group {
                    format!("Reading {name} failed: {unknown}.")
                } else {
                    format!("The schema of {name} cannot be read.")
                };
                let failure = Failure::new(ErrorCode::ServiceUnavailable, message);
                return Ok(Err(about(failure).into()));
            }
        };
        if !schema.handlers().read {
            return Ok(Ok(unread.without_read(Some(&schema))));
        }
        let read = cloud.get_resource(&unread.scope, schema.type_name(), &unread.identifier);
        Ok(match self.turn.call(lease, read).await? {
            Ok(description) => Ok(unread.with(&description.properties, &schema)),
            Err(fault) => {
                let mut failure = Failure::from(&fault);
                // The words of AWS may name the resource.
                failure.message = if is_of_group {
                    format!("Reading {name} failed: {}", failure.message)
                } else {
                    format!("Reading {name} failed with {}.", failure.code)
                };
                Err(Unread {
                    failure: about(failure),
                    is_missing: fault.class == FaultClass::Missing,
                })
            }
        })
    }

    /// Whoever reads the operation may read its group, and not always others that its set refers to.
    fn is_of_group(&self, id: &ReferenceId) -> bool {
        let mut groups = self.claimed.operation.work.groups();
        groups.any(|group| group.key() == id.group.key())
    }

    fn not_resolved(&self, unresolved: Unresolved) -> Failure {
        let (code, why) = match &unresolved {
            Unresolved::Missing(link) if !self.is_of_group(&link.reference) => (
                ErrorCode::NotFound,
                format!("there is no value of {ELSEWHERE}"),
            ),
            Unresolved::NotText(link) if !self.is_of_group(&link.reference) => (
                ErrorCode::InvalidRequest,
                format!("a value of {ELSEWHERE} cannot be part of a text"),
            ),
            Unresolved::Missing(_) => (ErrorCode::NotFound, unresolved.to_string()),
            Unresolved::NotText(_) | Unresolved::TooLong | Unresolved::NotLinked(_) => {
                (ErrorCode::InvalidRequest, unresolved.to_string())
            }
        };
        let message = format!(
            "The declaration cannot be completed: {why}. Correct it, or what it refers to."
        );
        Failure::new(code, message)
    }
}

/// Returns what an order hands out without the members that have no value, and without elements of lists that have such a
/// member. `None` if nothing is left of it. Fails with what is wrong otherwise.
fn without_missing(value: &Value, values: &Values) -> Result<Option<Value>, Unresolved> {
    let missing = match resolve(value, |link| values.value(link)) {
        Ok(resolved) => return Ok(Some(resolved)),
        Err(missing @ Unresolved::Missing(_)) => missing,
        Err(other) => return Err(other),
    };
    match value {
        Value::Object(members) if Expression::read(value).is_none() => {
            let mut there = Map::new();
            for (name, member) in members {
                if let Some(member) = without_missing(member, values)? {
                    there.insert(name.clone(), member);
                }
            }
            Ok(Some(Value::Object(there)))
        }
        Value::Array(elements) => {
            let mut there = Vec::new();
            for element in elements {
                match resolve(element, |link| values.value(link)) {
                    Ok(element) => there.push(element),
                    Err(Unresolved::Missing(_)) => {}
                    Err(other) => return Err(other),
                }
            }
            Ok(Some(Value::Array(there)))
        }
        Value::Object(_) => Ok(None),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Err(missing),
    }
}

fn not_an_object() -> Failure {
    Failure::new(ErrorCode::InternalFailure, "The declaration is no object.")
}

fn not_declared() -> Failure {
    let message = "The stored set does not declare this resource. Nothing was sent to AWS. Apply the set again.";
    Failure::new(ErrorCode::InternalFailure, message)
}
