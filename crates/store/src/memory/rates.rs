use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use ucp_model::{GroupId, OperationId, RateBucket, RateKey, Timestamp};

use super::Memory;
use super::tables::{Bucket, Row, Tables, Waiting};
use crate::rules::{in_turn, turns_until};
use crate::{Ask, Error, LONGEST_WAIT, Lease, Pace, Rates};

#[async_trait]
impl Rates for Memory {
    async fn pace(&self, key: &RateKey, ask: &Ask, now: Timestamp) -> Result<Pace, Error> {
        let mut tables = self.tables();
        let kept = tables.rates.get(key).map(|kept| kept.bucket.clone());
        let mut bucket = ask.bucket(kept, now);
        bucket.settle(ask.report, ask.ceiling, now);
        let waiting = waiting(&tables, key);
        let count = u32::try_from(waiting.values().map(Vec::len).sum::<usize>());
        let count = count.unwrap_or(u32::MAX);
        let released = match count {
            0 => 0,
            _ => bucket.take(count),
        };
        let given = if released < count {
            0
        } else {
            ask.take(&mut bucket)
        };
        let turns = in_turn(&waiting, &mut bucket.served, &ask.weights, released);
        let due = bucket.release(released, now);
        for (id, due_at) in turns.into_iter().zip(due) {
            let Some(row) = tables.operations.get_mut(&id) else {
                continue;
            };
            row.slot.waiting = None;
            row.slot.has_permit = true;
            row.operation.header.waits_for = None;
            row.operation.header.due_at = due_at;
        }
        let pace = Pace {
            given,
            released,
            is_waited_for: released < count,
            rate: bucket.rate(),
            next_at: bucket.next_at(),
        };
        let used_at = match tables.rates.get(key) {
            Some(kept) if now < kept.used_at.after(Duration::from_secs(60)) => kept.used_at,
            Some(_) | None => now,
        };
        tables.rates.insert(key.clone(), Bucket { bucket, used_at });
        Ok(pace)
    }

    async fn wait_for_turn(
        &self,
        leases: &[Lease],
        key: &RateKey,
        now: Timestamp,
    ) -> Result<(), Error> {
        let mut tables = self.tables();
        let mut counts = BTreeMap::new();
        for (group, members) in waiting(&tables, key) {
            counts.insert(group, u64::try_from(members.len()).unwrap_or(u64::MAX));
        }
        let bucket = tables.rates.get(key).map(|kept| kept.bucket.clone());
        let bucket = bucket.unwrap_or_else(|| RateBucket::new(now));
        for lease in leases {
            let Ok(row) = tables.leased(lease) else {
                continue;
            };
            row.slot.held = None;
            let has_permit = row.slot.has_permit;
            let group = row.operation.work.group_id();
            let group = group.map(GroupId::key).unwrap_or_default();
            let header = &mut row.operation.header;
            if header.cancel_requested_at.is_some() || has_permit {
                continue;
            }
            header.waits_for = Some(key.clone());
            header.due_at = now.after(bucket.wait_behind(turns_until(&mut counts, &group)));
            row.slot.waiting = Some(Waiting {
                key: key.clone(),
                since: header.accepted_at,
                until: now.after(LONGEST_WAIT),
            });
        }
        Ok(())
    }

    async fn list_rates_waited_for(&self) -> Result<Vec<RateKey>, Error> {
        let tables = self.tables();
        let waiting = tables.live().filter_map(|row| row.slot.waiting.as_ref());
        let mut keys: Vec<RateKey> = waiting.map(|waiting| waiting.key.clone()).collect();
        keys.sort_unstable_by_key(RateKey::to_string);
        keys.dedup();
        Ok(keys)
    }

    async fn remove_idle_rates(&self, before: Timestamp, limit: usize) -> Result<u64, Error> {
        let mut tables = self.tables();
        let is_idle = |(key, bucket): (&RateKey, &Bucket)| {
            let is_idle = bucket.used_at < before;
            is_idle.then(|| (bucket.used_at, key.to_string(), key.clone()))
        };
        let mut idle: Vec<_> = tables.rates.iter().filter_map(is_idle).collect();
        idle.sort_unstable();
        idle.truncate(limit);
        for (.., key) in &idle {
            tables.rates.remove(key);
        }
        Ok(idle.iter().fold(0, |count, _| count + 1))
    }
}

/// The operations that wait for a bucket, those that have waited longest first, by the key of their group.
fn waiting(tables: &Tables, key: &RateKey) -> BTreeMap<String, Vec<OperationId>> {
    let mut waiting: Vec<(Timestamp, &Row)> = Vec::new();
    for row in tables.live() {
        match &row.slot.waiting {
            Some(of) if of.key == *key => waiting.push((of.since, row)),
            Some(_) | None => {}
        }
    }
    waiting.sort_unstable_by_key(|(since, row)| (*since, row.operation.header.id));
    let mut by_group: BTreeMap<String, Vec<OperationId>> = BTreeMap::new();
    for (_, row) in waiting {
        let group = row.operation.work.group_id();
        let of_group = by_group.entry(group.map(GroupId::key).unwrap_or_default());
        of_group.or_default().push(row.operation.header.id);
    }
    by_group
}
