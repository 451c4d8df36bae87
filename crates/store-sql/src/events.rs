//! The history.

use serde::Serialize;
use ucp_model::{CorrelationId, OperationId, ReferenceId, Timestamp};
use ucp_store::{Error, Event};

use crate::database::{Abort, Database, Row, Transaction, statements, values};
use crate::json::{from_json, parsed, to_json};

statements! {
    APPEND = ["INSERT INTO events (at, caller, kind, operation, correlation_id, reference, reference_key,
            resource, lost, changes, outcome, code, message)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)"];
    /// The events are a JSON array, so that many are one statement.
    APPEND_ALL = ["INSERT INTO events (at, caller, kind, correlation_id, reference, reference_key, resource, changes, outcome,
            message) "]
        postgres "SELECT (event->>'at')::bigint, event->>'caller', event->>'kind', event->>'correlation_id',
                event->>'reference', event->>'reference_key', event->>'resource', '[]', event->>'outcome', event->>'message'
            FROM json_array_elements($1::json) WITH ORDINALITY AS given(event, place) ORDER BY place"
        sqlite "SELECT value->>'at', value->>'caller', value->>'kind', value->>'correlation_id', value->>'reference',
                value->>'reference_key', value->>'resource', '[]', value->>'outcome', value->>'message'
            FROM json_each($1) ORDER BY key";
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

/// An event of a reference without an operation or changes, as [`APPEND_ALL`] takes it.
#[derive(Serialize)]
struct Given<'a> {
    at: i64,
    caller: &'a str,
    kind: &'a str,
    correlation_id: &'a str,
    reference: Option<&'a str>,
    reference_key: String,
    resource: Option<&'a str>,
    outcome: &'a str,
    message: Option<&'a str>,
}

/// Appends events that have neither an operation nor changes, each for its reference.
pub(crate) async fn append_all(
    transaction: &mut Transaction,
    events: &[(ReferenceId, Event)],
) -> Result<(), Abort> {
    let given = events.iter().map(|(reference, event)| Given {
        at: event.at.as_millis(),
        caller: &event.caller,
        kind: &event.kind,
        correlation_id: event.correlation_id.as_str(),
        reference: event.reference.as_deref(),
        reference_key: reference.key(),
        resource: event.resource.as_deref(),
        outcome: &event.outcome,
        message: event.message.as_deref(),
    });
    let given: Vec<Given<'_>> = given.collect();
    transaction
        .execute(APPEND_ALL, values![to_json(&given)?])
        .await?;
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
