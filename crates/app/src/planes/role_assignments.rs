use std::collections::BTreeMap;

use ucp_access::{Assignment, Grant, Right, Scope};
use ucp_model::{ErrorCode, Failure, PlaneId, RoleAssignmentId};
use ucp_store::{Error, NewRoleAssignment, Precondition, RoleAssignment};

use crate::allowances::quotas::LOOKED_AT;
use crate::{Caller, Listed, PlaneCases, Rejection};

/// A role assignment to write.
#[derive(Clone, Debug)]
pub struct PutRoleAssignment {
    /// Its id.
    pub id: RoleAssignmentId,
    /// What is given, and to whom.
    pub grant: Grant,
}

/// What came of a put.
#[derive(Clone, Debug)]
pub enum RoleAssignmentPut {
    /// There was none.
    Created(RoleAssignment),
    /// There was another one.
    Replaced {
        /// It.
        before: Box<RoleAssignment>,
        /// The one that there is now.
        after: RoleAssignment,
    },
    /// There was this one, so nothing was written.
    Unchanged(RoleAssignment),
}

impl PlaneCases {
    /// Creates the role assignment, or replaces what it gives. The caller must own all scopes, those of before too, and the
    /// plane must exist. If it goes meanwhile, what is given counts for nothing.
    pub async fn put_role_assignment(
        &self,
        put: PutRoleAssignment,
        precondition: &Precondition,
        caller: &Caller,
    ) -> Result<RoleAssignmentPut, Rejection> {
        let PutRoleAssignment { id, grant } = put;
        loop {
            let current = self.ground.store.get_role_assignment(&id).await?;
            // Before what the caller may do is read: a role over a group goes with the group.
            let mut groups = Vec::new();
            for group in grant.scopes.iter().filter_map(Scope::as_group) {
                match self.ground.store.get_resource_group(&group).await {
                    Ok(group) => groups.push(group),
                    Err(Error::NoSuchGroup) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            let caller = &self.permissions.as_stored(caller).await?.undenied();
            for scope in &grant.scopes {
                let action = "System.Resources/roleAssignments/write";
                caller.rights.judge(Right::ManageAccess, action, scope)?;
            }
            caller.judge_change_of(&id, current.as_ref())?;
            self.get_plane(&id.plane_id()).await?;
            let etag = current.as_ref().map(RoleAssignment::etag);
            let judged = precondition.judge(etag);
            judged.map_err(|_| Rejection::precondition_failed(&id))?;
            if let Some(current) = current.as_ref().filter(|it| it.body.grant == grant) {
                return Ok(RoleAssignmentPut::Unchanged(current.clone()));
            }
            let before = current.as_ref().map(|current| &current.body.grant.scopes);
            let had = |scope: &Scope| {
                let mut before = before.into_iter().flatten();
                before.any(|before| before.key() == scope.key())
            };
            let added = grant.scopes.iter().filter(|scope| !had(scope));
            self.allowances.admit_to_scopes(added).await?;
            if current.is_none() {
                let is_of_owner =
                    caller.owns_everything() || caller.owns(&Scope::plane(&id.plane_id()));
                self.allowances
                    .admit_role_assignment(&caller.name, is_of_owner)
                    .await?;
            }
            let first = current.as_ref();
            let created_by = first.map_or(&caller.name, |first| &first.body.created_by);
            let new = NewRoleAssignment {
                id: id.clone(),
                location: "global".to_owned(),
                tags: BTreeMap::new(),
                body: Assignment {
                    grant: grant.clone(),
                    created_by: created_by.clone(),
                    modified_by: caller.name.clone(),
                },
            };
            let _changing = self.permissions.assignments.changing();
            let store = &self.ground.store;
            let written =
                store.put_role_assignment(new, current.as_ref(), &groups, self.ground.now());
            match (written.await, current) {
                // Another request was faster. What it has written is judged, too.
                (Err(Error::PreconditionFailed), _) => {}
                (written, None) => return Ok(RoleAssignmentPut::Created(written?)),
                (written, Some(before)) => {
                    let (before, after) = (Box::new(before), written?);
                    return Ok(RoleAssignmentPut::Replaced { before, after });
                }
            }
        }
    }

    /// Returns a role assignment, if the caller owns all its scopes.
    pub async fn get_role_assignment(
        &self,
        id: &RoleAssignmentId,
        caller: &Caller,
    ) -> Result<RoleAssignment, Rejection> {
        let stored = self.ground.store.get_role_assignment(id).await?;
        let stored = stored.filter(|stored| caller.manages(stored));
        stored.ok_or_else(|| {
            if caller.owns_everything() {
                Rejection::Missing(caller.sees_no(id))
            } else {
                Rejection::Hidden(caller.sees_no(id))
            }
        })
    }

    /// Returns up to `top` role assignments of a radius plane, after `after`, of which the caller owns all scopes. What the
    /// next page begins with is theirs, too. The quota bounds how many it looks at.
    pub async fn list_role_assignments(
        &self,
        plane: &PlaneId,
        after: Option<&RoleAssignmentId>,
        top: usize,
        caller: &Caller,
    ) -> Result<Listed<RoleAssignment>, Rejection> {
        let store = &self.ground.store;
        let (mut theirs, mut after) = (Vec::new(), after.cloned());
        loop {
            let looked = store.list_role_assignments(Some(&plane.name), after.as_ref(), LOOKED_AT);
            let looked = looked.await?;
            let is_end = looked.len() < LOOKED_AT;
            after = looked.last().map(|last| last.id.clone());
            theirs.extend(looked.into_iter().filter(|listed| caller.manages(listed)));
            if is_end || theirs.len() > top {
                theirs.truncate(top + 1);
                return Ok(Listed::of(theirs, top));
            }
        }
    }

    /// Takes away what the role assignment gives. The caller must own all its scopes. Returns it, if it existed. Who does not
    /// own everything does not learn whether it did.
    pub async fn delete_role_assignment(
        &self,
        id: &RoleAssignmentId,
        precondition: &Precondition,
        caller: &Caller,
    ) -> Result<Option<RoleAssignment>, Rejection> {
        loop {
            let current = self.ground.store.get_role_assignment(id).await?;
            let caller = &self.permissions.as_stored(caller).await?;
            let Some(current) = current.filter(|current| caller.manages(current)) else {
                return if caller.owns_everything() {
                    Ok(None)
                } else {
                    Err(Rejection::Hidden(caller.sees_no(id)))
                };
            };
            let judged = precondition.judge(Some(current.etag()));
            judged.map_err(|_| Rejection::precondition_failed(id))?;
            let _changing = self.permissions.assignments.changing();
            match self.ground.store.delete_role_assignment(&current).await {
                Err(Error::PreconditionFailed) => {}
                deleted => return Ok(deleted?.then_some(current)),
            }
        }
    }
}

impl Caller {
    /// Refuses who does not own all scopes of the role assignment, if there is one.
    fn judge_change_of(
        &self,
        id: &RoleAssignmentId,
        stored: Option<&RoleAssignment>,
    ) -> Result<(), Rejection> {
        if stored.is_none_or(|stored| self.manages(stored)) {
            return Ok(());
        }
        let message = format!(
            "The client '{}' does not have authorization to change the role assignment '{}', since it does not own all its scopes. Nothing was changed. Use another name, or ask an owner of the plane.",
            self.name, id.name
        );
        let failure = Failure::new(ErrorCode::AuthorizationFailed, message);
        Err(Rejection::Forbidden(failure.with_target(id.to_string())))
    }

    /// Returns whether no role assignment is hidden from the caller.
    fn owns_everything(&self) -> bool {
        self.owns(&Scope::everything())
    }

    fn owns(&self, scope: &Scope) -> bool {
        self.undenied().rights.permits(Right::ManageAccess, scope)
    }

    /// What is said of a role assignment that is not there, or that the caller may not read.
    fn sees_no(&self, id: &RoleAssignmentId) -> Failure {
        let message = format!(
            "The role assignment '{}' does not exist on the plane '{}', or the client '{}' does not own all its scopes.",
            id.name, id.plane, self.name
        );
        Failure::new(ErrorCode::NotFound, message).with_target(id.to_string())
    }

    /// Returns whether the caller owns all scopes of a role assignment. Types that are denied to everybody are owned, too:
    /// what is given over them stays without effect, and can be taken away.
    fn manages(&self, assignment: &RoleAssignment) -> bool {
        let rights = self.undenied().rights;
        let owns = |scope: &Scope| rights.permits(Right::ManageAccess, scope);
        assignment.body.grant.scopes.iter().all(owns)
    }
}
