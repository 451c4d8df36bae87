use async_trait::async_trait;
use ucp_access::Scope;
use ucp_model::operation::Header;
use ucp_model::{GroupId, ResourceGroup, RoleAssignmentId, Timestamp};

use super::Memory;
use super::tables::{Tables, page};
use crate::{
    Error, NewRoleAssignment, RoleAssignment, RoleAssignments, role_assignment_keys, rules,
};

#[async_trait]
impl RoleAssignments for Memory {
    async fn put_role_assignment(
        &self,
        new: NewRoleAssignment,
        judged: Option<&RoleAssignment>,
        groups: &[ResourceGroup],
        now: Timestamp,
    ) -> Result<RoleAssignment, Error> {
        let mut tables = self.tables();
        for group in groups {
            let is_there = tables.groups.get(&group.id.key());
            rules::refuse_gone(group, is_there.map(|group| group.created_at))?;
        }
        let key = new.id.key();
        let current = tables.role_assignments.get(&key);
        rules::refuse_unjudged(current, judged)?;
        let written = RoleAssignment::put(current, new, now);
        tables.role_assignments.insert(key, written.clone());
        Ok(written)
    }

    async fn get_role_assignment(
        &self,
        id: &RoleAssignmentId,
    ) -> Result<Option<RoleAssignment>, Error> {
        Ok(self.tables().role_assignments.get(&id.key()).cloned())
    }

    async fn list_role_assignments(
        &self,
        plane: Option<&str>,
        after: Option<&RoleAssignmentId>,
        limit: usize,
    ) -> Result<Vec<RoleAssignment>, Error> {
        let keys = role_assignment_keys(plane, after);
        Ok(page(&self.tables().role_assignments, keys, limit))
    }

    async fn delete_role_assignment(&self, judged: &RoleAssignment) -> Result<bool, Error> {
        let mut tables = self.tables();
        let key = judged.id.key();
        let Some(current) = tables.role_assignments.get(&key) else {
            return Ok(false);
        };
        rules::refuse_unjudged(Some(current), Some(judged))?;
        tables.role_assignments.remove(&key);
        Ok(true)
    }
}

impl Tables {
    /// Whether a role assignment names the group.
    pub(super) fn is_assigned(&self, group: &GroupId) -> bool {
        let scope = Scope::group(group);
        let mut assignments = self.role_assignments.values();
        assignments.any(|assignment| assignment.body.grant.scopes.contains(&scope))
    }

    /// Removes the group from the role assignments that name it, and records that.
    pub(super) fn unassign(&mut self, group: &GroupId, deletion: &Header) {
        let (caller, now) = (&deletion.caller, rules::ended_at(deletion));
        let mut events = Vec::new();
        self.role_assignments.retain(|_, assignment| {
            if let Some(rest) = rules::without_group(assignment, group, caller, now) {
                events.push(rules::narrowed(assignment, &rest, deletion));
                *assignment = rest;
            }
            !assignment.body.grant.scopes.is_empty()
        });
        self.record(&events);
    }
}
