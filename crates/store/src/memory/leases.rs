use async_trait::async_trait;
use ucp_model::{OperationId, Timestamp};

use super::Memory;
use crate::{Claimed, ClaimedGroup, Error, Job, Lease, LeaseTerm, Leases};

#[async_trait]
impl Leases for Memory {
    async fn claim_due_operations(
        &self,
        owner: &str,
        now: Timestamp,
        term: LeaseTerm,
        limit: usize,
    ) -> Result<Vec<Job>, Error> {
        let mut tables = self.tables();
        let expires_at = now.after(term.0);
        let mut due: Vec<(Timestamp, OperationId)> = tables
            .claimable()
            .filter(|(claimable_at, _, _)| *claimable_at <= now)
            .map(|(_, due_at, id)| (due_at, id))
            .collect();
        due.sort_unstable();
        due.truncate(limit);

        let mut jobs = Vec::new();
        for (_, id) in due {
            if let Some(row) = tables.group_operations.get_mut(&id) {
                jobs.push(Job::Group(Box::new(ClaimedGroup {
                    lease: row.slot.claim(id, owner, expires_at),
                    operation: row.operation.clone(),
                })));
            }
            let Some(row) = tables.operations.get_mut(&id) else {
                continue;
            };
            let lease = row.slot.claim(id, owner, expires_at);
            let row = row.clone();
            let reference = row.operation.reference.as_ref();
            let mapping = reference.and_then(|id| tables.references.get(&id.key()));
            jobs.push(Job::Resource(Box::new(Claimed {
                lease,
                operation: row.operation,
                documents: row.documents,
                baseline: mapping.and_then(|mapping| mapping.baseline.clone()),
            })));
        }
        Ok(jobs)
    }

    async fn renew_lease(
        &self,
        lease: &Lease,
        now: Timestamp,
        term: LeaseTerm,
    ) -> Result<Lease, Error> {
        Ok(self.tables().slot_leased(lease)?.renew(lease, now, term))
    }

    async fn release_lease(&self, lease: &Lease) -> Result<(), Error> {
        if let Ok(slot) = self.tables().slot_leased(lease) {
            slot.held = None;
        }
        Ok(())
    }

    async fn take_over_leases(&self) -> Result<(), Error> {
        for slot in self.tables().slots() {
            slot.held = None;
        }
        Ok(())
    }

    async fn live_operations(&self) -> Result<(u64, Option<Timestamp>), Error> {
        let tables = self.tables();
        let count = tables.claimable().fold(0, |count, _| count + 1);
        let next = tables.claimable().map(|(claimable_at, _, _)| claimable_at);
        Ok((count, next.min()))
    }
}
