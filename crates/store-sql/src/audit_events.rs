//! The audit.

use async_trait::async_trait;
use serde::Serialize;
use ucp_access::GrantChange;
use ucp_model::{CorrelationId, OperationId, Timestamp};
use ucp_store::{AuditEvent, AuditEvents, AuditOutcome, AuditPlace, Error, StoredAuditEvent};

use crate::Sql;
use crate::database::{Abort, Row, Transaction, statements, values};
use crate::json::{corrupt, from_json, parsed, to_json};

statements! {
    /// The events are a JSON array, so that a batch is one statement.
    APPEND = ["INSERT INTO audit_events (at, caller, peer, action, id, outcome, status, code, correlation_id, request_id,
            operation, change, paths, suppressed) "]
        postgres "SELECT (event->>'at')::bigint, event->>'caller', event->>'peer', event->>'action', event->>'id',
                event->>'outcome', (event->>'status')::bigint, event->>'code', event->>'correlation_id',
                event->>'request_id', event->>'operation', event->>'change', event->>'paths', (event->>'suppressed')::bigint
            FROM json_array_elements($1::json) WITH ORDINALITY AS given(event, place) ORDER BY place"
        sqlite "SELECT value->>'at', value->>'caller', value->>'peer', value->>'action', value->>'id',
                value->>'outcome', value->>'status', value->>'code', value->>'correlation_id',
                value->>'request_id', value->>'operation', value->>'change', value->>'paths', value->>'suppressed'
            FROM json_each($1) ORDER BY key";
    LIST = ["SELECT sequence, at, caller, peer, action, id, outcome, status, code, correlation_id, request_id, operation,
            change, paths, suppressed
        FROM audit_events WHERE at >= $1 AND (at, sequence) < ($2, $3) ORDER BY at DESC, sequence DESC LIMIT $4"];
    REMOVE = ["DELETE FROM audit_events WHERE sequence "]
        postgres "= ANY(ARRAY(" sqlite "IN (" ["SELECT sequence FROM audit_events WHERE at < $1 ORDER BY at, sequence LIMIT $2"]
        postgres "))" sqlite ")";
}

/// An event, as [`APPEND`] takes it.
#[derive(Serialize)]
struct Given<'a> {
    at: i64,
    caller: &'a str,
    peer: Option<&'a str>,
    action: &'a str,
    id: &'a str,
    outcome: &'a str,
    status: Option<u16>,
    code: Option<&'a str>,
    correlation_id: &'a str,
    request_id: &'a str,
    operation: Option<OperationId>,
    change: Option<&'a GrantChange>,
    /// As text, since Postgres reads no JSON string with a NUL, which the name of a tag may have.
    paths: Option<String>,
    suppressed: u64,
}

impl<'a> TryFrom<&'a AuditEvent> for Given<'a> {
    type Error = Error;

    fn try_from(event: &'a AuditEvent) -> Result<Self, Error> {
        let paths = (!event.paths.is_empty()).then(|| to_json(&event.paths));
        Ok(Self {
            at: event.at.as_millis(),
            caller: &event.caller,
            peer: event.peer.as_deref(),
            action: &event.action,
            id: &event.id,
            outcome: event.outcome.as_str(),
            status: event.status,
            code: event.code.as_deref(),
            correlation_id: event.correlation_id.as_str(),
            request_id: &event.request_id,
            operation: event.operation,
            change: event.change.as_ref(),
            paths: paths.transpose()?,
            suppressed: event.suppressed,
        })
    }
}

#[async_trait]
impl AuditEvents for Sql {
    async fn append_audit_events(&self, events: &[AuditEvent]) -> Result<(), Error> {
        let appended = self.database.write(APPEND, values![given(events)?]);
        appended.await.map_err(refused)?;
        Ok(())
    }

    async fn list_audit_events(
        &self,
        since: Timestamp,
        before: AuditPlace,
        limit: usize,
    ) -> Result<Vec<StoredAuditEvent>, Error> {
        let values = values![
            since.as_millis(),
            before.at.as_millis(),
            before.sequence,
            i64::try_from(limit).unwrap_or(i64::MAX),
        ];
        let rows = self.database.read(LIST, values).await?;
        rows.iter().map(read).collect()
    }

    async fn remove_audit_events(&self, before: Timestamp, limit: usize) -> Result<u64, Error> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.database
            .write(REMOVE, values![before.as_millis(), limit])
            .await
    }
}

/// Appends events that are recorded with what they are about, or not at all.
pub(crate) async fn append(
    transaction: &mut Transaction,
    events: &[AuditEvent],
) -> Result<(), Abort> {
    if !events.is_empty() {
        let values = values![given(events)?];
        transaction.execute(APPEND, values).await?;
    }
    Ok(())
}

fn given(events: &[AuditEvent]) -> Result<String, Error> {
    let given: Result<Vec<Given<'_>>, Error> = events.iter().map(Given::try_from).collect();
    to_json(&given?)
}

/// Tells that the database refuses a value from that it cannot write now.
fn refused(error: Error) -> Error {
    let Error::Unavailable(cause) = &error else {
        return error;
    };
    let cause = cause.downcast_ref::<sqlx::Error>();
    let cause = cause.and_then(sqlx::Error::as_database_error);
    let code = cause.and_then(|cause| cause.code());
    // `data_exception` of Postgres, with a letter or a number for each kind.
    if code.is_some_and(|code| code.len() == 5 && code.starts_with("22")) {
        Error::Corrupt(ucp_model::chain(&error))
    } else {
        error
    }
}

fn read(row: &Row) -> Result<StoredAuditEvent, Error> {
    let at = Timestamp::from_millis(row.get("at")?);
    let status: Option<i64> = row.get("status")?;
    let status = status.map(u16::try_from).transpose();
    let operation: Option<&str> = row.get("operation")?;
    let change: Option<&str> = row.get("change")?;
    let paths: Option<&str> = row.get("paths")?;
    Ok(StoredAuditEvent {
        place: AuditPlace {
            at,
            sequence: row.get("sequence")?,
        },
        event: AuditEvent {
            at,
            caller: row.get("caller")?,
            peer: row.get("peer")?,
            action: row.get("action")?,
            id: row.get("id")?,
            outcome: outcome(row.get("outcome")?)?,
            status: status.map_err(|error| Error::Corrupt(error.to_string()))?,
            code: row.get("code")?,
            correlation_id: CorrelationId::new(row.get::<String>("correlation_id")?),
            request_id: row.get("request_id")?,
            operation: operation.map(parsed::<OperationId>).transpose()?,
            change: change.map(from_json).transpose()?,
            paths: paths.map(from_json).transpose()?.unwrap_or_default(),
            suppressed: row.count("suppressed")?,
        },
    })
}

fn outcome(text: &str) -> Result<AuditOutcome, Error> {
    let mut known = AuditOutcome::ALL.into_iter();
    match known.find(|outcome| outcome.as_str() == text) {
        Some(outcome) => Ok(outcome),
        None => corrupt(format!("the outcome of an audit event is '{text}'")),
    }
}
