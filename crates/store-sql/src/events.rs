//! The history.

use ucp_model::{CorrelationId, OperationId, ReferenceId, Timestamp};
use ucp_store::{Error, Event};

use crate::database::{Abort, Database, Row, Transaction, statements, values};
use crate::json::{from_json, parsed, to_json};

statements! {
    APPEND = ["INSERT INTO events (at, caller, kind, operation, correlation_id, reference, reference_key,
            resource, lost, changes, outcome, code, message)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)"];
    LIST = ["SELECT at, caller, kind, operation, correlation_id, reference, resource, lost, changes, outcome, code,
            message
        FROM events WHERE reference_key = $1 ORDER BY sequence"];
    /// In the order of writing, which is that of time up to the difference between clocks, so that no index is needed and
    /// no more than `$2` rows are read.
    REMOVE = ["DELETE FROM events WHERE sequence "]
        postgres "= ANY(ARRAY(" sqlite "IN (" ["SELECT sequence FROM (
            SELECT sequence, at FROM events AS bounded ORDER BY sequence LIMIT $2
        ) AS bounded WHERE at < $1"] postgres "))" sqlite ")";
}

/// Appends `event`. It concerns `reference`, if any.
pub(crate) async fn append(
    transaction: &mut Transaction,
    event: &Event,
    reference: Option<&ReferenceId>,
) -> Result<(), Abort> {
    let values = values![
        event.at.as_millis(),
        event.caller.as_str(),
        event.kind.as_str(),
        event.operation.map(|id| id.to_string()),
        event.correlation_id.as_str(),
        event.reference.as_deref(),
        reference.map(ReferenceId::key),
        event.resource.as_deref(),
        event.lost.as_deref(),
        to_json(&event.changes)?,
        event.outcome.as_str(),
        event.code.as_deref(),
        event.message.as_deref(),
    ];
    transaction.execute(APPEND, values).await?;
    Ok(())
}

pub(crate) async fn list(
    database: &Database,
    reference: &ReferenceId,
) -> Result<Vec<Event>, Error> {
    let rows = database.read(LIST, values![reference.key()]).await?;
    rows.iter().map(read).collect()
}

/// Removes those from before `before` among the first `limit`.
pub(crate) async fn remove(
    database: &Database,
    before: Timestamp,
    limit: usize,
) -> Result<u64, Error> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    database
        .write(REMOVE, values![before.as_millis(), limit])
        .await
}

fn read(row: &Row) -> Result<Event, Error> {
    let operation: Option<&str> = row.get("operation")?;
    Ok(Event {
        at: Timestamp::from_millis(row.get("at")?),
        caller: row.get("caller")?,
        kind: row.get("kind")?,
        operation: operation.map(parsed::<OperationId>).transpose()?,
        correlation_id: CorrelationId::new(row.get::<String>("correlation_id")?),
        reference: row.get("reference")?,
        resource: row.get("resource")?,
        lost: row.get("lost")?,
        changes: from_json(row.get("changes")?)?,
        outcome: row.get("outcome")?,
        code: row.get("code")?,
        message: row.get("message")?,
    })
}
