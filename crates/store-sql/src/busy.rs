//! Finds the live operation that keeps others off an AWS resource or a group, and what else is recorded of a resource.

use ucp_model::{GroupId, OperationId};
use ucp_store::{Error, RecordedTarget};

use crate::database::{Abort, Database, Row, Statement, Transaction, statements, values};
use crate::held_groups;
use crate::json::parsed;

/// The live operation that works on an AWS resource, given the expression of its key.
macro_rules! live_on {
    ($key:literal) => {
        concat!(
            "(SELECT live.id FROM operations AS live WHERE live.held_target_key = ",
            $key,
            ")"
        )
    };
}
pub(crate) use live_on;

/// The operation that ended last on an AWS resource, given the expression of its key.
macro_rules! ended_last_on {
    ($key:literal) => {
        concat!(
            "(SELECT ended.id FROM operations AS ended WHERE ended.target_key = ",
            $key,
            " ORDER BY ended.ended_at DESC, ended.id DESC LIMIT 1)"
        )
    };
}
pub(crate) use ended_last_on;

statements! {
    BUSY_TARGET = ["SELECT id FROM operations WHERE held_target_key = $1"];
    /// An AWS resource has no row of its own to lock.
    LOCK_TARGET = ["SELECT (SELECT id FROM operations WHERE held_target_key = $1) AS id"]
        lock ", pg_advisory_xact_lock(hashtextextended($1, 0)) AS locked";
    /// The first live operation on a group or on its references.
    BUSY_GROUP = ["SELECT id FROM operations WHERE held_group_key = $1 AND id <> $2 ORDER BY accepted_at, id LIMIT 1"];
    /// The live apply to a group, but for those with an order: they are of another kind here.
    BUSY_APPLY = ["SELECT id FROM operations WHERE held_group_key = $1 AND kind = 'applyGroup'"];
    TARGET = ["SELECT ", live_on!("$1"), " AS holder, ", ended_last_on!("$1"), " AS last_ended,
        (SELECT key FROM resource_references WHERE target_key = $1 LIMIT 1) AS reference"];
}

/// Returns the live operation that works on an AWS resource.
pub(crate) async fn holder(
    transaction: &mut Transaction,
    target: &str,
) -> Result<Option<OperationId>, Abort> {
    found(transaction, BUSY_TARGET, target.to_owned()).await
}

/// The same, and locks the resource until the transaction ends: no other operation is accepted on it, and it is not
/// adopted. What else is recorded of the resource is read after this: the answer may be as old as the wait for the
/// lock.
pub(crate) async fn lock(
    transaction: &mut Transaction,
    target: &str,
) -> Result<Option<OperationId>, Abort> {
    found(transaction, LOCK_TARGET, target.to_owned()).await
}

/// Returns the live operation on a group, or on one of its references, that was accepted first, or else the deployment that
/// holds the group; except for `but`.
pub(crate) async fn live_in(
    transaction: &mut Transaction,
    group: &GroupId,
    but: Option<OperationId>,
) -> Result<Option<OperationId>, Abort> {
    let excepted = but.map(|operation| operation.to_string());
    let values = values![group.key(), excepted.unwrap_or_default()];
    let row = transaction.fetch_optional(BUSY_GROUP, values).await?;
    match row.map(|row| id(&row, "id")).transpose()?.flatten() {
        Some(live) => Ok(Some(live)),
        None => held_groups::holder(transaction, std::slice::from_ref(group), but).await,
    }
}

/// Returns the live apply to a group, or the deployment that holds it.
pub(crate) async fn apply_to(
    transaction: &mut Transaction,
    group: &GroupId,
) -> Result<Option<OperationId>, Abort> {
    match found(transaction, BUSY_APPLY, group.key()).await? {
        Some(live) => Ok(Some(live)),
        None => deployment_of(transaction, group).await,
    }
}

/// Returns the deployment that holds a group.
pub(crate) async fn deployment_of(
    transaction: &mut Transaction,
    group: &GroupId,
) -> Result<Option<OperationId>, Abort> {
    held_groups::holder(transaction, std::slice::from_ref(group), None).await
}

async fn found(
    transaction: &mut Transaction,
    statement: Statement,
    key: String,
) -> Result<Option<OperationId>, Abort> {
    let row = transaction.fetch_optional(statement, values![key]).await?;
    let id = row.map(|row| id(&row, "id"));
    Ok(id.transpose()?.flatten())
}

/// Returns what is recorded of an AWS resource, within a transaction.
pub(crate) async fn find(
    transaction: &mut Transaction,
    target: &str,
) -> Result<RecordedTarget, Abort> {
    let row = transaction.fetch_optional(TARGET, values![target]).await?;
    let recorded = row.as_ref().map(read);
    Ok(recorded.transpose()?.unwrap_or_default())
}

/// Returns what is recorded of an AWS resource, outside a transaction.
pub(crate) async fn get(database: &Database, target: String) -> Result<RecordedTarget, Error> {
    let rows = database.read(TARGET, values![target]).await?;
    let recorded = rows.first().map(read);
    Ok(recorded.transpose()?.unwrap_or_default())
}

fn read(row: &Row) -> Result<RecordedTarget, Error> {
    Ok(RecordedTarget {
        holder: id(row, "holder")?,
        is_referenced: row.get::<Option<&str>>("reference")?.is_some(),
        last_ended: id(row, "last_ended")?,
    })
}

/// Returns the id of an operation in `column`.
pub(crate) fn id(row: &Row, column: &str) -> Result<Option<OperationId>, Error> {
    let id: Option<&str> = row.get(column)?;
    id.map(parsed).transpose()
}
