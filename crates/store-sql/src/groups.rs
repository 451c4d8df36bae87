//! The resource groups.

use std::collections::BTreeSet;

use async_trait::async_trait;
use ucp_model::operation::group::Task;
use ucp_model::operation::{GroupWork, Header, Work};
use ucp_model::{
    GroupId, NewResourceGroup, Operation, OperationId, PlanPolicy, ResourceGroup, Target, Timestamp,
};
use ucp_store::{
    Error, GroupDeletion, GroupUpdate, Groups, NewOperation, NewWork, OwnedPlace, Precondition,
    SHARED_MAX, Written, group_keys, rules,
};

use crate::arm_resources::{self, arm_resources};
use crate::database::{Abort, Database, Row, Transaction, page, transaction, values};
use crate::json::{corrupt, from_json, parsed};
use crate::{
    Sql, busy, leftover_row, operation_row, refactor_row, reference_row, role_assignments,
};

arm_resources! { "resource_groups", "deletion";
    LIST = ["SELECT id, location, tags, body, created_at, updated_at, revision, deletion FROM resource_groups
        WHERE key > $1 AND key < $2 ORDER BY key LIMIT $3"];
    COUNT = ["SELECT COUNT(*) AS counted FROM (
            SELECT key FROM resource_groups WHERE key > $1 AND key < $2 ORDER BY key LIMIT $3
        ) AS bounded"];
    /// A foreign key would not prevent changes to the group while an operation is accepted in it.
    SHARE = ["SELECT id, location, tags, body, created_at, updated_at, revision, deletion FROM resource_groups
        WHERE key = $1"] lock " FOR SHARE";
    /// The policies of the other groups that have a reference to an AWS resource, as JSON. Each group is looked up. A join
    /// could read all of them.
    POLICIES_ELSEWHERE = ["SELECT DISTINCT (SELECT "]
        postgres "(body::json -> 'planPolicy')::text" sqlite "body -> 'planPolicy'"
        [" FROM resource_groups WHERE key = resource_references.group_key) AS policy
        FROM resource_references WHERE target_key = $1 AND group_key <> $2"];
    SET_DELETION = ["UPDATE resource_groups SET deletion = $2 WHERE key = $1"];
}

#[async_trait]
impl Groups for Sql {
    async fn put_resource_group(
        &self,
        group: NewResourceGroup,
        precondition: &Precondition,
        now: Timestamp,
    ) -> Result<Written<ResourceGroup>, Error> {
        transaction!(self, |tx| async {
            let current = lock(&mut tx, &group.id).await?;
            let written = rules::put_group(current.as_ref(), group.clone(), precondition, now)?;
            let parent = written.id.plane_id().key();
            TABLE.put(&mut tx, &written, parent).await?;
            Ok(Written {
                before: current,
                after: written,
            })
        })
    }

    async fn update_resource_group(
        &self,
        id: &GroupId,
        update: GroupUpdate,
        precondition: &Precondition,
        now: Timestamp,
    ) -> Result<Written<ResourceGroup>, Error> {
        transaction!(self, |tx| async {
            let current = lock(&mut tx, id).await?.ok_or(Error::NoSuchGroup)?;
            let written = rules::update_group(&current, update.clone(), precondition, now)?;
            let parent = written.id.plane_id().key();
            TABLE.put(&mut tx, &written, parent).await?;
            Ok(Written {
                before: Some(current),
                after: written,
            })
        })
    }

    async fn get_resource_group(&self, id: &GroupId) -> Result<ResourceGroup, Error> {
        get(&self.database, id).await
    }

    async fn list_resource_groups(
        &self,
        plane: &str,
        after: Option<&GroupId>,
        limit: usize,
    ) -> Result<Vec<ResourceGroup>, Error> {
        let values = page(group_keys(plane, after), limit);
        let rows = self.database.read(LIST, values).await?;
        rows.iter().map(read).collect()
    }

    async fn count_resource_groups(&self, plane: &str, limit: usize) -> Result<usize, Error> {
        let values = page(group_keys(plane, None), limit);
        self.database.count(COUNT, values).await
    }

    async fn policy_elsewhere(
        &self,
        target: &Target<'_>,
        own: Option<&GroupId>,
    ) -> Result<PlanPolicy, Error> {
        let own = own.map(GroupId::key);
        let values = values![target.key(), own.unwrap_or_default()];
        strictest(&self.database.read(POLICIES_ELSEWHERE, values).await?)
    }

    async fn delete_resource_group(
        &self,
        deletion: NewOperation,
        precondition: &Precondition,
        deletable: Option<&BTreeSet<OwnedPlace>>,
    ) -> Result<GroupDeletion, Error> {
        let NewWork::Group {
            group: id,
            task: task @ (Task::Delete | Task::DeleteUnshared),
            heirs,
            ..
        } = &deletion.work
        else {
            return corrupt("delete_resource_group accepts only the deletion of a group");
        };
        transaction!(self, |tx| async {
            let Some(group) = lock(&mut tx, id).await? else {
                return Ok(GroupDeletion::Absent);
            };
            precondition.judge(Some(group.etag()))?;
            if let Some(running) = group.body.deletion {
                let running = operation_row::find(&mut tx, running).await?;
                let running =
                    running.ok_or_else(|| Error::Corrupt(format!("{id} has no deletion")))?;
                return Ok(GroupDeletion::Running(Box::new(running)));
            }
            rules::judge_policy(group.body.policy(), None)?;
            if let Some(busy) = busy::live_in(&mut tx, id, None).await? {
                return Err(Error::Busy(busy).into());
            }
            // Read after it is known that no operation is live: the end of one can make the group an owner.
            if let Some(deletable) = deletable {
                let limit = rules::places_to_judge(deletable);
                let owned = reference_row::owned_places(&mut tx, id, limit).await?;
                if !owned.is_subset(deletable) {
                    return Ok(GroupDeletion::Owns(owned));
                }
            }
            if *task == Task::Delete {
                let others = reference_row::shared(&mut tx, id, SHARED_MAX).await?;
                if !others.is_empty() {
                    return Err(Error::Shared(others).into());
                }
            }
            let members = reference_row::count_of_group(&mut tx, id).await?;
            let key = id.key();
            if members.all == 0 && !leftover_row::has_ours(&mut tx, &key).await? {
                leftover_row::delete_register(&mut tx, &key).await?;
                delete(&mut tx, id, &deletion.header()).await?;
                return Ok(GroupDeletion::Removed);
            }
            let work = GroupWork {
                heirs: heirs.clone(),
                ..GroupWork::new(group.id, task.clone(), members.owned)
            };
            let operation = Operation {
                header: deletion.header(),
                work: Work::Group(Box::new(work)),
            };
            operation_row::insert(&mut tx, &operation, None, None, None).await?;
            set_deletion(&mut tx, id, Some(deletion.id)).await?;
            Ok(GroupDeletion::Accepted(Box::new(operation)))
        })
    }
}

pub(crate) async fn get(database: &Database, id: &GroupId) -> Result<ResourceGroup, Error> {
    let row = TABLE.get(database, id.key()).await?;
    read(&row.ok_or(Error::NoSuchGroup)?)
}

/// Returns a group that is not being deleted, and locks it against changes until the transaction ends.
pub(crate) async fn hold(
    transaction: &mut Transaction,
    id: &GroupId,
) -> Result<ResourceGroup, Abort> {
    Ok(open(share(transaction, id).await?)?)
}

/// The same for children of the group's deletion.
pub(crate) async fn hold_even_deleting(
    transaction: &mut Transaction,
    id: &GroupId,
) -> Result<ResourceGroup, Abort> {
    let group = share(transaction, id).await?;
    Ok(group.ok_or(Error::NoSuchGroup)?)
}

/// Returns the group and locks it against changes until the transaction ends.
pub(crate) async fn share(
    transaction: &mut Transaction,
    id: &GroupId,
) -> Result<Option<ResourceGroup>, Abort> {
    let row = transaction.fetch_optional(SHARE, values![id.key()]).await?;
    Ok(row.as_ref().map(read).transpose()?)
}

/// Returns the group, which must exist and must not be being deleted.
pub(crate) fn open(group: Option<ResourceGroup>) -> Result<ResourceGroup, Error> {
    let group = group.ok_or(Error::NoSuchGroup)?;
    match group.body.deletion {
        Some(deletion) => Err(Error::GroupDeleting(deletion)),
        None => Ok(group),
    }
}

/// Returns the group and locks it exclusively until the transaction ends.
pub(crate) async fn lock(
    transaction: &mut Transaction,
    id: &GroupId,
) -> Result<Option<ResourceGroup>, Abort> {
    let row = TABLE.lock(transaction, id.key()).await?;
    Ok(row.as_ref().map(read).transpose()?)
}

fn strictest(policies: &[Row]) -> Result<PlanPolicy, Error> {
    let mut strictest = PlanPolicy::default();
    for row in policies {
        if let Some(policy) = row.get::<Option<&str>>("policy")? {
            strictest = strictest.max(from_json(policy)?);
        }
    }
    Ok(strictest)
}

/// Records the operation that deletes the group.
pub(crate) async fn set_deletion(
    transaction: &mut Transaction,
    id: &GroupId,
    deletion: Option<OperationId>,
) -> Result<(), Abort> {
    let deletion = deletion.map(|operation| operation.to_string());
    transaction
        .execute(SET_DELETION, values![id.key(), deletion])
        .await?;
    Ok(())
}

/// Writes a new group.
pub(crate) async fn create(
    transaction: &mut Transaction,
    group: &ResourceGroup,
) -> Result<(), Abort> {
    TABLE
        .put(transaction, group, group.id.plane_id().key())
        .await
}

/// Removes the group, and with it all rights over it that callers have given.
pub(crate) async fn delete(
    transaction: &mut Transaction,
    id: &GroupId,
    deletion: &Header,
) -> Result<(), Abort> {
    delete_unassigned(transaction, id).await?;
    refactor_row::forget(transaction, id).await?;
    role_assignments::unassign(transaction, id, deletion).await
}

/// Removes a group that no role assignment names.
pub(crate) async fn delete_unassigned(
    transaction: &mut Transaction,
    id: &GroupId,
) -> Result<(), Abort> {
    transaction.execute(DELETE, values![id.key()]).await?;
    Ok(())
}

fn read(row: &Row) -> Result<ResourceGroup, Error> {
    read_after(row, "")
}

/// Reads a group from a row where the names of its columns begin with `prefix`.
pub(crate) fn read_after(row: &Row, prefix: &str) -> Result<ResourceGroup, Error> {
    let deletion: Option<&str> = row.get(&format!("{prefix}deletion"))?;
    let mut group: ResourceGroup = arm_resources::read_after(row, prefix)?;
    group.body.deletion = deletion.map(parsed).transpose()?;
    Ok(group)
}
