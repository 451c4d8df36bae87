//! The plans that are kept.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;
use ucp_model::{GroupId, KeptPlan, Operation, PlanId, PlanUse, Review, Timestamp};
use ucp_store::rules::{self, Claimant};
use ucp_store::{Error, KeptPlans, PlansOf, Reviewed, Sealed, StoredPlan};

use crate::Sql;
use crate::database::{Abort, Row, Transaction, Value, statements, transaction, values};
use crate::json::{from_json, parsed, to_json};

/// What is longer is written by a statement of its own.
const SMALL_BYTES: usize = 64 << 10;
/// When a plan is over that an operation carries out.
const NEVER: i64 = i64::MAX;

/// The columns of a [`KeptPlan`].
macro_rules! columns {
    () => {
        "id, plane, group_id, created_by, created_at, expires_at, fingerprint, course"
    };
}

/// The columns of a new row.
macro_rules! new_columns {
    () => {
        concat!(
            columns!(),
            ", over_at, relied_on, content, declared, units, group_key"
        )
    };
}

/// What is locked is judged again, by its id: a sum keeps Postgres from the indexes of the columns.
macro_rules! remove_of {
    ($those:literal) => {
        concat!(
            "WITH counted AS (
            SELECT id AS counted_id, SUM(units) OVER (ORDER BY created_at DESC, id DESC) AS kept
            FROM plans WHERE ",
            $those,
            " AND relied_on = 0
        ), old AS (
            SELECT id AS old_id FROM plans WHERE expires_at + 0 <= $2 AND relied_on + 0 = 0 AND id "
        )
    };
}

statements! {
    /// The transaction does not wait until its log is on the disk, or on a standby. A plan is a look: if the server crashes or
    /// fails over shortly afterwards, the plan may be gone, and whoever has its id asks for another one. What reviews it or uses it
    /// waits, and everything that was written before is then safe too.
    /// <https://www.postgresql.org/docs/current/wal-async-commit.html>
    INSERT = [""] postgres "WITH relaxed AS (SELECT set_config('synchronous_commit', 'off', true)) " sqlite "" ["INSERT INTO plans (", new_columns!(), ")
        SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14"]
        postgres " FROM relaxed" sqlite " WHERE TRUE" [" ON CONFLICT (id) DO NOTHING"];
    /// The same. The plans are a JSON array.
    INSERT_SEVERAL = [""] postgres "WITH relaxed AS (SELECT set_config('synchronous_commit', 'off', true)) " sqlite "" ["INSERT INTO plans (", new_columns!(), ") "]
        postgres "SELECT id, plane, group_id, created_by, created_at, expires_at, fingerprint, course, over_at, relied_on,
                decode(content, 'hex'), decode(declared, 'hex'), units, group_key
            FROM relaxed, json_to_recordset($1::json) AS given(id text, plane text, group_id text, created_by text,
                created_at bigint, expires_at bigint, fingerprint text, course text, over_at bigint, relied_on bigint,
                content text, declared text, units bigint, group_key text)"
        sqlite "SELECT value->>'id', value->>'plane', value->>'group_id', value->>'created_by', value->>'created_at',
                value->>'expires_at', value->>'fingerprint', value->>'course', value->>'over_at', value->>'relied_on',
                unhex(value->>'content'), unhex(value->>'declared'), value->>'units', value->>'group_key'
            FROM json_each($1) WHERE TRUE" [" ON CONFLICT (id) DO NOTHING"];
    GET = ["SELECT ", columns!(), ", content, declared, units FROM plans WHERE id = $1"];
    LOCK = ["SELECT ", columns!(), " FROM plans WHERE id = $1"] lock " FOR UPDATE";
    WRITE = ["UPDATE plans SET course = $2, over_at = $3, relied_on = $4, declared = CASE WHEN $5 = 1 THEN declared END
        WHERE id = $1"];
    /// Each has a unit at least, so no more rows need be read than units are counted.
    COUNT = ["SELECT CAST(COALESCE(SUM(units), 0) AS BIGINT) AS counted FROM (
            SELECT units FROM plans WHERE created_by = $1 AND relied_on = 0 ORDER BY created_at DESC, id DESC LIMIT $2
        ) AS bounded"];
    COUNT_OF_GROUP = ["SELECT CAST(COALESCE(SUM(units), 0) AS BIGINT) AS counted FROM (
            SELECT units FROM plans WHERE created_by = $1 AND group_key = $3 AND relied_on = 0
            ORDER BY created_at DESC, id DESC LIMIT $2
        ) AS bounded"];
    REMOVE_OF = [remove_of!("created_by = $1")]
        postgres "= ANY(ARRAY(SELECT counted_id FROM counted WHERE kept > $3))"
        sqlite "IN (SELECT counted_id FROM counted WHERE kept > $3)"
        [" ORDER BY id"] lock " FOR UPDATE SKIP LOCKED" [")
        DELETE FROM plans WHERE id "]
        postgres "= ANY(ARRAY(SELECT old_id FROM old))" sqlite "IN (SELECT old_id FROM old)";
    REMOVE_OF_GROUP = [remove_of!("created_by = $1 AND group_key = $4")]
        postgres "= ANY(ARRAY(SELECT counted_id FROM counted WHERE kept > $3))"
        sqlite "IN (SELECT counted_id FROM counted WHERE kept > $3)"
        [" ORDER BY id"] lock " FOR UPDATE SKIP LOCKED" [")
        DELETE FROM plans WHERE id "]
        postgres "= ANY(ARRAY(SELECT old_id FROM old))" sqlite "IN (SELECT old_id FROM old)";
    ERASE_EXPIRED = ["WITH expired AS (
            SELECT id AS expired_id FROM plans WHERE declared IS NOT NULL AND expires_at <= $1
            ORDER BY expires_at, id LIMIT $2"] lock " FOR UPDATE SKIP LOCKED" [")
        UPDATE plans SET declared = NULL WHERE id "]
        postgres "= ANY(ARRAY(SELECT expired_id FROM expired))" sqlite "IN (SELECT expired_id FROM expired)";
    REMOVE = ["WITH old AS (
            SELECT id AS old_id FROM plans WHERE over_at < $1
            ORDER BY over_at, id LIMIT $2"] lock " FOR UPDATE SKIP LOCKED" [")
        DELETE FROM plans WHERE id "]
        postgres "= ANY(ARRAY(SELECT old_id FROM old))" sqlite "IN (SELECT old_id FROM old)";
}

#[async_trait]
impl KeptPlans for Sql {
    async fn keep_plan(&self, new: StoredPlan) -> Result<(), Error> {
        let declared = new.declared.as_ref();
        let bytes = new.content.0.len() + declared.map_or(0, |declared| declared.0.len());
        if bytes > SMALL_BYTES {
            return self.database.write(INSERT, inserted(new)?).await.map(drop);
        }
        let row = given(&new)?.into();
        let insert = |rows| self.insert_plans(rows);
        self.new_plans.ask(row, insert).await
    }

    async fn get_plan(&self, id: PlanId) -> Result<Option<StoredPlan>, Error> {
        let rows = self.database.read(GET, values![id.to_string()]).await?;
        let Some(row) = rows.first() else {
            return Ok(None);
        };
        let declared: Option<Vec<u8>> = row.get("declared")?;
        Ok(Some(StoredPlan {
            plan: read(row)?,
            content: Sealed(row.get("content")?),
            declared: declared.map(Sealed),
            units: row.count("units")?,
        }))
    }

    async fn review_plan(&self, id: PlanId, review: &Review) -> Result<Reviewed, Error> {
        transaction!(self, |tx| async {
            let Some(plan) = lock(&mut tx, id).await? else {
                return Ok(Reviewed::Absent);
            };
            let reviewed = match plan.reviewed(review) {
                Ok(reviewed) => reviewed,
                Err(refused) => return Ok(Reviewed::Refused(refused)),
            };
            write(&mut tx, &reviewed, review.approval.at).await?;
            Ok(Reviewed::Done(Box::new(reviewed)))
        })
    }

    async fn count_plans(&self, of: PlansOf<'_>, limit: usize) -> Result<usize, Error> {
        let rows = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut values = values![of.caller, rows];
        let statement = match of.group {
            None => COUNT,
            Some(group) => {
                values.extend(values![group.key()]);
                COUNT_OF_GROUP
            }
        };
        Ok(self.database.count(statement, values).await?.min(limit))
    }

    async fn remove_plans_of(
        &self,
        of: PlansOf<'_>,
        until: Timestamp,
        most: usize,
    ) -> Result<u64, Error> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let values = || values![of.caller, until.as_millis(), most];
        match of.group.map(GroupId::key) {
            None => transaction!(self, |tx| tx.execute(REMOVE_OF, values())),
            Some(key) => transaction!(self, |tx| {
                let mut values = values();
                values.extend(values![key.as_str()]);
                tx.execute(REMOVE_OF_GROUP, values)
            }),
        }
    }

    async fn erase_expired_plans(&self, now: Timestamp, limit: usize) -> Result<u64, Error> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        transaction!(self, |tx| tx
            .execute(ERASE_EXPIRED, values![now.as_millis(), limit]))
    }

    async fn remove_plans(&self, before: Timestamp, limit: usize) -> Result<u64, Error> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        transaction!(self, |tx| tx
            .execute(REMOVE, values![before.as_millis(), limit]))
    }
}

impl Sql {
    async fn insert_plans(&self, rows: Vec<Arc<str>>) -> Result<Vec<()>, Error> {
        let given = format!("[{}]", rows.join(","));
        self.database.write(INSERT_SEVERAL, values![given]).await?;
        Ok(vec![(); rows.len()])
    }
}

/// Writes that a new operation carries out a plan, if it does, and returns that. The plan of a child is that of its parent.
pub(crate) async fn use_plan(
    transaction: &mut Transaction,
    operation: &Operation,
    by: Claimant,
) -> Result<Option<KeptPlan>, Abort> {
    let wanted = operation.work.plan().filter(|_| by == Claimant::Anyone);
    let Some(PlanUse { plan, member, .. }) = wanted else {
        return Ok(None);
    };
    let header = &operation.header;
    let plan = lock(transaction, plan).await?;
    let used = rules::used_plan(plan, member, header.id, header.accepted_at)?;
    write(transaction, &used, header.accepted_at).await?;
    Ok(Some(used))
}

/// Writes what came of the plan that an operation has carried out, if it has.
pub(crate) async fn end_plan(
    transaction: &mut Transaction,
    operation: &Operation,
) -> Result<(), Abort> {
    // The plan of a child is that of its parent.
    let wanted = operation.work.plan();
    let Some(PlanUse { plan, .. }) = wanted.filter(|_| operation.header.parent.is_none()) else {
        return Ok(());
    };
    let plan = lock(transaction, plan).await?;
    match plan.and_then(|plan| rules::ended_plan(plan, operation)) {
        Some(ended) => write(transaction, &ended, rules::ended_at(&operation.header)).await,
        None => Ok(()),
    }
}

async fn lock(transaction: &mut Transaction, id: PlanId) -> Result<Option<KeptPlan>, Abort> {
    let row = transaction.fetch_optional(LOCK, values![id.to_string()]);
    Ok(row.await?.as_ref().map(read).transpose()?)
}

/// Writes what has become of a plan by then.
async fn write(
    transaction: &mut Transaction,
    plan: &KeptPlan,
    now: Timestamp,
) -> Result<(), Abort> {
    let values = values![
        plan.id.to_string(),
        to_json(&plan.course)?,
        over_at(plan),
        plan.is_relied_on(),
        plan.is_open(now),
    ];
    transaction.execute(WRITE, values).await?;
    Ok(())
}

/// Returns the values of [`INSERT`].
fn inserted(new: StoredPlan) -> Result<Vec<Value>, Error> {
    let StoredPlan {
        plan,
        content,
        declared,
        units,
    } = new;
    Ok(values![
        plan.id.to_string(),
        plan.plane.as_str(),
        plan.group.as_ref().map(ToString::to_string),
        plan.created_by.as_str(),
        plan.created_at.as_millis(),
        plan.expires_at.as_millis(),
        plan.fingerprint.as_str(),
        to_json(&plan.course)?,
        over_at(&plan),
        plan.is_relied_on(),
        content.0,
        declared.map(|declared| declared.0),
        i64::try_from(units).unwrap_or(i64::MAX),
        plan.group.as_ref().map(GroupId::key),
    ])
}

/// Returns a plan, as [`INSERT_SEVERAL`] takes it.
fn given(new: &StoredPlan) -> Result<String, Error> {
    let StoredPlan {
        plan,
        content,
        declared,
        units,
    } = new;
    to_json(&json!({
        "id": plan.id,
        "plane": plan.plane,
        "group_id": plan.group.as_ref().map(ToString::to_string),
        "created_by": plan.created_by,
        "created_at": plan.created_at.as_millis(),
        "expires_at": plan.expires_at.as_millis(),
        "fingerprint": plan.fingerprint,
        "course": to_json(&plan.course)?,
        "over_at": over_at(plan),
        "relied_on": i64::from(plan.is_relied_on()),
        "content": hex::encode(&content.0),
        "declared": declared.as_ref().map(|declared| hex::encode(&declared.0)),
        "units": units,
        "group_key": plan.group.as_ref().map(GroupId::key),
    }))
}

fn over_at(plan: &KeptPlan) -> i64 {
    plan.over_at().map_or(NEVER, Timestamp::as_millis)
}

fn read(row: &Row) -> Result<KeptPlan, Error> {
    let group: Option<&str> = row.get("group_id")?;
    Ok(KeptPlan {
        id: parsed(row.get("id")?)?,
        plane: row.get("plane")?,
        group: group.map(parsed).transpose()?,
        created_by: row.get("created_by")?,
        created_at: Timestamp::from_millis(row.get("created_at")?),
        expires_at: Timestamp::from_millis(row.get("expires_at")?),
        fingerprint: row.get("fingerprint")?,
        course: from_json(row.get("course")?)?,
    })
}
