//! The row of a refactor.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use ucp_model::{
    GroupId, Refactor, RefactorContent, RefactorEvent, RefactorId, RefactorStatus, Timestamp,
};
use ucp_store::{Brought, Error, REFACTORS_MAX, refactor_place};

use crate::aside::{read_aside, read_aside_at_once};
use crate::database::{Abort, Database, Row, Transaction, statements, values};
use crate::json::{corrupt, from_json, parsed, to_json};

/// When a record may be removed that stays.
const NEVER: i64 = i64::MAX;
/// The columns that may be long.
const LONG: &[&str] = &["content", "events"];

/// The columns of a [`Refactor`].
macro_rules! columns {
    () => {
        "id, plane, created_by, created_at, status, changed_at, fingerprint, content, \
         events"
    };
}

statements! {
    INSERT = ["INSERT INTO refactors (", columns!(), ", plane_key, over_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)"];
    /// The groups are a JSON array.
    INSERT_GROUPS = ["INSERT INTO refactor_groups (refactor, group_key, plane_key, created_at, brought_at)
        SELECT $1, group_key, $5, $2, CAST($3 AS BIGINT) FROM ("]
        postgres "SELECT json_array_elements_text($4::json) AS group_key"
        sqlite "SELECT value AS group_key FROM json_each($4)" [") AS named"];
    WRITE = ["UPDATE refactors SET status = $2, changed_at = $3, content = $4, events = $5, over_at = $6 WHERE id = $1"];
    WRITE_GROUPS = ["UPDATE refactor_groups SET brought_at = $2 WHERE refactor = $1"];
    FORGET = ["UPDATE refactor_groups SET brought_at = NULL WHERE group_key = $1 AND brought_at IS NOT NULL"];
    GET = ["SELECT ", columns!(), " FROM refactors WHERE id = $1"];
    LOCK = ["SELECT ", columns!(), " FROM refactors WHERE id = $1"] lock " FOR UPDATE";
    LIST = ["SELECT ", columns!(), " FROM refactors WHERE plane_key = $1 AND (created_at, id) < ($2, $3)
        ORDER BY created_at DESC, id DESC LIMIT $4"];
    LIST_OF_GROUP = ["SELECT ", columns!(), " FROM refactors WHERE id "]
        postgres "= ANY(ARRAY(" sqlite "IN (" ["SELECT refactor FROM refactor_groups
            WHERE plane_key = $1 AND group_key = $2 AND (created_at, refactor) < ($3, $4)
            ORDER BY created_at DESC, refactor DESC LIMIT $5"] postgres "))" sqlite ")";
    /// The groups are a JSON array. Each is looked up, for the last refactors in the history of all of them.
    EVENTS = ["SELECT id, changed_at, events, (SELECT "]
        postgres "json_agg(group_key)::text" sqlite "json_group_array(group_key)"
        [" FROM refactor_groups WHERE refactor = refactors.id) AS named FROM refactors WHERE id "]
        postgres "= ANY(ARRAY(" sqlite "IN (" ["SELECT refactor FROM refactor_groups
            WHERE brought_at IS NOT NULL AND group_key "]
        postgres "= ANY(ARRAY(SELECT json_array_elements_text($1::json)))"
        sqlite "IN (SELECT value FROM json_each($1))" ["
            GROUP BY brought_at, refactor ORDER BY brought_at DESC, refactor DESC LIMIT $2"] postgres "))" sqlite ")";
    /// One that is applied meanwhile stays.
    REMOVE_PLANNED = ["DELETE FROM refactors WHERE status = 'Planned' AND id "] postgres "= ANY(ARRAY(" sqlite "IN ("
        ["SELECT id FROM refactors WHERE created_by = $1 AND status = 'Planned'
            ORDER BY created_at DESC, id DESC LIMIT 1000 OFFSET $2"] postgres "))" sqlite ")";
    REMOVE = ["WITH old AS (
            SELECT id AS old_id FROM refactors WHERE over_at < $1
            ORDER BY over_at, id LIMIT $2"] lock " FOR UPDATE SKIP LOCKED" [")
        DELETE FROM refactors WHERE id "]
        postgres "= ANY(ARRAY(SELECT old_id FROM old))" sqlite "IN (SELECT old_id FROM old)";
}

/// Returns the record, outside a transaction.
pub(crate) async fn get(database: &Database, id: RefactorId) -> Result<Option<Refactor>, Error> {
    let rows = database.read(GET, values![id.to_string()]).await?;
    Ok(read_all(rows).await?.pop())
}

/// Returns up to `limit` records of a plane, or of a group there, latest first.
pub(crate) async fn list(
    database: &Database,
    plane: &str,
    group: Option<&GroupId>,
    after: Option<(Timestamp, RefactorId)>,
    limit: usize,
) -> Result<Vec<Refactor>, Error> {
    let plane = plane.to_ascii_lowercase();
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let (at, id) = match after {
        Some((at, id)) => (at.as_millis(), id.to_string()),
        None => (i64::MAX, String::new()),
    };
    let rows = match group {
        Some(group) => {
            let values = values![plane, group.key(), at, id, limit];
            database.read(LIST_OF_GROUP, values).await?
        }
        None => {
            let values = values![plane, at, id, limit];
            database.read(LIST, values).await?
        }
    };
    let mut listed = read_all(rows).await?;
    listed.sort_unstable_by_key(|refactor| Reverse(refactor_place(refactor)));
    Ok(listed)
}

/// Returns what the last `limit` refactors have brought that name these groups.
pub(crate) async fn events(
    database: &Database,
    groups: &[GroupId],
    limit: usize,
) -> Result<Vec<Brought>, Error> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = database.read(EVENTS, values![keys(groups)?, limit]).await?;
    let brought = in_order(&rows)?.into_iter();
    Ok(brought.map(|(_, brought)| brought).collect())
}

/// The same within a transaction that has the groups locked, with the time of each.
pub(crate) async fn brought(
    transaction: &mut Transaction,
    groups: &[GroupId],
) -> Result<Vec<(Timestamp, Brought)>, Abort> {
    let limit = i64::try_from(REFACTORS_MAX).unwrap_or(i64::MAX);
    let rows = transaction
        .fetch(EVENTS, values![keys(groups)?, limit])
        .await?;
    Ok(in_order(&rows)?)
}

fn in_order(rows: &[Row]) -> Result<Vec<(Timestamp, Brought)>, Error> {
    let brought = rows.iter().map(|row| {
        let place: (i64, &str) = (row.get("changed_at")?, row.get("id")?);
        let brought = Brought {
            groups: from_json(row.get("named")?)?,
            events: read_events(row)?,
        };
        Ok((place, brought))
    });
    let brought: Result<BTreeMap<_, Brought>, Error> = brought.collect();
    let brought = brought?.into_iter();
    Ok(brought
        .map(|((at, _), brought)| (Timestamp::from_millis(at), brought))
        .collect())
}

/// Removes up to `limit` records that are over since before then.
pub(crate) async fn remove(
    transaction: &mut Transaction,
    before: Timestamp,
    limit: usize,
) -> Result<u64, Abort> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    transaction
        .execute(REMOVE, values![before.as_millis(), limit])
        .await
}

/// Writes the record of a plan, and removes those that its maker has too many of.
pub(crate) async fn keep(
    transaction: &mut Transaction,
    new: &Refactor,
    most: usize,
) -> Result<(), Abort> {
    insert(transaction, new).await?;
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let values = values![new.created_by.as_str(), most];
    transaction.execute(REMOVE_PLANNED, values).await?;
    Ok(())
}

/// Writes a new record.
pub(crate) async fn insert(transaction: &mut Transaction, new: &Refactor) -> Result<(), Abort> {
    let values = values![
        new.id.to_string(),
        new.plane.as_str(),
        new.created_by.as_str(),
        new.created_at.as_millis(),
        new.status.as_str(),
        new.changed_at.as_millis(),
        new.fingerprint.as_str(),
        to_json(&new.content)?,
        to_json(&new.content.events)?,
        new.plane.to_ascii_lowercase(),
        over_at(new),
    ];
    transaction.execute(INSERT, values).await?;
    let values = values![
        new.id.to_string(),
        new.created_at.as_millis(),
        brought_at(new),
        keys(&new.content.named)?,
        new.plane.to_ascii_lowercase(),
    ];
    transaction.execute(INSERT_GROUPS, values).await?;
    Ok(())
}

/// Returns the record and locks it until the transaction ends.
pub(crate) async fn lock(
    transaction: &mut Transaction,
    id: RefactorId,
) -> Result<Option<Refactor>, Abort> {
    let row = transaction.fetch_optional(LOCK, values![id.to_string()]);
    let rows = row.await?.into_iter().collect();
    Ok(read_aside_at_once(rows, LONG, read).await?.pop())
}

/// Writes what has come of a refactor, over its record.
pub(crate) async fn write(transaction: &mut Transaction, new: &Refactor) -> Result<(), Abort> {
    let values = values![
        new.id.to_string(),
        new.status.as_str(),
        new.changed_at.as_millis(),
        to_json(&new.content)?,
        to_json(&new.content.events)?,
        over_at(new),
    ];
    transaction.execute(WRITE, values).await?;
    let values = values![new.id.to_string(), brought_at(new)];
    transaction.execute(WRITE_GROUPS, values).await?;
    Ok(())
}

/// Forgets the history of a group that is deleted: one of its name that is made later has had no events.
pub(crate) async fn forget(transaction: &mut Transaction, group: &GroupId) -> Result<(), Abort> {
    transaction.execute(FORGET, values![group.key()]).await?;
    Ok(())
}

/// Returns the keys of groups as a JSON array, each once.
fn keys(groups: &[GroupId]) -> Result<String, Error> {
    let keys: BTreeSet<String> = groups.iter().map(GroupId::key).collect();
    to_json(&keys)
}

fn over_at(refactor: &Refactor) -> i64 {
    if refactor.is_lasting() {
        NEVER
    } else {
        refactor.changed_at.as_millis()
    }
}

fn brought_at(refactor: &Refactor) -> Option<i64> {
    let brings_events = refactor.brings_events();
    brings_events.then(|| refactor.changed_at.as_millis())
}

async fn read_all(rows: Vec<Row>) -> Result<Vec<Refactor>, Error> {
    read_aside(rows, LONG, read).await
}

fn read(row: &Row) -> Result<Refactor, Error> {
    let word: &str = row.get("status")?;
    let Some(status) = RefactorStatus::parse(word) else {
        return corrupt(format!("unknown status '{word}' of a refactor"));
    };
    Ok(Refactor {
        id: parsed(row.get("id")?)?,
        plane: row.get("plane")?,
        created_by: row.get("created_by")?,
        created_at: Timestamp::from_millis(row.get("created_at")?),
        status,
        changed_at: Timestamp::from_millis(row.get("changed_at")?),
        fingerprint: row.get("fingerprint")?,
        content: RefactorContent {
            events: read_events(row)?,
            ..from_json(row.get("content")?)?
        },
    })
}

fn read_events(row: &Row) -> Result<Vec<RefactorEvent>, Error> {
    from_json(row.get("events")?)
}
