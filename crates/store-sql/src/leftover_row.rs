//! The row of a leftover.

use ucp_model::operation::ResourceWork;
use ucp_model::{
    Identifier, Leftover, LeftoverId, LeftoverReason, Lineage, Reference, ReferenceId, Register,
    Scope, Timestamp, TypeName,
};
use ucp_store::rules::{self, Attempt};
use ucp_store::{Error, FinishOperation, KeyRange};

use crate::busy;
use crate::database::{Abort, Database, Row, Transaction, page, statements, values};
use crate::json::{corrupt, from_json, parsed, to_json};

/// The columns of a [`Leftover`].
macro_rules! columns {
    () => {
        "name, group_id, plane, account, region, type_name, identifier, reason, reference, operation, since, tries, \
         last_error, next_try_at, unknown_create, abandoned, lineage"
    };
}

statements! {
    /// Nothing enters that a reference stands for. The entry of a subject keeps its name and the time of its entry.
    ENTER = ["INSERT INTO leftovers (key, register_key, subject_key, target_key,
            name, group_id, plane, account, region, type_name, identifier, reason, reference, operation,
            since, tries, last_error, next_try_at, unknown_create, lineage)
        SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,
            CAST($15 AS BIGINT), 0, $16, CAST($17 AS BIGINT), $18, $20
        WHERE NOT EXISTS (SELECT 1 FROM resource_references WHERE target_key = $19)
        ON CONFLICT (register_key, subject_key) DO UPDATE SET
            plane = excluded.plane, account = excluded.account, region = excluded.region,
            type_name = excluded.type_name, identifier = excluded.identifier, reason = excluded.reason,
            reference = excluded.reference, operation = excluded.operation, tries = 0,
            last_error = excluded.last_error, next_try_at = excluded.next_try_at,
            unknown_create = excluded.unknown_create, lineage = excluded.lineage"];
    GET = ["SELECT ", columns!(), " FROM leftovers WHERE key = $1"];
    LIST = ["SELECT ", columns!(), " FROM leftovers WHERE key > $1 AND key < $2 ORDER BY key LIMIT $3"];
    COUNT = ["SELECT COUNT(*) AS counted FROM (SELECT key FROM leftovers ORDER BY key LIMIT $1) AS bounded"];
    /// Those of a group that are ours.
    OURS = ["SELECT name FROM leftovers
        WHERE register_key = $1 AND reason = 'Undeleted' LIMIT 1"];
    OF_GROUP = ["SELECT name FROM leftovers WHERE register_key = $1 LIMIT 1"];
    DELETE = ["DELETE FROM leftovers WHERE key = $1 RETURNING ", columns!()];
    /// The AWS resource is settled. What a reference waits for is known when that is decided.
    SETTLE = ["DELETE FROM leftovers
        WHERE target_key = $1 AND (reason <> 'OutcomeUnknown' OR reference IS NULL OR abandoned = 1)"];
    /// The entry is not that of the reference any more.
    ABANDON = ["UPDATE leftovers SET abandoned = 1, subject_key = operation WHERE register_key = $1 AND subject_key = $2"];
    /// The outcome that was unknown is decided.
    DECIDE = ["DELETE FROM leftovers WHERE register_key = $1 AND subject_key = $2"];
    DELETE_REGISTER = ["DELETE FROM leftovers WHERE register_key = $1"];
    LOCK_ALL = ["SELECT ", columns!(), " FROM leftovers WHERE target_key = $1 ORDER BY key"] lock " FOR UPDATE";
    UNDECIDED = ["SELECT ", columns!(), " FROM leftovers WHERE register_key = $1 AND subject_key = $2"];
    LOCK_UNDECIDED = ["SELECT ", columns!(), " FROM leftovers WHERE register_key = $1 AND subject_key = $2"]
        lock " FOR UPDATE";
    NOTE_TRY = ["UPDATE leftovers SET tries = $2, last_error = $3, next_try_at = $4 WHERE key = $1"];
    /// What is not tried is excluded: a planner without statistics takes few rows to be equal to something, and would
    /// read all that are. Processes claim concurrently: each takes rows that no other has locked.
    CLAIM = ["WITH due AS (
            SELECT key AS due_key FROM leftovers
            WHERE next_try_at <= $1
                AND abandoned <> 1 AND (identifier IS NOT NULL OR reason = 'OutcomeUnknown' AND reference IS NOT NULL)
            ORDER BY next_try_at, key LIMIT $2"] lock " FOR UPDATE SKIP LOCKED" [")
        UPDATE leftovers SET next_try_at = $3 WHERE key "]
        postgres "= ANY(ARRAY(SELECT due_key FROM due))" sqlite "IN (SELECT due_key FROM due)" ["
        RETURNING ", columns!()];
}

/// Enters what the operation leaves, and removes what it has settled. `reference` is the reference after its end.
pub(crate) async fn at_end(
    transaction: &mut Transaction,
    work: &ResourceWork,
    finish: &FinishOperation,
    reference: Option<&Reference>,
) -> Result<(), Abort> {
    if let Some(target) = rules::settled(work, reference).map(|target| target.key()) {
        // What another operation leaves is entered before this, or finds the reference.
        if reference.is_some() {
            busy::lock(transaction, &target).await?;
        }
        settle(transaction, &target).await?;
    }
    if let Some(reference) = rules::decided(work) {
        decide(transaction, reference).await?;
    }
    if let Some(reference) = rules::abandoned(work, reference) {
        abandon(transaction, reference).await?;
    }
    if let Some(reference) = rules::unresolved(work) {
        let now = finish.operation.header.ended_at;
        note_look(transaction, reference, now.unwrap_or_default()).await?;
    }
    if let Some(attempt) = rules::failed_delete(finish) {
        note_try(transaction, &attempt).await?;
    }
    if let Some(leftover) = rules::left_over(finish) {
        enter(transaction, &leftover).await?;
    }
    Ok(())
}

/// Enters a leftover, unless a reference stands for its AWS resource. The resource is locked, so that none comes to
/// stand for it meanwhile.
async fn enter(transaction: &mut Transaction, new: &Leftover) -> Result<(), Abort> {
    if let Some(reference) = new.undecided() {
        abandon(transaction, reference).await?;
    }
    let target = new.target().map(|target| target.key());
    if let Some(target) = &target {
        busy::lock(transaction, target).await?;
    }
    let group = match &new.id.register {
        Register::Group(group) => Some(group.to_string()),
        Register::Place(_) => None,
    };
    let values = values![
        new.id.key(),
        new.id.register.key(),
        new.subject_key(),
        target.as_deref(),
        new.id.name.to_string(),
        group,
        new.scope.plane.as_str(),
        new.scope.account.as_str(),
        new.scope.region.as_str(),
        new.type_name.as_str(),
        new.identifier.as_ref().map(Identifier::as_str),
        new.reason.as_str(),
        new.reference.as_ref().map(ToString::to_string),
        new.operation.to_string(),
        new.since.as_millis(),
        new.last_error.as_ref().map(to_json).transpose()?,
        new.next_try_at.as_millis(),
        new.create.as_ref().map(to_json).transpose()?,
        // A reference may stand for what it does not know to exist.
        target.filter(|_| new.undecided().is_none()),
        new.lineage.as_ref().map(Lineage::as_str),
    ];
    transaction.execute(ENTER, values).await?;
    Ok(())
}

/// Returns the leftover, outside a transaction.
pub(crate) async fn get(database: &Database, id: &LeftoverId) -> Result<Option<Leftover>, Error> {
    let rows = database.read(GET, values![id.key()]).await?;
    rows.first().map(read).transpose()
}

/// Returns the leftover, within a transaction.
pub(crate) async fn find(
    transaction: &mut Transaction,
    id: &LeftoverId,
) -> Result<Option<Leftover>, Abort> {
    let row = transaction.fetch_optional(GET, values![id.key()]).await?;
    Ok(row.as_ref().map(read).transpose()?)
}

/// Returns up to `limit` leftovers with these keys, outside a transaction.
pub(crate) async fn list(
    database: &Database,
    keys: KeyRange,
    limit: usize,
) -> Result<Vec<Leftover>, Error> {
    let rows = database.read(LIST, page(keys, limit)).await?;
    rows.iter().map(read).collect()
}

/// Counts the leftovers, up to `limit`.
pub(crate) async fn count(database: &Database, limit: usize) -> Result<usize, Error> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    database.count(COUNT, values![limit]).await
}

/// Returns whether the register of a group has what is ours.
pub(crate) async fn has_ours(transaction: &mut Transaction, group: &str) -> Result<bool, Abort> {
    let row = transaction.fetch_optional(OURS, values![group]).await?;
    Ok(row.is_some())
}

/// Returns whether the register of a group has anything.
pub(crate) async fn has_any(transaction: &mut Transaction, group: &str) -> Result<bool, Abort> {
    let row = transaction.fetch_optional(OF_GROUP, values![group]).await?;
    Ok(row.is_some())
}

/// Removes a leftover and returns it.
pub(crate) async fn delete(
    transaction: &mut Transaction,
    id: &LeftoverId,
) -> Result<Option<Leftover>, Abort> {
    let row = transaction
        .fetch_optional(DELETE, values![id.key()])
        .await?;
    Ok(row.as_ref().map(read).transpose()?)
}

/// Notes that a reference, which is locked, goes on without what its create of unknown outcome may have made. What another
/// reference stands for is settled.
pub(crate) async fn abandon(
    transaction: &mut Transaction,
    reference: &ReferenceId,
) -> Result<(), Abort> {
    let subject = || values![reference.group.key(), reference.key()];
    let row = transaction.fetch_optional(UNDECIDED, subject()).await?;
    let Some(row) = row else {
        return Ok(());
    };
    let target = read(&row)?.target().map(|target| target.key());
    if let Some(target) = &target {
        busy::lock(transaction, target).await?;
    }
    transaction.execute(ABANDON, subject()).await?;
    if let Some(target) = target
        && busy::find(transaction, &target).await?.is_referenced
    {
        settle(transaction, &target).await?;
    }
    Ok(())
}

/// Removes every entry of an AWS resource, but for one that a reference waits for.
pub(crate) async fn settle(transaction: &mut Transaction, target: &str) -> Result<(), Abort> {
    transaction.execute(SETTLE, values![target]).await?;
    Ok(())
}

/// Removes the entry of a reference whose outcome was unknown.
pub(crate) async fn decide(
    transaction: &mut Transaction,
    reference: &ReferenceId,
) -> Result<(), Abort> {
    let values = values![reference.group.key(), reference.key()];
    transaction.execute(DECIDE, values).await?;
    Ok(())
}

/// Removes the register of a group.
pub(crate) async fn delete_register(
    transaction: &mut Transaction,
    group: &str,
) -> Result<(), Abort> {
    transaction.execute(DELETE_REGISTER, values![group]).await?;
    Ok(())
}

/// Records a try of every entry of an AWS resource.
async fn note_try(transaction: &mut Transaction, attempt: &Attempt) -> Result<(), Abort> {
    let target = attempt.target.as_str();
    for row in &transaction.fetch(LOCK_ALL, values![target]).await? {
        let tried = read(row)?.tried(Some(attempt.error.clone()), attempt.at);
        note(transaction, &tried).await?;
    }
    Ok(())
}

/// Records a try to find out what came of the create of a reference. What went wrong with the create stays known.
pub(crate) async fn note_look(
    transaction: &mut Transaction,
    reference: &ReferenceId,
    now: Timestamp,
) -> Result<(), Abort> {
    let values = values![reference.group.key(), reference.key()];
    for row in &transaction.fetch(LOCK_UNDECIDED, values).await? {
        let leftover = read(row)?;
        let error = leftover.last_error.clone();
        note(transaction, &leftover.tried(error, now)).await?;
    }
    Ok(())
}

async fn note(transaction: &mut Transaction, tried: &Leftover) -> Result<(), Abort> {
    let values = values![
        tried.id.key(),
        i64::from(tried.tries),
        tried.last_error.as_ref().map(to_json).transpose()?,
        tried.next_try_at.as_millis(),
    ];
    transaction.execute(NOTE_TRY, values).await?;
    Ok(())
}

/// Claims up to `limit` leftovers that are due, and puts their next try off.
pub(crate) async fn claim(
    transaction: &mut Transaction,
    now: Timestamp,
    until: Timestamp,
    limit: usize,
) -> Result<Vec<Leftover>, Abort> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let values = values![now.as_millis(), limit, until.as_millis()];
    let rows = transaction.fetch(CLAIM, values).await?;
    let claimed: Result<Vec<Leftover>, Error> = rows.iter().map(read).collect();
    let mut claimed = claimed?;
    claimed.sort_unstable_by(|one, other| one.id.cmp(&other.id));
    Ok(claimed)
}

fn read(row: &Row) -> Result<Leftover, Error> {
    let scope = Scope {
        plane: row.get("plane")?,
        account: row.get("account")?,
        region: row.get("region")?,
    };
    let group: Option<&str> = row.get("group_id")?;
    let register = match group {
        Some(group) => Register::Group(parsed(group)?),
        None => Register::Place(scope.clone()),
    };
    let word: &str = row.get("reason")?;
    let Some(reason) = LeftoverReason::parse(word) else {
        return corrupt(format!("unknown reason '{word}' of a leftover"));
    };
    let type_name = TypeName::from_cloudformation(row.get("type_name")?);
    let identifier: Option<String> = row.get("identifier")?;
    let reference: Option<&str> = row.get("reference")?;
    let last_error: Option<&str> = row.get("last_error")?;
    let create: Option<&str> = row.get("unknown_create")?;
    Ok(Leftover {
        id: LeftoverId {
            register,
            name: parsed(row.get("name")?)?,
        },
        scope,
        type_name: type_name.map_err(|error| Error::Corrupt(error.to_string()))?,
        identifier: identifier.map(Identifier::new),
        reason,
        reference: reference.map(parsed).transpose()?,
        operation: parsed(row.get("operation")?)?,
        since: Timestamp::from_millis(row.get("since")?),
        tries: row.count("tries")?,
        last_error: last_error.map(from_json).transpose()?,
        next_try_at: Timestamp::from_millis(row.get("next_try_at")?),
        create: create.map(from_json).transpose()?,
        abandoned: row.flag("abandoned")?,
        lineage: row.get::<Option<String>>("lineage")?.map(Lineage::stored),
    })
}
