//! The operations on groups, and what is asked about all operations of a group. They are rows of the same table as the
//! operations on resources, and their leases are the same.

use std::collections::BTreeMap;

use ucp_model::group_operation::{ImportItem, ImportOutcome, Progress, Task};
use ucp_model::{CorrelationId, Ended, GroupId, GroupOperation, OperationId, Timestamp};
use ucp_store::{
    Error, GroupDeletion, Lease, ListedOperation, NewGroupOperation, OperationPage, Precondition,
    Status, rules,
};

use crate::database::{Abort, Database, Row, Transaction, statements, values};
use crate::json::{corrupt, from_json, parsed, to_json};
use crate::leases::generation;
use crate::operations::{self, columns};
use crate::{events, groups, references};

statements! {
    INSERT = ["INSERT INTO operations (id, kind, plane, account, region, type_name, group_name, group_key, was_mapped,
            created, options, state, state_since, attempt, due_at, changes, result, schema_fingerprint,
            correlation_id, caller, accepted_at, items_total, items_done, generation)
        VALUES ($1, $2, $3, '', '', '', $4, $5, 0, 0, $6, 'accepted', $7, 0, $7, '[]', $8, '', $9, $10, $7, $11, 0, 0)"];
    GET = ["SELECT ", columns!(), " FROM operations WHERE id = $1 AND group_name IS NOT NULL"];
    /// The first of the live operations on a group or on its references.
    BUSY = ["SELECT id FROM operations WHERE group_key = $1 AND ended_at IS NULL
        ORDER BY accepted_at, id LIMIT 1"];
    /// Keeps a child from being started under a lease that is taken meanwhile.
    HOLD = ["SELECT id FROM operations WHERE id = $1 AND lease_owner = $2 AND generation = $3"] lock " FOR UPDATE";
    STEP = ["UPDATE operations SET items_done = $4, result = $5, due_at = $6, lease_expires_at = $7
        WHERE id = $1 AND lease_owner = $2 AND generation = $3"];
    ENDED_CHILDREN = ["SELECT COUNT(*) AS ended FROM operations WHERE parent = $1 AND ended_at IS NOT NULL"];
    WAKE = ["UPDATE operations SET due_at = $2 WHERE id = $1"];
    FINISH = ["UPDATE operations SET items_done = $4, result = $5, due_at = $6, ended_at = $6, state = $7, failure = $8,
            lease_owner = NULL, lease_expires_at = NULL
        WHERE id = $1 AND lease_owner = $2 AND generation = $3"];
    REQUEST_CANCEL = ["UPDATE operations SET
            cancel_requested_at = COALESCE(cancel_requested_at, $2),
            due_at = CASE WHEN due_at < $2 THEN due_at ELSE $2 END
        WHERE ended_at IS NULL AND group_name IS NOT NULL AND id = $1"];
    REQUEST_CHILDREN_CANCEL = ["UPDATE operations SET
            cancel_requested_at = COALESCE(cancel_requested_at, $2),
            due_at = CASE WHEN due_at < $2 THEN due_at ELSE $2 END
        WHERE ended_at IS NULL AND parent = $1"];
    PAGE = ["SELECT ", columns!(), " FROM operations
        WHERE group_key = $1 AND (accepted_at < $2 OR (accepted_at = $2 AND id < $3))
            AND ($4 = '' OR state = $4 OR ($4 = 'live' AND ended_at IS NULL))
        ORDER BY accepted_at DESC, id DESC LIMIT $5"];
    REMOVE_ENDED = ["DELETE FROM operations WHERE id IN (
            SELECT id FROM operations AS old
            WHERE ended_at IS NOT NULL AND ended_at < $1 AND NOT EXISTS (
                SELECT 1 FROM operations AS parents WHERE parents.id = old.parent AND parents.ended_at IS NULL
            )
            ORDER BY ended_at, id LIMIT $2"] lock " FOR UPDATE SKIP LOCKED" [")"];
}

pub(crate) async fn delete_group(
    transaction: &mut Transaction,
    new: &NewGroupOperation,
    precondition: &Precondition,
) -> Result<GroupDeletion, Abort> {
    let Some(group) = groups::lock(transaction, &new.group).await? else {
        return Ok(GroupDeletion::Absent);
    };
    precondition.judge(Some(group.etag()))?;
    if let Some(deletion) = group.body.deletion {
        let row = transaction
            .fetch_optional(GET, values![deletion.to_string()])
            .await?;
        let Some(row) = row else {
            return Ok(corrupt(format!("there is no deletion {deletion}"))?);
        };
        return Ok(GroupDeletion::Running(Box::new(read(&row)?)));
    }
    let busy = transaction
        .fetch_optional(BUSY, values![new.group.key()])
        .await?;
    if let Some(row) = busy {
        return Err(Error::Busy(parsed(row.get("id")?)?).into());
    }
    let references = references::of_group(transaction, &new.group).await?;
    if references.is_empty() {
        groups::delete(transaction, &new.group).await?;
        return Ok(GroupDeletion::Removed);
    }
    let owned = references
        .iter()
        .filter(|reference| reference.owned)
        .count();
    let operation = rules::accept_group_operation(new.clone(), group.id, owned);
    insert(transaction, &operation).await?;
    groups::set_deletion(transaction, &operation.group, Some(operation.id)).await?;
    Ok(GroupDeletion::Accepted(Box::new(operation)))
}

pub(crate) async fn accept_import(
    transaction: &mut Transaction,
    new: &NewGroupOperation,
) -> Result<GroupOperation, Abort> {
    let group = groups::hold(transaction, &new.group).await?;
    let operation = rules::accept_group_operation(new.clone(), group, 0);
    insert(transaction, &operation).await?;
    Ok(operation)
}

async fn insert(transaction: &mut Transaction, operation: &GroupOperation) -> Result<(), Abort> {
    let items: &[ImportItem] = match &operation.task {
        Task::Delete => &[],
        Task::Import(items) => items,
    };
    let values = values![
        operation.id.to_string(),
        operation.kind(),
        operation.group.plane.as_str(),
        operation.group.name.as_str(),
        operation.group.key(),
        to_json(&items)?,
        operation.accepted_at.as_millis(),
        to_json(&operation.outcomes)?,
        operation.correlation_id.as_str(),
        operation.caller.as_str(),
        i64::from(operation.total),
    ];
    transaction.execute(INSERT, values).await?;
    transaction.wake();
    Ok(())
}

/// Makes sure that the lease is good until the transaction ends.
pub(crate) async fn hold(transaction: &mut Transaction, lease: &Lease) -> Result<(), Abort> {
    let owner = lease.owner.as_str();
    let values = values![lease.operation.to_string(), owner, generation(lease)?];
    match transaction.fetch_optional(HOLD, values).await? {
        Some(_) => Ok(()),
        None => Err(Error::LeaseLost.into()),
    }
}

/// Writes a step that does not end the operation, under the lease as renewed. The row is written before the children are
/// counted: one that ends later waits for the row, and wakes its parent.
pub(crate) async fn step(
    transaction: &mut Transaction,
    lease: &Lease,
    operation: &GroupOperation,
    ended_children: usize,
    now: Timestamp,
) -> Result<(), Abort> {
    let id = lease.operation.to_string();
    let values = values![
        id.as_str(),
        lease.owner.as_str(),
        generation(lease)?,
        i64::from(operation.done),
        to_json(&operation.outcomes)?,
        operation.due_at.as_millis(),
        lease.expires_at.as_millis(),
    ];
    operations::write(transaction, STEP, values).await?;
    let row = transaction
        .fetch_optional(ENDED_CHILDREN, values![id.as_str()])
        .await?;
    let ended: Option<usize> = row.map(|row| row.count("ended")).transpose()?;
    if ended != Some(ended_children) {
        transaction
            .execute(WAKE, values![id, now.as_millis()])
            .await?;
    }
    Ok(())
}

pub(crate) async fn finish(
    transaction: &mut Transaction,
    lease: &Lease,
    operation: &GroupOperation,
) -> Result<(), Abort> {
    let state = match &operation.progress {
        Progress::Running => "accepted",
        Progress::Ended(ended) => ended.name(),
    };
    let ended_at = operation.ended_at.unwrap_or(operation.due_at);
    let values = values![
        lease.operation.to_string(),
        lease.owner.as_str(),
        generation(lease)?,
        i64::from(operation.done),
        to_json(&operation.outcomes)?,
        ended_at.as_millis(),
        state,
        operation.failure().map(to_json).transpose()?,
    ];
    operations::write(transaction, FINISH, values).await?;

    let group = groups::lock(transaction, &operation.group).await?;
    if rules::removes_group(operation) {
        for mapping in references::of_group(transaction, &operation.group).await? {
            references::delete(transaction, &mapping.id).await?;
            let event = rules::forgot_with_group(&mapping, operation);
            events::append(transaction, &event, Some(&mapping.id)).await?;
        }
        groups::delete(transaction, &operation.group).await?;
    } else if group.is_some_and(|group| group.body.deletion == Some(operation.id)) {
        groups::set_deletion(transaction, &operation.group, None).await?;
    }
    let event = rules::group_operation_ended(operation);
    events::append(transaction, &event, None).await
}

/// Notes that a live operation and its live children are to be cancelled, and makes them due.
pub(crate) async fn request_cancel(
    transaction: &mut Transaction,
    id: OperationId,
    now: Timestamp,
) -> Result<Option<GroupOperation>, Abort> {
    let values = || values![id.to_string(), now.as_millis()];
    if transaction.execute(REQUEST_CANCEL, values()).await? > 0 {
        let children = REQUEST_CHILDREN_CANCEL;
        transaction.execute(children, values()).await?;
        transaction.wake();
    }
    let row = transaction
        .fetch_optional(GET, values![id.to_string()])
        .await?;
    Ok(row.as_ref().map(read).transpose()?)
}

pub(crate) async fn list(
    database: &Database,
    group: &GroupId,
    page: OperationPage,
) -> Result<Vec<ListedOperation>, Error> {
    // What is live is little, so its status is told from the rows themselves.
    let (state, limit) = match page.status {
        None => ("", page.limit),
        Some(Status::Succeeded) => ("succeeded", page.limit),
        Some(Status::Failed) => ("failed", page.limit),
        Some(Status::Canceled) => ("canceled", page.limit),
        Some(Status::Accepted | Status::Provisioning | Status::Updating | Status::Deleting) => {
            ("live", usize::MAX)
        }
    };
    let (before, id) = match page.after {
        Some((accepted_at, id)) => (accepted_at.as_millis(), id.to_string()),
        None => (i64::MAX, String::new()),
    };
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let values = values![group.key(), before, id, state, limit];
    let rows = database.read(PAGE, values).await?;
    let mut listed: Vec<ListedOperation> = rows
        .iter()
        .map(operations::read_listed)
        .collect::<Result<_, Error>>()?;
    listed.retain(|operation| page.holds(operation));
    listed.truncate(page.limit);
    Ok(listed)
}

pub(crate) async fn remove_ended(
    transaction: &mut Transaction,
    before: Timestamp,
    limit: usize,
) -> Result<u64, Abort> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    transaction
        .execute(REMOVE_ENDED, values![before.as_millis(), limit])
        .await
}

/// The operation in a row of [`columns!`].
pub(crate) fn read(row: &Row) -> Result<GroupOperation, Error> {
    let kind: &str = row.get("kind")?;
    let task = match kind {
        "deleteGroup" => Task::Delete,
        "importGroup" => Task::Import(from_json(row.get("options")?)?),
        other => {
            return corrupt(format!(
                "there is no kind '{other}' of operations on groups"
            ));
        }
    };
    let state: &str = row.get("state")?;
    let failure: Option<&str> = row.get("failure")?;
    let progress = match (state, failure) {
        ("accepted", None) => Progress::Running,
        ("succeeded", None) => Progress::Ended(Ended::Succeeded),
        ("failed", Some(failure)) => Progress::Ended(Ended::Failed(from_json(failure)?)),
        ("canceled", Some(failure)) => Progress::Ended(Ended::Canceled(from_json(failure)?)),
        (other, _) => {
            return corrupt(format!(
                "there is no state '{other}' of operations on groups"
            ));
        }
    };
    let outcomes: BTreeMap<usize, ImportOutcome> = from_json(row.get("result")?)?;
    Ok(GroupOperation {
        id: parsed(row.get("id")?)?,
        group: GroupId {
            plane: row.get("plane")?,
            name: row.get("group_name")?,
        },
        task,
        progress,
        cancel_requested_at: row
            .get::<Option<i64>>("cancel_requested_at")?
            .map(Timestamp::from_millis),
        total: row.count("items_total")?,
        done: row.count("items_done")?,
        outcomes,
        due_at: Timestamp::from_millis(row.get("due_at")?),
        correlation_id: CorrelationId::new(row.get::<String>("correlation_id")?),
        caller: row.get("caller")?,
        accepted_at: Timestamp::from_millis(row.get("accepted_at")?),
        ended_at: row
            .get::<Option<i64>>("ended_at")?
            .map(Timestamp::from_millis),
    })
}
