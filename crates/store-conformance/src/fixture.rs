//! Shared fixtures of the cases.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use ucp_access::{Assignment, Grant, Role, Subject};
use ucp_model::operation::group::{Application, GroupState, Task};
use ucp_model::operation::resource::Finish;
use ucp_model::operation::{
    Call, GroupWork, Header, Intent, Kind, ReferenceChange, ResourceWork, Work,
};
use ucp_model::{
    Baseline, CorrelationId, Ended, Failure, GroupBody, GroupId, Identifier, Lineage, NewPlane,
    NewResourceGroup, Operation, OperationId, PlaneId, PlaneKind, ProvisioningState, Reference,
    ReferenceId, RoleAssignmentId, Scope, Timestamp, TypeName,
};
use ucp_store::{
    Accepted, Claimed, Error, FinishOperation, Forgotten, Lease, LeaseTerm, NewOperation,
    NewResourceWork, NewRoleAssignment, NewWork, Precondition, Sealed, Store,
};

pub(super) type Engine = Arc<dyn Store>;

/// A minute.
pub(super) const TERM: LeaseTerm = LeaseTerm(Duration::from_secs(60));

/// Asserts that the result is this error.
macro_rules! refused {
    ($answer:expr, $error:pat $(if $guard:expr)?) => {
        match $answer.await {
            Err($error) $(if $guard)? => {}
            other => panic!("expected {}, got {other:?}", stringify!($error)),
        }
    };
}
pub(super) use refused;

/// Returns the time `seconds` after the start.
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

/// The text of a value that [`sealed`] has made.
pub(super) fn text(sealed: &Sealed) -> String {
    String::from_utf8_lossy(&sealed.0).into_owned()
}

pub(super) fn baseline(text: &str) -> Baseline {
    Baseline {
        declared: json!({ "declared": text }),
        ..Baseline::default()
    }
}

pub(super) fn correlation() -> CorrelationId {
    CorrelationId::new("deployment-1")
}

/// Creates the group at time 0.
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
            ..GroupBody::default()
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

/// A role of `bob` that `alice` gives.
pub(super) fn new_assignment(
    id: RoleAssignmentId,
    role: Role,
    scopes: Vec<ucp_access::Scope>,
) -> NewRoleAssignment {
    let bob = Subject::User("bob".to_owned());
    NewRoleAssignment {
        id,
        location: "global".to_owned(),
        tags: BTreeMap::new(),
        body: Assignment {
            grant: Grant::new(bob, role, scopes).unwrap(),
            created_by: "alice".to_owned(),
            modified_by: "alice".to_owned(),
        },
    }
}

/// A put under an alias in the group `rg`.
pub(super) fn put(number: u64, name: &str) -> NewOperation {
    NewOperation {
        id: operation_id(number),
        parent: None,
        correlation_id: correlation(),
        caller: "caller".to_owned(),
        keeps_plan_policy: false,
        accepted_at: at(1),
        work: NewWork::Resource(Box::new(NewResourceWork {
            reference: Some(alias(name)),
            compared_with: usize::MAX,
            desired: Some(sealed("desired")),
            schema_fingerprint: "fingerprint".to_owned(),
            ..NewResourceWork::new(Kind::Put, scope(), type_name())
        })),
    }
}

pub(super) fn delete(number: u64, name: &str) -> NewOperation {
    with(put(number, name), |new| {
        new.kind = Kind::Delete;
        new.desired = None;
    })
}

/// The same with a change to its work on a resource.
pub(super) fn with(
    mut new: NewOperation,
    change: impl FnOnce(&mut NewResourceWork),
) -> NewOperation {
    match &mut new.work {
        NewWork::Resource(work) => change(work),
        NewWork::Group { .. } => panic!("an operation on a group: {new:?}"),
    }
    new
}

/// The same for a request that determines the identifier.
pub(super) fn named(new: NewOperation, name: &str) -> NewOperation {
    with(new, |new| new.identifier = identifier(name))
}

/// The same by name, without a reference.
pub(super) fn untracked(new: NewOperation, name: &str) -> NewOperation {
    with(named(new, name), |new| new.reference = None)
}

/// An operation on a group.
pub(super) fn on_group(number: u64, name: &str, task: Task) -> NewOperation {
    NewOperation {
        accepted_at: at(10),
        work: NewWork::Group {
            group: group(name),
            task,
            declared: None,
            heirs: BTreeMap::new(),
        },
        ..put(number, "-")
    }
}

/// A set without members.
pub(super) fn no_members() -> Application {
    Application {
        members: Vec::new(),
        has_outputs: false,
        plan: None,
        deployment: None,
        order: None,
    }
}

pub(super) async fn accept(store: &Engine, new: NewOperation) -> Accepted {
    store.accept_operation(new).await.unwrap()
}

/// Returns what the store answers, which on a busy machine may be late.
pub(super) async fn answered<T>(ask: impl AsyncFn() -> Result<T, Error>) -> T {
    told(ask).await.unwrap()
}

/// The same, if the store may refuse.
pub(super) async fn told<T>(ask: impl AsyncFn() -> Result<T, Error>) -> Result<T, Error> {
    for _ in 0..4 {
        match ask().await {
            Err(Error::Unavailable(_)) => {}
            answer => return answer,
        }
    }
    ask().await
}

/// Claims every operation that can be claimed at `now`. A database on a busy machine may be late.
pub(super) async fn claim(store: &Engine, now: Timestamp) -> Vec<Claimed> {
    for _ in 0..4 {
        match store.claim_due_operations("worker", now, TERM, 100).await {
            Err(Error::Unavailable(_)) => {}
            claimed => return claimed.unwrap(),
        }
    }
    store
        .claim_due_operations("worker", now, TERM, 100)
        .await
        .unwrap()
}

/// Claims the only operation that can be claimed at `now`.
pub(super) async fn claim_one(store: &Engine, now: Timestamp) -> Claimed {
    let mut claimed = claim(store, now).await;
    assert_eq!(claimed.len(), 1, "{claimed:?}");
    claimed.remove(0)
}

/// Accepts and claims an operation. Nothing else may be claimable.
pub(super) async fn accept_and_claim(store: &Engine, new: NewOperation) -> Claimed {
    let accepted = accept(store, new).await;
    let claimed = claim_one(store, at(2)).await;
    assert_eq!(claimed.operation, accepted.operation);
    claimed
}

/// Returns the work of an operation on a resource.
pub(super) fn resource_work(operation: &Operation) -> &ResourceWork {
    operation.work.resource().unwrap()
}

/// Returns the work of an operation on a group.
pub(super) fn group_work(operation: &Operation) -> &GroupWork {
    operation.work.group().unwrap()
}

/// The operation with a change to its work on a resource.
pub(super) fn stepped(operation: &Operation, change: impl FnOnce(&mut ResourceWork)) -> Operation {
    let mut work = resource_work(operation).clone();
    change(&mut work);
    Operation {
        header: operation.header.clone(),
        work: Work::Resource(Box::new(work)),
    }
}

/// The same for an operation on a group.
pub(super) fn stepped_on_group(
    operation: &Operation,
    change: impl FnOnce(&mut GroupWork),
) -> Operation {
    let mut work = group_work(operation).clone();
    change(&mut work);
    Operation {
        header: operation.header.clone(),
        work: Work::Group(Box::new(work)),
    }
}

/// The operation with another identifier.
pub(super) fn naming(operation: &Operation, name: &str) -> Operation {
    stepped(operation, |work| work.identifier = identifier(name))
}

/// An intent that was sent once.
pub(super) fn intent(call: Call, base: Option<&str>) -> Intent {
    Intent {
        call,
        client_token: "6f1b0a6e-7f39-4b27-9f6a-3f4e5a6b7c8d".parse().unwrap(),
        issued_at: at(4),
        unanswered: 1,
        base: base.map(str::to_owned),
    }
}

/// The operation, due at `due_at`.
pub(super) fn due(operation: &Operation, due_at: Timestamp) -> Operation {
    let header = Header {
        due_at,
        ..operation.header.clone()
    };
    Operation {
        header,
        work: operation.work.clone(),
    }
}

pub(super) fn failed() -> Ended {
    Ended::Failed(Failure::new("NotStabilized", "It did not stabilise."))
}

/// The end of `operation` on a resource, at second 3.
pub(super) fn end(
    operation: &Operation,
    ended: Ended,
    reference: ReferenceChange,
    name: Option<&str>,
) -> FinishOperation {
    let live = name.map(|name| json!({ "Name": name }));
    let finish = Finish {
        ended,
        identifier: name.map(Identifier::new),
        reference,
        live,
        leftover: None,
        told: None,
    };
    let work = finish.of(resource_work(operation), at(3));
    FinishOperation {
        operation: ended_at(operation, Work::Resource(Box::new(work)), at(3)),
        reference: Some(reference),
        baseline: None,
        leftover: None,
    }
}

/// The end of `operation` on a group, at `now`.
pub(super) fn end_on_group(
    operation: &Operation,
    outcome: Ended,
    now: Timestamp,
) -> FinishOperation {
    let last = stepped_on_group(operation, |work| work.state = GroupState::Ended(outcome));
    FinishOperation {
        operation: ended_at(operation, last.work, now),
        reference: None,
        baseline: None,
        leftover: None,
    }
}

/// The operation with its final work, ended at `now`.
pub(super) fn ended_at(operation: &Operation, work: Work, now: Timestamp) -> Operation {
    let header = Header {
        due_at: now,
        ended_at: Some(now),
        ..operation.header.clone()
    };
    Operation { header, work }
}

/// The same end with other live properties.
pub(super) fn finding(end: FinishOperation, live: Option<Value>) -> FinishOperation {
    FinishOperation {
        operation: stepped(&end.operation, |work| work.result = live),
        ..end
    }
}

/// A put that succeeded.
pub(super) fn applied(operation: &Operation, name: &str, owned: bool) -> FinishOperation {
    let reference = ReferenceChange::Applied { owned };
    FinishOperation {
        baseline: Some(baseline(name)),
        ..end(operation, Ended::Succeeded, reference, Some(name))
    }
}

/// A delete that succeeded.
pub(super) fn deleted(operation: &Operation) -> FinishOperation {
    let identifier = resource_work(operation).identifier.as_ref();
    let name = identifier.map(Identifier::as_str);
    let end = end(operation, Ended::Succeeded, ReferenceChange::Removed, name);
    finding(end, None)
}

pub(super) async fn finish(store: &Engine, lease: &Lease, finish: FinishOperation) {
    store.finish_operation(lease, finish).await.unwrap();
}

/// Forgets the reference at second 7.
pub(super) async fn forget(store: &Engine, name: &str) -> Result<Forgotten, Error> {
    let (id, correlation) = (alias(name), correlation());
    store
        .forget_reference(&id, true, "somebody", &correlation, at(7))
        .await
}

/// Makes the alias stand for a resource, by a put from start to end.
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

/// The reference as a put that changed nothing leaves it at `now`.
pub(super) fn remembering(reference: &Reference, now: Timestamp) -> Reference {
    Reference {
        provisioning_state: ProvisioningState::Succeeded,
        baseline: Some(baseline("remembered")),
        observed: Some(json!({ "Name": "remembered" })),
        observed_at: Some(now),
        updated_at: now,
        marked: true,
        revision: reference.revision + 1,
        ..reference.clone()
    }
}

/// The reference that comes to stand for a resource at second 24, not owned: the next revision of `before`, or a new one.
pub(super) fn adopting(
    before: Option<&Reference>,
    id: ReferenceId,
    scope: Scope,
    resource: &str,
) -> Reference {
    let (created_at, revision) = match before {
        Some(before) => (before.created_at, before.revision),
        None => (at(24), 0),
    };
    let new = Reference {
        lineage: Lineage::of(&id),
        id,
        scope,
        identifier: identifier(resource),
        owned: false,
        told_to_own: false,
        marked: false,
        tags: BTreeMap::new(),
        operation: None,
        provisioning_state: ProvisioningState::Succeeded,
        baseline: None,
        observed: None,
        observed_at: None,
        created_at,
        updated_at: at(24),
        revision,
        moves: 0,
    };
    remembering(&new, at(24))
}

/// Returns the reference, which must exist.
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
