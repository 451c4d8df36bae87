use std::collections::BTreeMap;

use ucp_access::{Assignment, Grant, Right, Scope};
use ucp_model::{ErrorCode, Failure, PlaneId, RoleAssignmentId};
use ucp_store::{Error, NewRoleAssignment, Precondition, RoleAssignment};

use crate::{App, Caller, Listed, Rejection};

/// How many role assignments of a plane a page looks at for a caller who does not own all of them.
const LOOKED_AT: usize = 1_000;

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
    Replaced(RoleAssignment),
    /// There was this one, so nothing was written.
    Unchanged(RoleAssignment),
}

impl App {
    /// Creates the role assignment, or replaces what it gives. The caller must own all scopes, those of before too.
    pub async fn put_role_assignment(
        &self,
        put: PutRoleAssignment,
        precondition: &Precondition,
        caller: &Caller,
    ) -> Result<RoleAssignmentPut, Rejection> {
        let PutRoleAssignment { id, grant } = put;
        let caller = &caller.undenied();
        for scope in &grant.scopes {
            let action = "System.Resources/roleAssignments/write";
            caller.rights.judge(Right::ManageAccess, action, scope)?;
        }
        loop {
            let current = self.changeable(&id, caller).await?;
            let etag = current.as_ref().map(RoleAssignment::etag);
            let judged = precondition.judge(etag);
            judged.map_err(|_| Rejection::precondition_failed(&id))?;
            if let Some(current) = current.as_ref().filter(|it| it.body.grant == grant) {
                return Ok(RoleAssignmentPut::Unchanged(current.clone()));
            }
            if current.is_none() {
                self.admit_role_assignment().await?;
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
            let _changing = self.assignments.changing();
            let store = &self.parts.store;
            let written = store.put_role_assignment(new, current.as_ref(), self.now());
            match (written.await, current) {
                // Another request was faster. What it has written is judged, too.
                (Err(Error::PreconditionFailed), _) => {}
                (written, None) => return Ok(RoleAssignmentPut::Created(written?)),
                (written, Some(_)) => return Ok(RoleAssignmentPut::Replaced(written?)),
            }
        }
    }

    /// Returns a role assignment, if the caller owns all its scopes.
    pub async fn get_role_assignment(
        &self,
        id: &RoleAssignmentId,
        caller: &Caller,
    ) -> Result<RoleAssignment, Rejection> {
        let stored = self.parts.store.get_role_assignment(id).await?;
        let stored = stored.filter(|stored| caller.manages(stored));
        stored.ok_or_else(|| {
            let message = format!(
                "The role assignment '{}' does not exist on the plane '{}', or the client '{}' does not own all its scopes.",
                id.name, id.plane, caller.name
            );
            Rejection::Missing(
                Failure::new(ErrorCode::NotFound, message).with_target(id.to_string()),
            )
        })
    }

    /// Returns up to `top` role assignments of a radius plane, after `after`, of which the caller owns all scopes. It looks at
    /// a bounded number of them. If too few are his, the next page goes on behind them.
    pub async fn list_role_assignments(
        &self,
        plane: &PlaneId,
        after: Option<&RoleAssignmentId>,
        top: usize,
        caller: &Caller,
    ) -> Result<Listed<RoleAssignment>, Rejection> {
        let everything = Scope::everything();
        let limit = match caller.rights.permits(Right::ManageAccess, &everything) {
            true => top + 1,
            false => LOOKED_AT,
        };
        let store = &self.parts.store;
        let looked = store.list_role_assignments(Some(&plane.name), after, limit);
        let looked = looked.await?;
        let is_end = looked.len() < limit;
        let last = looked.last().map(|last| last.id.to_string());
        let theirs = looked.into_iter().filter(|listed| caller.manages(listed));
        let mut listed = Listed::of(theirs.take(top + 1).collect(), top);
        if !is_end && !listed.has_more {
            listed.has_more = true;
            listed.resumes_after = last;
        }
        Ok(listed)
    }

    /// Takes away what the role assignment gives. The caller must own all its scopes. Returns whether it existed.
    pub async fn delete_role_assignment(
        &self,
        id: &RoleAssignmentId,
        precondition: &Precondition,
        caller: &Caller,
    ) -> Result<bool, Rejection> {
        loop {
            let Some(current) = self.changeable(id, caller).await? else {
                return Ok(false);
            };
            let judged = precondition.judge(Some(current.etag()));
            judged.map_err(|_| Rejection::precondition_failed(id))?;
            let _changing = self.assignments.changing();
            match self.parts.store.delete_role_assignment(&current).await {
                Err(Error::PreconditionFailed) => {}
                deleted => return Ok(deleted?),
            }
        }
    }

    /// Returns the role assignment, if there is one. Refuses who does not own all its scopes.
    async fn changeable(
        &self,
        id: &RoleAssignmentId,
        caller: &Caller,
    ) -> Result<Option<RoleAssignment>, Rejection> {
        let stored = self.parts.store.get_role_assignment(id).await?;
        if stored.as_ref().is_none_or(|stored| caller.manages(stored)) {
            return Ok(stored);
        }
        let message = format!(
            "The client '{}' does not have authorization to change the role assignment '{}', since it does not own all its scopes. Nothing was changed. Use another name, or ask an owner of the plane.",
            caller.name, id.name
        );
        let failure = Failure::new(ErrorCode::AuthorizationFailed, message);
        Err(Rejection::Forbidden(failure.with_target(id.to_string())))
    }
}

impl Caller {
    /// Returns whether the caller owns all scopes of a role assignment. Types that are denied to everybody are owned, too:
    /// what is given over them stays without effect, and can be taken away.
    fn manages(&self, assignment: &RoleAssignment) -> bool {
        let rights = self.undenied().rights;
        let owns = |scope: &Scope| rights.permits(Right::ManageAccess, scope);
        assignment.body.grant.scopes.iter().all(owns)
    }
}
