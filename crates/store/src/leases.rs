//! Leases: who may step which operation.

use std::time::Duration;

use async_trait::async_trait;
use ucp_model::{Baseline, Operation, OperationId, Timestamp};

use crate::{Documents, Error};

/// The right to step one operation: a write under it happens only while the operation's lease has this owner and this
/// generation. A lease that has run out is good until somebody takes it; one that was handed back is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The operation.
    pub operation: OperationId,
    /// Who holds it.
    pub owner: String,
    /// Rises by one with each claim.
    pub generation: u64,
    /// When others may take it.
    pub expires_at: Timestamp,
}

impl Lease {
    /// The same, prolonged from `now`.
    pub fn renewed(&self, now: Timestamp, term: LeaseTerm) -> Self {
        Self {
            expires_at: now.after(term.0),
            ..self.clone()
        }
    }
}

/// How long a lease lasts from the moment it is taken or renewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseTerm(pub Duration);

/// An operation under a lease, with what stepping it needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Claimed {
    /// The right to write.
    pub lease: Lease,
    /// The operation.
    pub operation: Operation,
    /// Its documents.
    pub documents: Documents,
    /// What the last successful put of its alias declared.
    pub baseline: Option<Baseline>,
}

/// The leases on live operations, and what wakes those who take them.
#[async_trait]
pub trait Leases: Send + Sync {
    /// Takes leases on up to `limit` live operations that are due and whose lease nobody holds or has run out, earliest
    /// first. Their lease generation rises by one. No two callers ever hold the same generation.
    async fn claim_due_operations(
        &self,
        owner: &str,
        now: Timestamp,
        term: LeaseTerm,
        limit: usize,
    ) -> Result<Vec<Claimed>, Error>;

    /// Prolongs the lease from `now`, or [`Error::LeaseLost`].
    async fn renew_lease(
        &self,
        lease: &Lease,
        now: Timestamp,
        term: LeaseTerm,
    ) -> Result<Lease, Error>;

    /// Hands the lease back, so that anyone may claim the operation when it is due. Losing it before is no error.
    async fn release_lease(&self, lease: &Lease) -> Result<(), Error>;

    /// Drops every lease, whoever holds it: for an engine that knows no other process can be alive.
    async fn take_over_leases(&self) -> Result<(), Error>;

    /// How many operations are live, and when the next of them can be claimed: when it is due and its lease, if somebody
    /// holds it, has run out. With it a worker knows how long it may sleep, and a test that the world is at rest.
    async fn live_operations(&self) -> Result<(u64, Option<Timestamp>), Error>;

    /// Resolves when another process may have made an operation due since the last time it resolved. One waiter is woken
    /// each time. Engines without a way to know never resolve; polling is the fallback.
    async fn nudged(&self) {
        std::future::pending().await
    }
}
