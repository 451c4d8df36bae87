//! Leases: the exclusive right to step an operation.

use std::collections::BTreeSet;
use std::time::Duration;

use async_trait::async_trait;
use ucp_model::{Baseline, Operation, OperationId, Timestamp};

use crate::{Documents, Error};

/// The right to step one operation. A write under a lease succeeds only while the operation's lease has this owner and
/// this generation. An expired lease stays valid until another worker takes it; a released one does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The operation.
    pub operation: OperationId,
    /// Who holds it.
    pub owner: String,
    /// The fencing token: increases by one with each claim.
    pub generation: u64,
    /// When other workers may take it.
    pub expires_at: Timestamp,
}

impl Lease {
    /// Returns the lease with a new term that starts at `now`.
    pub fn renewed(&self, now: Timestamp, term: LeaseTerm) -> Self {
        Self {
            expires_at: now.after(term.0),
            ..self.clone()
        }
    }
}

/// The duration of a lease, counted from when it is taken or renewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseTerm(pub Duration);

/// How often in a row a lease may be taken over before the operation is suspected of what became of its holders. Its
/// claims are not counted from then on: a holder that comes to its end beside a suspect is no proof against others that it
/// held.
pub const SUSPECTED: u64 = 2;

/// The count of take-overs of a suspect that is stepped alone. Whoever claims it at this count knows that its last holder
/// never came back from it.
pub const TRIED_ALONE: u64 = 3;

/// An operation under a lease, with the data needed to step it.
#[derive(Clone, Debug, PartialEq)]
pub struct Claimed {
    /// The lease.
    pub lease: Lease,
    /// The operation.
    pub operation: Operation,
    /// How often in a row its lease ran out, this time included, before the holder had written a step or given it back: at
    /// most [`SUSPECTED`], or [`TRIED_ALONE`].
    pub takeovers: u64,
    /// Its documents.
    pub documents: Documents,
    /// The declaration of the last successful put of its alias.
    pub baseline: Option<Baseline>,
}

/// Leases on live operations, and notifications for the workers that claim them.
#[async_trait]
pub trait Leases: Send + Sync {
    /// Leases up to `limit` live operations that are due and not leased, or whose lease has expired: those that could be
    /// claimed earliest, then by id. They are returned in the order in which they are due, then by id. Fewer than
    /// `limit` means that no more can be claimed now. Each claim increases the lease generation by one; no two callers ever
    /// hold the same generation. A claim of an operation whose lease ran out counts as a take-over, up to [`SUSPECTED`],
    /// unless it was handed back or postponed; a step that is written and a release begin the count anew.
    async fn claim_due_operations(
        &self,
        owner: &str,
        now: Timestamp,
        term: LeaseTerm,
        limit: usize,
    ) -> Result<Vec<Claimed>, Error>;

    /// The same, but takes none whose [scope](ucp_model::operation::Work::scope_key) is among `crowded`. The others take
    /// turns: in each round, the operation of each scope that could be claimed earliest, and of these the earliest first.
    async fn claim_elsewhere(
        &self,
        owner: &str,
        now: Timestamp,
        term: LeaseTerm,
        limit: usize,
        crowded: &BTreeSet<String>,
    ) -> Result<Vec<Claimed>, Error>;

    /// Renews the lease from `now`, or returns [`Error::LeaseLost`].
    async fn renew_lease(
        &self,
        lease: &Lease,
        now: Timestamp,
        term: LeaseTerm,
    ) -> Result<Lease, Error>;

    /// Releases the lease, so that any worker may claim the operation when it is due. Not an error if the lease was
    /// lost.
    async fn release_lease(&self, lease: &Lease) -> Result<(), Error>;

    /// Releases the lease, so that any worker may claim the operation when it is due, but not before `not_before`. For an
    /// operation that the holder cannot carry out, and another worker can. Not an error if the lease was lost.
    async fn hand_back(&self, lease: &Lease, not_before: Timestamp) -> Result<(), Error>;

    /// Releases the lease of a step that ended without a result, so that any worker may claim the operation when it is due,
    /// but not before `not_before`. What was [tried alone](Self::try_alone) counts as [`SUSPECTED`] again. Not an error if
    /// the lease was lost.
    async fn postpone(&self, lease: &Lease, not_before: Timestamp) -> Result<(), Error>;

    /// Renews the lease like [`renew_lease`](Self::renew_lease), and notes that the holder steps a suspect and no other: the
    /// count of take-overs is [`TRIED_ALONE`] until the holder writes a step or gives it back.
    async fn try_alone(
        &self,
        lease: &Lease,
        now: Timestamp,
        term: LeaseTerm,
    ) -> Result<Lease, Error>;

    /// Drops all leases, each of which counts as a take-over. For an engine that serves one process only, when that process
    /// starts.
    async fn take_over_leases(&self) -> Result<(), Error>;

    /// Returns when the next live operation can be claimed: when it is due and its lease, if any, has expired. `None`
    /// if no operation is live. Workers sleep until then.
    async fn next_claimable_at(&self) -> Result<Option<Timestamp>, Error>;

    /// The same, of the operations whose scope is not among `crowded`.
    async fn next_claimable_elsewhere(
        &self,
        crowded: &BTreeSet<String>,
    ) -> Result<Option<Timestamp>, Error>;

    /// Resolves when another process may have made an operation due since the last call resolved. Each time, one waiter
    /// is woken. Engines that cannot know never resolve; workers then rely on polling.
    async fn nudged(&self) {
        std::future::pending().await
    }
}
