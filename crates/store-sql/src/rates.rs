//! The rates at which AWS is called, and the operations that wait for their turn.

use std::collections::BTreeMap;

use async_trait::async_trait;
use ucp_model::{OperationId, RateBucket, RateKey, Served, Timestamp};
use ucp_store::rules::{in_turn, turns_until, weight_of};
use ucp_store::{Ask, Error, LONGEST_WAIT, Lease, Pace, Rates};

use crate::Sql;
use crate::database::{Abort, Transaction, statements, transaction, values};
use crate::json::{from_json, parsed, to_json};
use crate::operation_row::generation;

/// The most operations that have their turn at once.
const RELEASED_MAX: u32 = 1_000;
/// The most resource groups that are looked at for one release.
const GROUPS_MAX: u32 = 1_000;

statements! {
    /// Makes the bucket or locks it.
    BUCKET = ["INSERT INTO aws_rates (key, used_at, bucket) VALUES ($1, $2, $3)
        ON CONFLICT (key) DO UPDATE SET used_at = CASE WHEN aws_rates.used_at > $2 - 60000 THEN aws_rates.used_at ELSE $2 END
        RETURNING bucket, CAST(CASE WHEN (
            SELECT id FROM operations WHERE waits_for = $1 AND ended_at IS NULL
            ORDER BY waits_in, waits_since, id LIMIT 1
        ) IS NULL THEN 0 ELSE 1 END AS BIGINT) AS is_waited_for"];
    GET = ["SELECT bucket FROM aws_rates WHERE key = $1"];
    SETTLE = ["UPDATE aws_rates SET bucket = $2 WHERE key = $1"];
    /// How many wait, up to a number.
    COUNT = ["SELECT COUNT(*) AS counted FROM (
            SELECT id FROM operations WHERE waits_for = $1 AND ended_at IS NULL
            ORDER BY waits_in, waits_since, id LIMIT $2
        ) AS bounded"];
    /// How many of each group wait, of so many.
    COUNT_BY_GROUP = ["SELECT waits_in, COUNT(*) AS counted FROM (
            SELECT waits_in FROM operations WHERE waits_for = $1 AND ended_at IS NULL
            ORDER BY waits_in, waits_since, id LIMIT $2
        ) AS bounded GROUP BY waits_in"];
    /// The groups of operations. These are a JSON array.
    GROUPS_OF = ["SELECT id, COALESCE(group_key, '') AS of_group FROM operations WHERE id "]
        postgres "= ANY(ARRAY(SELECT json_array_elements_text($1::json)))"
        sqlite "IN (SELECT value FROM json_each($1))";
    /// The groups whose operations wait, from one on. Each is found from the one before it.
    GROUPS = ["WITH RECURSIVE turns(name) AS (
            SELECT (SELECT waits_in FROM operations
                WHERE waits_for = $1 AND ended_at IS NULL AND waits_in >= $2 ORDER BY waits_in LIMIT 1)
            UNION ALL
            SELECT (SELECT waits_in FROM operations
                WHERE waits_for = $1 AND ended_at IS NULL AND waits_in > name ORDER BY waits_in LIMIT 1)
            FROM turns WHERE name IS NOT NULL
        ) SELECT name FROM turns WHERE name IS NOT NULL LIMIT $3"];
    /// Those of each group that have waited longest. The groups are a JSON array.
    LONGEST = ["SELECT "] postgres "waits_in, id
            FROM json_array_elements_text($2::json) AS turns(name) CROSS JOIN LATERAL (
                SELECT waits_in, waits_since, id FROM operations
                WHERE waits_for = $1 AND ended_at IS NULL AND waits_in = turns.name
                ORDER BY waits_since, id LIMIT $3 FOR UPDATE SKIP LOCKED
            ) AS longest ORDER BY waits_in, waits_since, id"
        sqlite "operations.waits_in, operations.id FROM json_each($2) AS turns, json_each((
                SELECT json_group_array(id) FROM (
                    SELECT id FROM operations
                    WHERE waits_for = $1 AND ended_at IS NULL AND waits_in = turns.value
                    ORDER BY waits_since, id LIMIT $3
                )
            )) AS due JOIN operations ON operations.id = due.value
            ORDER BY operations.waits_in, operations.waits_since, operations.id";
    /// The turns are a JSON object: when each operation is due.
    RELEASE = ["UPDATE operations SET waits_for = NULL, has_permit = 1, due_at = "]
        postgres "CAST($1::json ->> id AS BIGINT) WHERE id = ANY(ARRAY(SELECT json_object_keys($1::json)))"
        sqlite "turns.value FROM json_each($1) AS turns WHERE operations.id = turns.key";
    /// The leases are a JSON array of arrays: the id, the owner, the generation, and when it is likely to have its turn. One that is to be cancelled waits for
    /// nothing, nor does one that has been released meanwhile.
    WAIT = ["UPDATE operations SET lease_owner = NULL, lease_expires_at = NULL,
            waits_for = CASE WHEN cancel_requested_at IS NULL AND has_permit = 0 THEN $2 END,
            due_at = CASE WHEN cancel_requested_at IS NULL AND has_permit = 0 THEN CAST($3 AS BIGINT) ELSE due_at END,
            waits_in = COALESCE(group_key, ''), waits_since = accepted_at, next_try_at = "]
        postgres "due.next_try_at FROM (SELECT lease->>0 AS id, lease->>1 AS owner, CAST(lease->>2 AS BIGINT) AS generation,
                    CAST(lease->>3 AS BIGINT) AS next_try_at
                FROM json_array_elements($1::json) AS leases(lease) ORDER BY 1) AS due
            WHERE operations.id = due.id AND operations.lease_owner = due.owner
                AND operations.generation = due.generation"
        sqlite "due.value ->> 3 FROM json_each($1) AS due
            WHERE operations.id = due.value ->> 0 AND operations.lease_owner = due.value ->> 1
                AND operations.generation = due.value ->> 2";
    WAITED_FOR = ["WITH RECURSIVE turns(name) AS (
            SELECT (SELECT MIN(waits_for) FROM operations WHERE waits_for IS NOT NULL AND ended_at IS NULL)
            UNION ALL
            SELECT (SELECT MIN(waits_for) FROM operations WHERE waits_for > name AND ended_at IS NULL)
            FROM turns WHERE name IS NOT NULL
        ) SELECT name FROM turns WHERE name IS NOT NULL"];
    REMOVE_IDLE = ["WITH idle AS (
            SELECT key AS idle_key FROM aws_rates WHERE used_at < $1 ORDER BY used_at, key LIMIT $2"] lock " FOR UPDATE SKIP LOCKED" [")
        DELETE FROM aws_rates WHERE key "]
        postgres "= ANY(ARRAY(SELECT idle_key FROM idle))" sqlite "IN (SELECT idle_key FROM idle)";
}

#[async_trait]
impl Rates for Sql {
    async fn pace(&self, key: &RateKey, ask: &Ask, now: Timestamp) -> Result<Pace, Error> {
        let name = key.to_string();
        let new = to_json(&ask.new_bucket(now))?;
        transaction!(self, |tx| async {
            let row = tx.fetch_optional(
                BUCKET,
                values![name.as_str(), now.as_millis(), new.as_str()],
            );
            let Some(row) = row.await? else {
                return Err(Error::Corrupt("a bucket was not written".to_owned()).into());
            };
            // One that cannot be read, such as that of a later version, begins anew.
            let mut bucket = ask.bucket(from_json(row.get("bucket")?).ok(), now);
            bucket.settle(ask.report, ask.ceiling, now);
            let (mut released, mut is_waited_for) = (0, row.flag("is_waited_for")?);
            if is_waited_for && bucket.is_empty() {
                bucket.take(1);
            } else if is_waited_for {
                let counted =
                    tx.fetch_optional(COUNT, values![name.as_str(), i64::from(RELEASED_MAX)]);
                let counted = counted
                    .await?
                    .map(|row| row.count::<u32>("counted"))
                    .transpose()?;
                let counted = counted.unwrap_or_default();
                let wanted = bucket.take(counted);
                released = release(&mut tx, &name, &mut bucket, ask, wanted, now).await?;
                bucket.put_back(wanted - released);
                is_waited_for = released < counted || counted == RELEASED_MAX;
            }
            let given = if is_waited_for {
                0
            } else {
                ask.take(&mut bucket)
            };
            tx.execute(SETTLE, values![name.as_str(), to_json(&bucket)?])
                .await?;
            Ok(Pace {
                given,
                released,
                is_waited_for,
                rate: bucket.rate(),
                next_at: bucket.next_at(),
            })
        })
    }

    async fn wait_for_turn(
        &self,
        leases: &[Lease],
        key: &RateKey,
        now: Timestamp,
    ) -> Result<(), Error> {
        let name = key.to_string();
        let ids: Vec<String> = leases.iter().map(|it| it.operation.to_string()).collect();
        let ids = to_json(&ids)?;
        transaction!(self, |tx| async {
            let bucket = tx.fetch_optional(GET, values![name.as_str()]).await?;
            let bucket = bucket.and_then(|row| {
                let text = row.get("bucket").ok()?;
                from_json::<RateBucket>(text).ok()
            });
            let bucket = bucket.unwrap_or_else(|| RateBucket::new(now));
            let mut groups: BTreeMap<String, String> = BTreeMap::new();
            for row in tx.fetch(GROUPS_OF, values![ids.as_str()]).await? {
                groups.insert(row.get("id")?, row.get("of_group")?);
            }
            let mut waiting = BTreeMap::new();
            let counted = tx.fetch(COUNT_BY_GROUP, values![name.as_str(), COUNTED_MAX]);
            for row in counted.await? {
                waiting.insert(row.get("waits_in")?, row.count::<u64>("counted")?);
            }
            let mut held = Vec::with_capacity(leases.len());
            for lease in leases {
                let id = lease.operation.to_string();
                let Some(group) = groups.get(&id) else {
                    continue;
                };
                let turns = turns_until(&mut waiting, group);
                let next_try_at = now.after(bucket.wait_behind(turns)).as_millis();
                held.push((id, lease.owner.as_str(), generation(lease)?, next_try_at));
            }
            let values = values![
                to_json(&held)?,
                name.as_str(),
                now.after(LONGEST_WAIT).as_millis(),
            ];
            tx.execute(WAIT, values).await?;
            Ok(())
        })
    }

    async fn list_rates_waited_for(&self) -> Result<Vec<RateKey>, Error> {
        let rows = self.database.read(WAITED_FOR, values![]).await?;
        let mut keys = Vec::with_capacity(rows.len());
        for row in &rows {
            // Those of later versions are left to these.
            keys.extend(row.get::<&str>("name")?.parse::<RateKey>());
        }
        Ok(keys)
    }

    async fn remove_idle_rates(&self, before: Timestamp, limit: usize) -> Result<u64, Error> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        transaction!(self, |tx| async {
            let values = values![before.as_millis(), limit];
            tx.execute(REMOVE_IDLE, values).await
        })
    }
}

/// The most operations that are counted to estimate when the last of them has its turn.
const COUNTED_MAX: i64 = 10_000;

/// Lets up to `wanted` operations have their turn, and returns how many. What a request has locked has its turn later.
async fn release(
    transaction: &mut Transaction,
    name: &str,
    bucket: &mut RateBucket,
    ask: &Ask,
    wanted: u32,
    now: Timestamp,
) -> Result<u32, Abort> {
    let due = bucket.release(wanted, now);
    let mut due = due.into_iter();
    let mut released = 0;
    while released < wanted {
        let left = wanted - released;
        let groups = groups(transaction, name, &bucket.served, left).await?;
        let heaviest = groups
            .iter()
            .map(|group| weight_of(group, &ask.weights))
            .max();
        let count = u32::try_from(groups.len()).unwrap_or(u32::MAX);
        let each = (left / count.max(1) + 1)
            .saturating_mul(heaviest.unwrap_or(1))
            .min(left);
        let values = values![name, to_json(&groups)?, i64::from(each)];
        let mut waiting: BTreeMap<String, Vec<OperationId>> = BTreeMap::new();
        for row in transaction.fetch(LONGEST, values).await? {
            let of_group = waiting.entry(row.get("waits_in")?).or_default();
            of_group.push(parsed(row.get("id")?)?);
        }
        let turns = in_turn(&waiting, &mut bucket.served, &ask.weights, left);
        if turns.is_empty() {
            break;
        }
        let mut due_at = BTreeMap::new();
        for (id, due) in turns.iter().zip(&mut due) {
            due_at.insert(id.to_string(), due.as_millis());
        }
        transaction
            .execute(RELEASE, values![to_json(&due_at)?])
            .await?;
        released = released.saturating_add(u32::try_from(turns.len()).unwrap_or(u32::MAX));
    }
    if released > 0 {
        transaction.wake();
    }
    Ok(released)
}

/// Returns the groups whose turn it is next: the one that was served last, and those behind it.
async fn groups(
    transaction: &mut Transaction,
    name: &str,
    served: &Served,
    wanted: u32,
) -> Result<Vec<String>, Abort> {
    let limit = i64::from(wanted.saturating_add(1).min(GROUPS_MAX));
    let mut groups: Vec<String> = Vec::new();
    for from in [served.group.as_str(), ""] {
        for row in transaction
            .fetch(GROUPS, values![name, from, limit])
            .await?
        {
            let group: String = row.get("name")?;
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
        if i64::try_from(groups.len()).is_ok_and(|count| count >= limit) {
            break;
        }
    }
    Ok(groups)
}
