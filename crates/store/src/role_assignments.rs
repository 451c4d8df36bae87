//! Role assignments: grants that callers give to others.

use async_trait::async_trait;
use ucp_access::Assignment;
use ucp_model::{
    ArmResource, NewArmResource, PlaneId, PlaneKind, ResourceGroup, RoleAssignmentId, Timestamp,
};

use crate::{Error, KeyRange};

/// A grant that is stored.
pub type RoleAssignment = ArmResource<RoleAssignmentId, Assignment>;
/// A grant that is to be stored.
pub type NewRoleAssignment = NewArmResource<RoleAssignmentId, Assignment>;

/// Returns the keys of a list of the role assignments of a radius plane, or of all.
pub fn role_assignment_keys(plane: Option<&str>, after: Option<&RoleAssignmentId>) -> KeyRange {
    let parent = match plane {
        Some(plane) => {
            let (kind, name) = (PlaneKind::Radius, plane.to_owned());
            let plane = PlaneId { kind, name }.key();
            format!("{plane}/providers/system.resources/roleassignments")
        }
        None => format!("/planes/{}", PlaneKind::Radius.as_str()),
    };
    KeyRange::below(&parent, after.map(RoleAssignmentId::key))
}

/// Storage of role assignments. Who may give what was judged on the row that a write replaces, so a write names that row
/// as it was judged, all of it.
#[async_trait]
pub trait RoleAssignments: Send + Sync {
    /// Creates the role assignment, or replaces all but its id. [`Error::PreconditionFailed`] if what is stored differs
    /// from `judged`; `None` means that there is none. So it is if one of `groups` has gone since, of those that existed and that
    /// its scopes name: whoever gave a role over it may have had their right by a role that has gone with it.
    async fn put_role_assignment(
        &self,
        new: NewRoleAssignment,
        judged: Option<&RoleAssignment>,
        groups: &[ResourceGroup],
        now: Timestamp,
    ) -> Result<RoleAssignment, Error>;

    /// Returns the role assignment, if it exists.
    async fn get_role_assignment(
        &self,
        id: &RoleAssignmentId,
    ) -> Result<Option<RoleAssignment>, Error>;

    /// Returns up to `limit` role assignments of a radius plane, or of all, in the order of their keys, starting after
    /// the key of `after`, which need not exist any more.
    async fn list_role_assignments(
        &self,
        plane: Option<&str>,
        after: Option<&RoleAssignmentId>,
        limit: usize,
    ) -> Result<Vec<RoleAssignment>, Error>;

    /// Removes the role assignment. Returns whether it existed. [`Error::PreconditionFailed`] if it exists and differs
    /// from `judged`.
    async fn delete_role_assignment(&self, judged: &RoleAssignment) -> Result<bool, Error>;
}
