//! The events of the history.

use ucp_model::operation::{Header, Kind, Replacing, Work};
use ucp_model::{CorrelationId, Leftover, Operation, Reference, ReferenceId, Target, Timestamp};

use crate::{ApplyRefactor, Event};

/// Returns the event for a reference that is forgotten because an operation deletes its group.
pub fn forgot_with_group(reference: &Reference, header: &Header) -> Event {
    let Header {
        caller,
        correlation_id,
        ..
    } = header;
    Event {
        operation: Some(header.id),
        ..forgot(reference, caller, correlation_id, ended_at(header))
    }
}

/// Returns the event for the end of `operation`.
pub fn ended(operation: &Operation) -> Event {
    let Operation { header, work } = operation;
    let (reference, resource, lost, changes) = match work {
        Work::Resource(work) => {
            let id =
                |target: Target<'_>| target.scope.resource(target.type_name, target.identifier);
            let reference = work.reference.as_ref().map(ToString::to_string);
            let lost = match &work.replacing {
                Some(Replacing::Lost { old }) if work.identifier.as_ref() != Some(old) => {
                    Some(work.scope.resource(&work.type_name, old))
                }
                Some(_) | None => None,
            };
            let resource = work.target().map(id);
            (reference, resource, lost, work.changes.clone())
        }
        Work::Group(work) => (None, Some(work.group.to_string()), None, Vec::new()),
    };
    Event {
        at: ended_at(header),
        caller: header.caller.clone(),
        kind: match work.resource() {
            Some(work) if work.forgets => "forget".to_owned(),
            Some(_) | None => work.kind().to_owned(),
        },
        operation: Some(header.id),
        correlation_id: header.correlation_id.clone(),
        reference,
        resource,
        lost,
        changes,
        outcome: operation.status().to_owned(),
        code: operation.failure().map(|failure| failure.code.clone()),
        message: work.resource().and_then(|work| work.told.clone()),
    }
}

/// Returns the event for a reference that is forgotten.
pub fn forgot(
    reference: &Reference,
    caller: &str,
    correlation_id: &CorrelationId,
    now: Timestamp,
) -> Event {
    without_operation("forget", reference, caller, correlation_id, now)
}

/// Returns the event for a leftover that is forgotten.
pub fn forgot_leftover(
    leftover: &Leftover,
    caller: &str,
    correlation_id: &CorrelationId,
    now: Timestamp,
) -> Event {
    let reference = leftover.reference.as_ref();
    Event {
        at: now,
        caller: caller.to_owned(),
        kind: "forgetLeftover".to_owned(),
        operation: None,
        correlation_id: correlation_id.clone(),
        reference: reference.map(ToString::to_string),
        resource: leftover
            .target()
            .map(|target| target.scope.resource(target.type_name, target.identifier)),
        lost: None,
        changes: Vec::new(),
        outcome: "Succeeded".to_owned(),
        code: None,
        message: None,
    }
}

/// Returns the event for a reference that is updated.
pub fn updated(
    reference: &Reference,
    caller: &str,
    correlation_id: &CorrelationId,
    now: Timestamp,
) -> Event {
    without_operation("update", reference, caller, correlation_id, now)
}

/// Returns the event under `id`, the old id or the new one, for a reference that a refactor moves. What happened before stays
/// under the old id.
pub(super) fn moved(
    id: &ReferenceId,
    before: &Reference,
    after: &Reference,
    new: &ApplyRefactor,
) -> Event {
    let now = new.record.changed_at;
    let event = without_operation("move", after, &new.caller, &new.correlation_id, now);
    Event {
        reference: Some(id.to_string()),
        message: Some(format!("Moved from {} to {}.", before.id, after.id)),
        ..event
    }
}

/// Returns the event for a reference that comes to stand for its resource, or to own it, without an operation. `kind` is
/// that of the operation which would have done so.
pub fn adopted(
    kind: Kind,
    reference: &Reference,
    caller: &str,
    correlation_id: &CorrelationId,
    now: Timestamp,
) -> Event {
    without_operation(kind.as_str(), reference, caller, correlation_id, now)
}

fn without_operation(
    kind: &str,
    reference: &Reference,
    caller: &str,
    correlation_id: &CorrelationId,
    now: Timestamp,
) -> Event {
    Event {
        at: now,
        caller: caller.to_owned(),
        kind: kind.to_owned(),
        operation: None,
        correlation_id: correlation_id.clone(),
        reference: Some(reference.id.to_string()),
        resource: reference
            .target()
            .map(|target| target.scope.resource(target.type_name, target.identifier)),
        lost: None,
        changes: Vec::new(),
        outcome: "Succeeded".to_owned(),
        code: None,
        message: None,
    }
}

/// Returns when the operation ended.
pub fn ended_at(header: &Header) -> Timestamp {
    header.ended_at.unwrap_or(header.due_at)
}
