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
    /// When other workers may take it, at the earliest.
    pub expires_at: Timestamp,
    /// What is held against the operation, as it was claimed: how often it was taken over, up to [`TAKEN_OVER_OFTEN`], or
    /// [`SUSPECTED`] or [`CONDEMNED`]. 0 once its holder has written a step.
    pub takeovers: u64,
}

impl Lease {
    /// Returns the lease with a new term that starts at `now`.
    pub fn renewed(&self, now: Timestamp, term: LeaseTerm) -> Self {
        Self {
            expires_at: now.after(term.0),
            ..self.clone()
        }
    }

    /// Returns the count of take-overs while the operation is armed.
    pub fn armed(&self) -> u64 {
        self.takeovers.max(TAKEN_OVER_OFTEN) + 1
    }

    /// The same of a lease whose holder has written a step.
    pub fn stepped(&self, now: Timestamp, term: LeaseTerm) -> Self {
        Self {
            takeovers: 0,
            ..self.renewed(now, term)
        }
    }
}

/// The duration of a lease, counted from when it is taken or renewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseTerm(pub Duration);

/// How many take-overs in a row are counted, as long as nothing else is known. Holders come to their ends for any reason.
/// But so many may have one.
pub const TAKEN_OVER_OFTEN: u64 = 5;

/// The count of an operation whose holder came to its end while the operation was [armed](Leases::arm). Others may have been
/// armed beside it.
pub const SUSPECTED: u64 = TAKEN_OVER_OFTEN + 1;

/// The count of a suspect whose holder came to its end too, while no other operation was armed. It ends its workers.
pub const CONDEMNED: u64 = SUSPECTED + 1;

/// An operation under a lease, with the data needed to step it.
#[derive(Clone, Debug, PartialEq)]
pub struct Claimed {
    /// The lease.
    pub lease: Lease,
    /// The operation.
    pub operation: Operation,
    /// Whether it has waited for its turn, and has it. A step that is written uses the permit up.
    pub has_permit: bool,
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
    /// hold the same generation. A claim of an operation whose lease ran out counts as a take-over, up to
    /// [`TAKEN_OVER_OFTEN`], unless it was handed back; a step that is written and a release begin the count anew.
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

    /// Renews the lease from `now`, or returns [`Error::LeaseLost`]. One that lasts longer stays as it is.
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
    /// operation that the holder cannot carry out now, or cannot at all, while another worker can. The operation is disarmed.
    /// Not an error if the lease was lost.
    async fn hand_back(&self, lease: &Lease, not_before: Timestamp) -> Result<(), Error>;

    /// Gives the lease a new term from `now`, and arms the operation: as long as it is armed, the count of its take-overs is
    /// [`SUSPECTED`], or [`CONDEMNED`] if it was claimed as a suspect. So whoever takes it over from a holder that came to its
    /// end in the meantime knows. Returns [`Error::LeaseLost`] if the lease was lost.
    async fn arm(&self, lease: &Lease, now: Timestamp, term: LeaseTerm) -> Result<Lease, Error>;

    /// Gives the lease a new term from `now`, and disarms the operation: the end of its holder is not held against it. A step
    /// that is written disarms it too. Returns [`Error::LeaseLost`] if the lease was lost.
    async fn disarm(&self, lease: &Lease, now: Timestamp, term: LeaseTerm) -> Result<Lease, Error>;

    /// Drops all leases, as if they had run out and were claimed. For an engine that serves one process only, when that
    /// process starts.
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
