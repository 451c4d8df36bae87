//! The row of an operation: the columns, and the sealed JSON in `body`.

use serde::{Deserialize, Serialize};
use ucp_model::operation::{Header, Work};
use ucp_model::{CorrelationId, GroupId, Operation, OperationId, ReferenceId, Timestamp};
use ucp_store::{Cipher, Error, Lease, NewLook, Sealed, SealedPlace};

use crate::busy::{ended_last_on, live_on};
use crate::database::{Abort, Database, Row, Transaction, statements, values};
use crate::json::{corrupt, from_json, parsed};
use crate::sealed_json::seal;

/// The columns of an [`Operation`].
macro_rules! columns {
    () => {
        "id, parent, accepted_at, due_at, cancel_requested_at, ended_at, waits_for, next_try_at, body"
    };
}
pub(crate) use columns;

statements! {
    /// The look (`$12`), if there is one (`$15`), is kept if its basis holds. The resource is locked, so an operation
    /// that has come in between is seen here, live or ended.
    INSERT = ["INSERT INTO operations (id, kind, status, parent, reference_key, held_target_key, held_group_key, group_key,
            schema_fingerprint, accepted_at, due_at, desired, body, generation, scope_key, caller, look)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8, $9, $9, $10, $11, 0, $16, $17,
            CASE WHEN $15 = 1
                AND ", live_on!("$6"), " IS NULL
                AND $13 IS NOT DISTINCT FROM ", ended_last_on!("$6"), "
                AND $14 = CASE WHEN EXISTS (SELECT 1 FROM resource_references WHERE target_key = $6) THEN 1 ELSE 0 END
            THEN "] postgres "CAST($12 AS BYTEA) END)" sqlite "$12 END)" ["
        RETURNING CAST(CASE WHEN look IS NULL THEN 0 ELSE 1 END AS BIGINT) AS keeps_look"];
    GET = ["SELECT ", columns!(), " FROM operations WHERE id = $1"];
}

/// The JSON in `body`. A later version adds members with defaults, or raises the version and reads both.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Body<W> {
    version: u32,
    correlation_id: CorrelationId,
    caller: String,
    work: W,
}

/// The member that every version of [`Body`] has.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

/// The latest version of [`Body`] that can be read.
const VERSION: u32 = 3;

/// Returns the version that is written. Programs that know the first one alone would delete what is only to be looked at.
/// Those that know no later one than the second would drop the order that an apply carries out.
fn version(operation: &Operation) -> u32 {
    match &operation.work {
        Work::Resource(work) if work.looks_only => 2,
        Work::Group(work) if work.order().is_some() => VERSION,
        Work::Resource(_) | Work::Group(_) => 1,
    }
}

/// Returns the kind of an operation as its row has it. Applies with an order have one of their own, since a unique index lets
/// one other apply to a group be live at a time.
fn kind(work: &Work) -> &'static str {
    match work {
        Work::Group(group) if group.order().is_some() => "applyOrder",
        Work::Group(_) | Work::Resource(_) => work.kind(),
    }
}

pub(crate) fn body(cipher: &dyn Cipher, operation: &Operation) -> Result<String, Error> {
    let body = Body {
        version: version(operation),
        correlation_id: operation.header.correlation_id.clone(),
        caller: operation.header.caller.clone(),
        work: &operation.work,
    };
    seal(cipher, &SealedPlace::Body(operation.header.id), &body)
}

/// Reads an operation from a row of [`columns!`].
pub(crate) fn read(row: &Row) -> Result<Operation, Error> {
    let id: OperationId = parsed(row.get("id")?)?;
    let text = row
        .open("body", &SealedPlace::Body(id))?
        .unwrap_or_default();
    // The version first: the rest of a later version may be unreadable.
    let Version { version } = from_json(&text)?;
    if version > VERSION {
        return corrupt(format!(
            "body has version {version}, and this program reads up to {VERSION}"
        ));
    }
    let body: Body<Work> = from_json(&text)?;
    let parent: Option<&str> = row.get("parent")?;
    let time = |column| Ok::<_, Error>(row.get::<Option<i64>>(column)?.map(Timestamp::from_millis));
    let waits_for: Option<&str> = row.get("waits_for")?;
    let due_at = Timestamp::from_millis(row.get("due_at")?);
    let due_at = match waits_for {
        Some(_) => time("next_try_at")?.unwrap_or(due_at),
        None => due_at,
    };
    let header = Header {
        id,
        parent: parent.map(parsed).transpose()?,
        correlation_id: body.correlation_id,
        caller: body.caller,
        accepted_at: Timestamp::from_millis(row.get("accepted_at")?),
        due_at,
        // A name of a later version is not told.
        waits_for: waits_for.and_then(|name| name.parse().ok()),
        cancel_requested_at: time("cancel_requested_at")?,
        ended_at: time("ended_at")?,
    };
    Ok(Operation {
        header,
        work: body.work,
    })
}

/// Returns the operation, outside a transaction.
pub(crate) async fn get(database: &Database, id: OperationId) -> Result<Option<Operation>, Error> {
    let rows = database.read(GET, values![id.to_string()]).await?;
    rows.first().map(read).transpose()
}

/// Returns the operation, within a transaction.
pub(crate) async fn find(
    transaction: &mut Transaction,
    id: OperationId,
) -> Result<Option<Operation>, Abort> {
    let row = transaction
        .fetch_optional(GET, values![id.to_string()])
        .await?;
    Ok(row.as_ref().map(read).transpose()?)
}

/// Inserts an operation that is due at once, and returns whether it keeps the look. The caller has compared the basis of
/// the look with the reference.
pub(crate) async fn insert(
    transaction: &mut Transaction,
    operation: &Operation,
    target: Option<String>,
    desired: Option<&Sealed>,
    look: Option<&NewLook>,
) -> Result<bool, Abort> {
    let Operation { header, work } = operation;
    let fingerprint = work
        .resource()
        .map_or("", |work| work.schema_fingerprint.as_str());
    let body = body(transaction.cipher(), operation)?;
    let values = values![
        header.id.to_string(),
        kind(work),
        work.status(),
        header.parent.map(|id| id.to_string()),
        work.reference().map(ReferenceId::key),
        target,
        work.group_id().map(GroupId::key),
        fingerprint,
        header.accepted_at.as_millis(),
        desired.map(|sealed| sealed.0.clone()),
        body,
        look.map(|look| look.sealed.0.clone()),
        look.and_then(|look| Some(look.basis.last_ended?.to_string())),
        look.is_some_and(|look| look.basis.is_referenced),
        look.is_some(),
        work.scope_key(),
        // Its children are its own doing, and have a bound of their own.
        header.parent.is_none().then(|| header.caller.clone()),
    ];
    let row = transaction.fetch_optional(INSERT, values).await?;
    transaction.wake();
    let keeps_look = row.map(|row| row.flag("keeps_look")).transpose()?;
    Ok(keeps_look.unwrap_or_default())
}

/// Converts the generation of a lease to a column value. No row has one that is too large.
pub(crate) fn generation(lease: &Lease) -> Result<i64, Error> {
    i64::try_from(lease.generation).map_err(|_| Error::LeaseLost)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use ucp_model::operation::group::{Application, Task};
    use ucp_model::operation::{GroupWork, Kind, ResourceWork};
    use ucp_model::{InstanceId, Order, Scope, TypeName};

    use super::*;

    fn operation(work: Work) -> Operation {
        let now = Timestamp::default();
        Operation {
            header: Header {
                id: format!("{:032x}", 1).parse().unwrap(),
                parent: None,
                correlation_id: CorrelationId::new("c".to_owned()),
                caller: "caller".to_owned(),
                accepted_at: now,
                due_at: now,
                waits_for: None,
                cancel_requested_at: None,
                ended_at: None,
            },
            work,
        }
    }

    /// A program that does not know what is only to be looked at would delete it.
    #[test]
    fn what_is_only_looked_at_is_of_a_later_version() {
        let deleting = |looks_only| {
            let (scope, now) = (
                Scope::new("aws", "123456789012", "us-west-2"),
                Timestamp::default(),
            );
            let type_name = TypeName::from_cloudformation("AWS::Logs::LogGroup");
            let work = ResourceWork {
                looks_only,
                ..ResourceWork::new(Kind::Delete, scope.unwrap(), type_name.unwrap(), now)
            };
            operation(Work::Resource(Box::new(work)))
        };
        assert_eq!([false, true].map(|it| version(&deleting(it))), [1, 2]);
    }

    /// A program that does not know orders would drop it with the first step, and the change that it carries out would not end.
    #[test]
    fn an_order_is_of_a_later_version_and_a_kind_of_its_own() {
        let order = Order {
            kind: ucp_model::ChangeKind::Create,
            instance: InstanceId {
                platform: "cf".to_owned(),
                instance: "i".to_owned(),
            },
            binding: None,
            tags: BTreeMap::new(),
            after: None,
            reads_until: None,
            originator: None,
        };
        let found = [None, Some(Box::new(order))].map(|order| {
            let application = Application {
                members: Vec::new(),
                has_outputs: false,
                plan: None,
                deployment: None,
                order,
            };
            let group = GroupId::new("local", "rg").unwrap();
            let work = GroupWork::new(group, Task::Apply(application), 0);
            let operation = operation(Work::Group(Box::new(work)));
            (version(&operation), kind(&operation.work))
        });
        assert_eq!(found, [(1, "applyGroup"), (3, "applyOrder")]);
    }
}
