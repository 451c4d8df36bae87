//! The role assignments.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use async_trait::async_trait;
use ucp_access::Scope;
use ucp_model::operation::Header;
use ucp_model::{GroupId, ResourceGroup, RoleAssignmentId, Timestamp};
use ucp_store::{
    AuditEvent, Error, NewRoleAssignment, RoleAssignment, RoleAssignments, role_assignment_keys,
    rules,
};

use crate::arm_resources::{arm_resources, read};
use crate::database::{Abort, Transaction, page, transaction, values};
use crate::json::to_json;
use crate::{Sql, audit_events};

/// How many are read at once to find those of groups.
const PAGE: usize = 500;

arm_resources! { "role_assignments";
    LIST = ["SELECT id, location, tags, body, created_at, updated_at, revision FROM role_assignments
        WHERE key > $1 AND key < $2 ORDER BY key LIMIT $3"];
    /// The keys of groups are a JSON array. They are locked in the order in which everybody locks them.
    HOLD_GROUPS = ["SELECT key, created_at FROM resource_groups WHERE key "]
        postgres "= ANY(ARRAY(SELECT json_array_elements_text($1::json)))"
        sqlite "IN (SELECT value FROM json_each($1))" [" ORDER BY key"] lock " FOR SHARE";
}

#[async_trait]
impl RoleAssignments for Sql {
    async fn put_role_assignment(
        &self,
        new: NewRoleAssignment,
        judged: Option<&RoleAssignment>,
        groups: &[ResourceGroup],
        now: Timestamp,
    ) -> Result<RoleAssignment, Error> {
        transaction!(self, |tx| async {
            let held = hold_groups(&mut tx, &new.body.grant.scopes).await?;
            for group in groups {
                rules::refuse_gone(group, held.get(&group.id.key()).copied())?;
            }
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

/// Locks the groups that the scopes name. Whoever removes one of them meanwhile would not see what is given over it, and leave
/// it. Returns when each was made, by key. Groups that do not exist may be named.
async fn hold_groups(
    transaction: &mut Transaction,
    scopes: &[Scope],
) -> Result<BTreeMap<String, Timestamp>, Abort> {
    let groups = scopes.iter().filter_map(Scope::as_group);
    let keys: BTreeSet<String> = groups.map(|group| group.key()).collect();
    let mut held = BTreeMap::new();
    if !keys.is_empty() {
        for row in &transaction
            .fetch(HOLD_GROUPS, values![to_json(&keys)?])
            .await?
        {
            let created_at = Timestamp::from_millis(row.get("created_at")?);
            held.insert(row.get::<&str>("key")?.to_owned(), created_at);
        }
    }
    Ok(held)
}

/// Removes a group from the role assignments that name it, and records that. They are locked after everything else, in the
/// order of their keys.
pub(crate) async fn unassign(
    transaction: &mut Transaction,
    group: &GroupId,
    deletion: &Header,
) -> Result<(), Abort> {
    let (caller, now) = (&deletion.caller, rules::ended_at(deletion));
    let mut events = Vec::new();
    let mut after = None;
    loop {
        let listed = listed(transaction, after.as_ref()).await?;
        for assignment in &listed {
            if rules::without_group(assignment, group, caller, now).is_some() {
                events.extend(narrow(transaction, &assignment.id, group, deletion).await?);
            }
        }
        if listed.len() < PAGE {
            return audit_events::append(transaction, &events).await;
        }
        after = listed.into_iter().last().map(|last| last.id);
    }
}

/// Returns those of these groups, in their order, that no role assignment names. Nothing is locked.
pub(crate) async fn unassigned<'a>(
    transaction: &mut Transaction,
    mut groups: Vec<&'a ResourceGroup>,
) -> Result<Vec<&'a ResourceGroup>, Abort> {
    let mut after = None;
    while !groups.is_empty() {
        let listed = listed(transaction, after.as_ref()).await?;
        let grants = listed.iter().map(|assignment| &assignment.body.grant);
        let named: HashSet<&Scope> = grants.flat_map(|grant| &grant.scopes).collect();
        groups.retain(|group| !named.contains(&Scope::group(&group.id)));
        if listed.len() < PAGE {
            break;
        }
        after = listed.into_iter().last().map(|last| last.id);
    }
    Ok(groups)
}

/// Returns the next page of all role assignments.
async fn listed(
    transaction: &mut Transaction,
    after: Option<&RoleAssignmentId>,
) -> Result<Vec<RoleAssignment>, Abort> {
    let keys = role_assignment_keys(None, after);
    let rows = transaction.fetch(LIST, page(keys, PAGE)).await?;
    let listed: Result<Vec<RoleAssignment>, Error> = rows.iter().map(read).collect();
    Ok(listed?)
}

/// Removes the group from a role assignment, which may have changed since it was listed. Returns what is to be recorded.
async fn narrow(
    transaction: &mut Transaction,
    id: &RoleAssignmentId,
    group: &GroupId,
    deletion: &Header,
) -> Result<Option<AuditEvent>, Abort> {
    let Some(current) = lock(transaction, id).await? else {
        return Ok(None);
    };
    let (caller, now) = (&deletion.caller, rules::ended_at(deletion));
    let Some(rest) = rules::without_group(&current, group, caller, now) else {
        return Ok(None);
    };
    if rest.body.grant.scopes.is_empty() {
        transaction
            .execute(DELETE, values![id.key()])
            .await
            .map(drop)?
    } else {
        put(transaction, &rest).await?
    }
    Ok(Some(rules::narrowed(&current, &rest, deletion)))
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
