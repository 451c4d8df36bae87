use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use ucp_model::{Operation, OperationId, Timestamp};

use super::Memory;
use super::tables::{Row, Tables};
use crate::{Claimed, Error, Lease, LeaseTerm, Leases};

#[async_trait]
impl Leases for Memory {
    async fn claim_due_operations(
        &self,
        owner: &str,
        now: Timestamp,
        term: LeaseTerm,
        limit: usize,
    ) -> Result<Vec<Claimed>, Error> {
        let mut tables = self.tables();
        let mut due: Vec<(Timestamp, OperationId)> = tables
            .live()
            .filter(|row| row.claimable_at() <= now)
            .map(|row| (row.claimable_at(), row.operation.header.id))
            .collect();
        due.sort_unstable();
        let ids = due.into_iter().map(|(_, id)| id).take(limit);
        Ok(claim(&mut tables, ids.collect(), owner, now.after(term.0)))
    }

    async fn claim_elsewhere(
        &self,
        owner: &str,
        now: Timestamp,
        term: LeaseTerm,
        limit: usize,
        crowded: &BTreeSet<String>,
    ) -> Result<Vec<Claimed>, Error> {
        let mut tables = self.tables();
        let mut due: BTreeMap<String, Vec<(Timestamp, OperationId)>> = BTreeMap::new();
        for row in elsewhere(&tables, crowded).filter(|row| row.claimable_at() <= now) {
            let Operation { header, work } = &row.operation;
            let of_scope = due.entry(work.scope_key()).or_default();
            of_scope.push((row.claimable_at(), header.id));
        }
        // By round, then by time, then by scope.
        let mut turns: Vec<(usize, Timestamp, String, OperationId)> = Vec::new();
        for (scope, mut of_scope) in due {
            of_scope.sort_unstable();
            let rounds = of_scope.into_iter().enumerate();
            turns.extend(rounds.map(|(round, (at, id))| (round, at, scope.clone(), id)));
        }
        turns.sort_unstable();
        let ids = turns.into_iter().map(|(.., id)| id).take(limit);
        Ok(claim(&mut tables, ids.collect(), owner, now.after(term.0)))
    }

    async fn renew_lease(
        &self,
        lease: &Lease,
        now: Timestamp,
        term: LeaseTerm,
    ) -> Result<Lease, Error> {
        let mut tables = self.tables();
        let slot = &mut tables.leased(lease)?.slot;
        let lasts_until = slot.held.as_ref().map(|held| held.expires_at);
        let renewed = lease.renewed(now, term);
        slot.hold(&renewed);
        if let Some(held) = &mut slot.held {
            held.expires_at = held.expires_at.max(lasts_until.unwrap_or_default());
        }
        Ok(renewed)
    }

    async fn release_lease(&self, lease: &Lease) -> Result<(), Error> {
        if let Ok(row) = self.tables().leased(lease) {
            row.slot.held = None;
            row.slot.takeovers = 0;
        }
        Ok(())
    }

    async fn hand_back(&self, lease: &Lease, not_before: Timestamp) -> Result<(), Error> {
        if let Ok(row) = self.tables().leased(lease) {
            row.slot.held_by_nobody_until(not_before);
            row.slot.takeovers = row.slot.takeovers.min(lease.takeovers);
        }
        Ok(())
    }

    async fn arm(&self, lease: &Lease, now: Timestamp, term: LeaseTerm) -> Result<Lease, Error> {
        self.count(lease.renewed(now, term), lease.armed())
    }

    async fn disarm(&self, lease: &Lease, now: Timestamp, term: LeaseTerm) -> Result<Lease, Error> {
        self.count(lease.renewed(now, term), lease.takeovers)
    }

    async fn take_over_leases(&self) -> Result<(), Error> {
        for row in self.tables().operations.values_mut() {
            row.slot.take_over();
        }
        Ok(())
    }

    async fn next_claimable_at(&self) -> Result<Option<Timestamp>, Error> {
        Ok(self.tables().live().map(Row::claimable_at).min())
    }

    async fn next_claimable_elsewhere(
        &self,
        crowded: &BTreeSet<String>,
    ) -> Result<Option<Timestamp>, Error> {
        let tables = self.tables();
        let times = elsewhere(&tables, crowded).map(Row::claimable_at);
        Ok(times.min())
    }
}

impl Memory {
    /// Writes a new term of a lease and the count of take-overs, unless the lease was lost.
    fn count(&self, renewed: Lease, takeovers: u64) -> Result<Lease, Error> {
        let mut tables = self.tables();
        let slot = &mut tables.leased(&renewed)?.slot;
        slot.takeovers = takeovers;
        slot.hold(&renewed);
        Ok(renewed)
    }
}

/// The live operations whose scope is not among `crowded`.
fn elsewhere<'a>(
    tables: &'a Tables,
    crowded: &'a BTreeSet<String>,
) -> impl Iterator<Item = &'a Row> {
    let live = tables.live();
    live.filter(|row| !crowded.contains(&row.operation.work.scope_key()))
}

/// Leases the operations, and returns them in the order in which they are due.
fn claim(
    tables: &mut Tables,
    ids: Vec<OperationId>,
    owner: &str,
    expires_at: Timestamp,
) -> Vec<Claimed> {
    let mut claimed = Vec::new();
    for id in ids {
        let Some(row) = tables.operations.get_mut(&id) else {
            continue;
        };
        let lease = row.slot.claim(id, owner, expires_at);
        let row = row.clone();
        let reference = row.operation.work.reference();
        let reference = reference.and_then(|id| tables.references.get(&id.key()));
        claimed.push(Claimed {
            lease,
            has_permit: row.slot.has_permit,
            baseline: reference.and_then(|reference| reference.baseline.clone()),
            operation: row.operation,
            documents: row.documents,
        });
    }
    claimed.sort_unstable_by_key(|claimed: &Claimed| {
        let header = &claimed.operation.header;
        (header.due_at, header.id)
    });
    claimed
}
