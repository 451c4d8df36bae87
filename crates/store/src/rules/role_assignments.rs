//! The rules for role assignments.

use ucp_access::{GrantChange, Scope};
use ucp_model::operation::Header;
use ucp_model::{GroupId, ResourceGroup, Timestamp};

use super::ended_at;
use crate::{AuditEvent, AuditOutcome, Error, RoleAssignment};

/// Returns [`Error::PreconditionFailed`] if what is stored is not what was judged.
pub fn refuse_unjudged(
    current: Option<&RoleAssignment>,
    judged: Option<&RoleAssignment>,
) -> Result<(), Error> {
    if current == judged {
        Ok(())
    } else {
        Err(Error::PreconditionFailed)
    }
}

/// Returns [`Error::PreconditionFailed`] if a group is not there any more, but perhaps another one of its name, made at another
/// time.
pub fn refuse_gone(group: &ResourceGroup, created_at: Option<Timestamp>) -> Result<(), Error> {
    if created_at == Some(group.created_at) {
        Ok(())
    } else {
        Err(Error::PreconditionFailed)
    }
}

/// Returns what is left of a role assignment when `caller` removes a group, so that nobody has a right over a group of
/// the same name that somebody creates later. `None` if the assignment does not name the group. One without scopes is to
/// be removed.
pub fn without_group(
    assignment: &RoleAssignment,
    group: &GroupId,
    caller: &str,
    now: Timestamp,
) -> Option<RoleAssignment> {
    let removed = Scope::group(group);
    if !assignment.body.grant.scopes.contains(&removed) {
        return None;
    }
    let mut rest = assignment.clone();
    rest.body.grant.scopes.retain(|scope| *scope != removed);
    caller.clone_into(&mut rest.body.modified_by);
    rest.updated_at = now;
    rest.revision += 1;
    Some(rest)
}

/// Returns what the audit has of a role assignment from which the deletion of a group has taken the group. No request asks for
/// that. The event has the correlation id of the deletion, and its operation, if there is one.
pub fn narrowed(before: &RoleAssignment, rest: &RoleAssignment, deletion: &Header) -> AuditEvent {
    let is_left = !rest.body.grant.scopes.is_empty();
    let verb = if is_left { "write" } else { "delete" };
    AuditEvent {
        at: ended_at(deletion),
        caller: deletion.caller.clone(),
        peer: None,
        action: format!("System.Resources/roleAssignments/{verb}"),
        id: before.id.to_string(),
        outcome: AuditOutcome::Allowed,
        status: None,
        code: None,
        correlation_id: deletion.correlation_id.clone(),
        request_id: deletion.id.to_string(),
        operation: deletion.ended_at.map(|_| deletion.id),
        change: Some(GrantChange {
            before: Some(before.body.grant.clone()),
            after: is_left.then(|| rest.body.grant.clone()),
        }),
        paths: Vec::new(),
        suppressed: 0,
    }
}
