//! The role assignments.

use async_trait::async_trait;
use ucp_model::{GroupId, RoleAssignmentId, Timestamp};
use ucp_store::{
    Error, NewRoleAssignment, RoleAssignment, RoleAssignments, role_assignment_keys, rules,
};

use crate::Sql;
use crate::arm_resources::{arm_resources, read};
use crate::database::{Abort, Transaction, page, transaction, values};

/// How many are read at once to find those of a group.
const PAGE: usize = 500;

arm_resources! { "role_assignments";
    LIST = ["SELECT id, location, tags, body, created_at, updated_at, revision FROM role_assignments
        WHERE key > $1 AND key < $2 ORDER BY key LIMIT $3"];
}

#[async_trait]
impl RoleAssignments for Sql {
    async fn put_role_assignment(
        &self,
        new: NewRoleAssignment,
        judged: Option<&RoleAssignment>,
        now: Timestamp,
    ) -> Result<RoleAssignment, Error> {
        transaction!(self, |tx| async {
            let current = lock(&mut tx, &new.id).await?;
            rules::refuse_unjudged(current.as_ref(), judged)?;
            let written = RoleAssignment::put(current.as_ref(), new.clone(), now);
            put(&mut tx, &written).await?;
            Ok(written)
        })
    }

    async fn get_role_assignment(
        &self,
        id: &RoleAssignmentId,
    ) -> Result<Option<RoleAssignment>, Error> {
        let row = TABLE.get(&self.database, id.key()).await?;
        row.as_ref().map(read).transpose()
    }

    async fn list_role_assignments(
        &self,
        plane: Option<&str>,
        after: Option<&RoleAssignmentId>,
        limit: usize,
    ) -> Result<Vec<RoleAssignment>, Error> {
        let values = page(role_assignment_keys(plane, after), limit);
        let rows = self.database.read(LIST, values).await?;
        rows.iter().map(read).collect()
    }

    async fn delete_role_assignment(&self, judged: &RoleAssignment) -> Result<bool, Error> {
        transaction!(self, |tx| async {
            let Some(current) = lock(&mut tx, &judged.id).await? else {
                return Ok(false);
            };
            rules::refuse_unjudged(Some(&current), Some(judged))?;
            tx.execute(DELETE, values![current.id.key()]).await?;
            Ok(true)
        })
    }
}

/// Removes a group from the role assignments that name it. They are locked after everything else, in the order of their
/// keys.
pub(crate) async fn unassign(
    transaction: &mut Transaction,
    group: &GroupId,
    caller: &str,
    now: Timestamp,
) -> Result<(), Abort> {
    let mut after = None;
    loop {
        let keys = role_assignment_keys(None, after.as_ref());
        let rows = transaction.fetch(LIST, page(keys, PAGE)).await?;
        let listed: Vec<RoleAssignment> = rows.iter().map(read).collect::<Result<_, _>>()?;
        for assignment in &listed {
            if rules::without_group(assignment, group, caller, now).is_some() {
                narrow(transaction, &assignment.id, group, caller, now).await?;
            }
        }
        if listed.len() < PAGE {
            return Ok(());
        }
        after = listed.into_iter().last().map(|last| last.id);
    }
}

/// Removes the group from a role assignment, which may have changed since it was listed.
async fn narrow(
    transaction: &mut Transaction,
    id: &RoleAssignmentId,
    group: &GroupId,
    caller: &str,
    now: Timestamp,
) -> Result<(), Abort> {
    let current = lock(transaction, id).await?;
    let rest = current.and_then(|current| rules::without_group(&current, group, caller, now));
    match rest {
        None => Ok(()),
        Some(rest) if rest.body.grant.scopes.is_empty() => {
            transaction.execute(DELETE, values![id.key()]).await?;
            Ok(())
        }
        Some(rest) => put(transaction, &rest).await,
    }
}

async fn put(transaction: &mut Transaction, assignment: &RoleAssignment) -> Result<(), Abort> {
    let parent = assignment.id.plane_id().key();
    TABLE.put(transaction, assignment, parent).await
}

async fn lock(
    transaction: &mut Transaction,
    id: &RoleAssignmentId,
) -> Result<Option<RoleAssignment>, Abort> {
    let row = TABLE.lock(transaction, id.key()).await?;
    Ok(row.as_ref().map(read).transpose()?)
}
