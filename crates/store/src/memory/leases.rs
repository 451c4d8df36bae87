use async_trait::async_trait;
use ucp_model::{OperationId, Timestamp};

use super::Memory;
use super::tables::Row;
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
        let expires_at = now.after(term.0);
        let mut due: Vec<(Timestamp, OperationId)> = tables
            .live()
            .filter(|row| row.claimable_at() <= now)
            .map(|row| (row.claimable_at(), row.operation.header.id))
            .collect();
        due.sort_unstable();
        due.truncate(limit);

        let mut claimed = Vec::new();
        for (_, id) in due {
            let Some(row) = tables.operations.get_mut(&id) else {
                continue;
            };
            let lease = row.slot.claim(id, owner, expires_at);
            let row = row.clone();
            let reference = row.operation.work.reference();
            let reference = reference.and_then(|id| tables.references.get(&id.key()));
            claimed.push(Claimed {
                lease,
                baseline: reference.and_then(|reference| reference.baseline.clone()),
                operation: row.operation,
                documents: row.documents,
            });
        }
        claimed.sort_unstable_by_key(|claimed: &Claimed| {
            let header = &claimed.operation.header;
            (header.due_at, header.id)
        });
        Ok(claimed)
    }

    async fn renew_lease(
        &self,
        lease: &Lease,
        now: Timestamp,
        term: LeaseTerm,
    ) -> Result<Lease, Error> {
        Ok(self.tables().leased(lease)?.slot.renew(lease, now, term))
    }

    async fn release_lease(&self, lease: &Lease) -> Result<(), Error> {
        if let Ok(row) = self.tables().leased(lease) {
            row.slot.held = None;
        }
        Ok(())
    }

    async fn take_over_leases(&self) -> Result<(), Error> {
        for row in self.tables().operations.values_mut() {
            row.slot.held = None;
        }
        Ok(())
    }

    async fn next_claimable_at(&self) -> Result<Option<Timestamp>, Error> {
        Ok(self.tables().live().map(Row::claimable_at).min())
    }
}
