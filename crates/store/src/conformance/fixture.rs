//! The small world that the cases play in.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, json};
use ucp_model::operation::{Finish, Kind, MappingChange, Options};
use ucp_model::{
    Baseline, CorrelationId, Ended, Failure, GroupBody, GroupId, Identifier, NewPlane,
    NewResourceGroup, Operation, OperationId, PlaneId, PlaneKind, Reference, ReferenceId, Scope,
    Timestamp, TypeName,
};

use crate::{
    Accepted, Claimed, Error, FinishOperation, Forgotten, Job, Lease, LeaseTerm, NewOperation,
    Precondition, Sealed, Store,
};

pub(super) type Engine = Arc<dyn Store>;

/// A minute.
pub(super) const TERM: LeaseTerm = LeaseTerm(Duration::from_secs(60));

/// The answer has to be this error.
macro_rules! refused {
    ($answer:expr, $error:pat $(if $guard:expr)?) => {
        match $answer.await {
            Err($error) $(if $guard)? => {}
            other => panic!("expected {}, got {other:?}", stringify!($error)),
        }
    };
}
pub(super) use refused;

/// `seconds` after the beginning.
pub(super) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(1_767_225_600_000 + seconds * 1_000)
}

pub(super) fn operation_id(number: u64) -> OperationId {
    format!("{number:032x}").parse().unwrap()
}

pub(super) fn group(name: &str) -> GroupId {
    GroupId::new("local", name).unwrap()
}

pub(super) fn type_name() -> TypeName {
    TypeName::from_cloudformation("AWS::Logs::LogGroup").unwrap()
}

/// An alias in the group `rg`.
pub(super) fn alias(name: &str) -> ReferenceId {
    alias_in("rg", name)
}

pub(super) fn alias_in(group_name: &str, name: &str) -> ReferenceId {
    ReferenceId::new(group(group_name), type_name(), name).unwrap()
}

pub(super) fn scope() -> Scope {
    Scope::new("aws", "123456789012", "us-west-2").unwrap()
}

pub(super) fn identifier(name: &str) -> Option<Identifier> {
    Some(Identifier::new(name))
}

pub(super) fn sealed(text: &str) -> Sealed {
    Sealed(text.as_bytes().to_vec())
}

pub(super) fn baseline(text: &str) -> Baseline {
    Baseline {
        declared: json!({ "declared": text }),
        digests: BTreeMap::new(),
    }
}

pub(super) fn correlation() -> CorrelationId {
    CorrelationId::new("deployment-1")
}

/// The group, made at the beginning.
pub(super) async fn with_group(store: &Engine, name: &str) {
    let put = put_group(group(name), "global", "");
    store
        .put_resource_group(put, &Precondition::NONE, at(0))
        .await
        .unwrap();
}

/// A group with a tag and a default tag of `value`.
pub(super) fn put_group(id: GroupId, location: &str, value: &str) -> NewResourceGroup {
    NewResourceGroup {
        id,
        location: location.to_owned(),
        tags: BTreeMap::from([("tag".to_owned(), value.to_owned())]),
        body: GroupBody {
            default_tags: BTreeMap::from([("default".to_owned(), value.to_owned())]),
            deletion: None,
        },
    }
}

pub(super) fn plane(kind: PlaneKind, name: &str) -> PlaneId {
    PlaneId::new(kind, name).unwrap()
}

/// A plane with a tag and a setting of `value`.
pub(super) fn put_plane(id: PlaneId, location: &str, value: &str) -> NewPlane {
    NewPlane {
        id,
        location: location.to_owned(),
        tags: BTreeMap::from([("tag".to_owned(), value.to_owned())]),
        body: Map::from_iter([("setting".to_owned(), json!([value, 1.10]))]),
    }
}

/// A put of an alias in the group `rg`.
pub(super) fn put(number: u64, name: &str) -> NewOperation {
    NewOperation {
        id: operation_id(number),
        kind: Kind::Put,
        scope: scope(),
        type_name: type_name(),
        reference: Some(alias(name)),
        identifier: None,
        options: Options::default(),
        desired: Some(sealed("desired")),
        schema_fingerprint: "fingerprint".to_owned(),
        correlation_id: correlation(),
        caller: "caller".to_owned(),
        parent: None,
        accepted_at: at(1),
    }
}

pub(super) fn delete(number: u64, name: &str) -> NewOperation {
    NewOperation {
        kind: Kind::Delete,
        desired: None,
        ..put(number, name)
    }
}

/// The same by name, under no alias.
pub(super) fn untracked(new: NewOperation, name: &str) -> NewOperation {
    NewOperation {
        reference: None,
        identifier: identifier(name),
        ..new
    }
}

pub(super) async fn accept(store: &Engine, new: NewOperation) -> Accepted {
    store.accept_operation(new).await.unwrap()
}

/// Everything that can be claimed at `now`; nothing of it is on a group.
pub(super) async fn claim(store: &Engine, now: Timestamp) -> Vec<Claimed> {
    let jobs = store.claim_due_operations("worker", now, TERM, 100).await;
    on_resources(jobs.unwrap())
}

/// The jobs as operations on resources, which all of them have to be.
pub(super) fn on_resources(jobs: Vec<Job>) -> Vec<Claimed> {
    let claimed = |job| match job {
        Job::Resource(claimed) => *claimed,
        Job::Group(claimed) => panic!("an operation on a group: {claimed:?}"),
    };
    jobs.into_iter().map(claimed).collect()
}

/// Accepts and claims, when nothing else can be claimed.
pub(super) async fn accept_and_claim(store: &Engine, new: NewOperation) -> Claimed {
    let accepted = accept(store, new).await;
    let mut claimed = claim(store, at(2)).await;
    assert_eq!(claimed.len(), 1, "{claimed:?}");
    let claimed = claimed.remove(0);
    assert_eq!(claimed.operation, accepted.operation);
    claimed
}

pub(super) fn failed() -> Ended {
    Ended::Failed(Failure::new("NotStabilized", "It did not stabilise."))
}

/// The end of `operation` at second 3, on a resource.
pub(super) fn end(
    operation: &Operation,
    ended: Ended,
    mapping: MappingChange,
    name: Option<&str>,
) -> FinishOperation {
    let live = name.map(|name| json!({ "Name": name }));
    let finish = Finish {
        ended,
        identifier: name.map(Identifier::new),
        mapping,
        live,
    };
    FinishOperation {
        operation: operation.finished(finish, at(3)),
        mapping,
        baseline: None,
    }
}

/// A put that ended well.
pub(super) fn applied(operation: &Operation, name: &str, owned: bool) -> FinishOperation {
    let mapping = MappingChange::Applied { owned };
    FinishOperation {
        baseline: Some(baseline(name)),
        ..end(operation, Ended::Succeeded, mapping, Some(name))
    }
}

/// A delete that ended well.
pub(super) fn deleted(operation: &Operation) -> FinishOperation {
    let name = operation.identifier.as_ref().map(Identifier::as_str);
    FinishOperation {
        operation: Operation {
            result: None,
            ..end(operation, Ended::Succeeded, MappingChange::Removed, name).operation
        },
        mapping: MappingChange::Removed,
        baseline: None,
    }
}

pub(super) async fn finish(store: &Engine, lease: &Lease, finish: FinishOperation) {
    store.finish_operation(lease, finish).await.unwrap();
}

/// Has somebody forget the alias at second 7.
pub(super) async fn forget(store: &Engine, name: &str) -> Result<Forgotten, Error> {
    let (id, correlation) = (alias(name), correlation());
    store
        .forget_reference(&id, "somebody", &correlation, at(7))
        .await
}

/// Maps the alias to a resource by a put from start to end.
pub(super) async fn map(
    store: &Engine,
    number: u64,
    name: &str,
    resource: &str,
    owned: bool,
) -> Reference {
    let claimed = accept_and_claim(store, put(number, name)).await;
    let end = applied(&claimed.operation, resource, owned);
    finish(store, &claimed.lease, end).await;
    reference(store, name).await
}

/// The reference, which has to be there.
pub(super) async fn reference(store: &Engine, name: &str) -> Reference {
    store.get_reference(&alias(name)).await.unwrap().unwrap()
}

pub(super) async fn operation(store: &Engine, number: u64) -> Operation {
    store
        .get_operation(operation_id(number))
        .await
        .unwrap()
        .unwrap()
}
