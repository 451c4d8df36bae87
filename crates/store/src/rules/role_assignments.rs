//! The rules for role assignments.

use ucp_access::Scope;
use ucp_model::{GroupId, Timestamp};

use crate::{Error, RoleAssignment};

/// Returns [`Error::PreconditionFailed`] if what is stored is not what was judged.
pub fn refuse_unjudged(
    current: Option<&RoleAssignment>,
    judged: Option<&RoleAssignment>,
) -> Result<(), Error> {
    match current == judged {
        true => Ok(()),
        false => Err(Error::PreconditionFailed),
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
