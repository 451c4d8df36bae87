//! Finds the live operation that keeps others off an alias, an AWS resource or a group.

use ucp_model::{GroupId, OperationId, ReferenceId};
use ucp_store::Error;

use crate::database::{Abort, Statement, Transaction, statements, values};
use crate::json::parsed;

statements! {
    BUSY_ALIAS = ["SELECT id FROM operations WHERE reference_key = $1 AND ended_at IS NULL"];
    BUSY_TARGET = ["SELECT id FROM operations WHERE target_key = $1 AND ended_at IS NULL"];
    /// The first live operation on a group or on its references.
    BUSY_GROUP = ["SELECT id FROM operations WHERE group_key = $1 AND ended_at IS NULL
        ORDER BY accepted_at, id LIMIT 1"];
}

/// Returns [`Error::Busy`] if the alias has a live operation.
pub(crate) async fn refuse_busy_alias(
    transaction: &mut Transaction,
    id: &ReferenceId,
) -> Result<(), Abort> {
    match found(transaction, BUSY_ALIAS, id.key()).await? {
        Some(busy) => Err(Error::Busy(busy).into()),
        None => Ok(()),
    }
}

/// Returns the live operation that works on an AWS resource.
pub(crate) async fn holder(
    transaction: &mut Transaction,
    target: &str,
) -> Result<Option<OperationId>, Abort> {
    found(transaction, BUSY_TARGET, target.to_owned()).await
}

/// Returns the live operation on a group, or on one of its references, that was accepted first.
pub(crate) async fn live_in(
    transaction: &mut Transaction,
    group: &GroupId,
) -> Result<Option<OperationId>, Abort> {
    found(transaction, BUSY_GROUP, group.key()).await
}

async fn found(
    transaction: &mut Transaction,
    statement: Statement,
    key: String,
) -> Result<Option<OperationId>, Abort> {
    let row = transaction.fetch_optional(statement, values![key]).await?;
    Ok(row.map(|row| parsed(row.get("id")?)).transpose()?)
}
