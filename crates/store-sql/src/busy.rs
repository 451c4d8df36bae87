//! Finds the live operation that keeps others off an AWS resource or a group.

use ucp_model::{GroupId, OperationId};

use crate::database::{Abort, Statement, Transaction, statements, values};
use crate::json::parsed;

statements! {
    BUSY_TARGET = ["SELECT id FROM operations WHERE held_target_key = $1"];
    /// The first live operation on a group or on its references.
    BUSY_GROUP = ["SELECT id FROM operations WHERE held_group_key = $1 ORDER BY accepted_at, id LIMIT 1"];
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
