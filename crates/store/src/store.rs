use async_trait::async_trait;
use ucp_model::Timestamp;

use crate::{
    AuditEvents, Credentials, Error, Groups, KeptPlans, Leases, Leftovers, Operations, Planes,
    Rates, Refactors, References, RoleAssignments, SealedValues, ServiceBroker, Tokens,
    TrackRecords, TypeSchemas, Watches,
};

/// Everything that `ucp` stores: one trait for each noun. The documentation of these traits is the contract.
///
/// # Guarantees
///
/// - Every method is atomic: it succeeds as a whole, or fails without effect.
/// - Plane names, group names, credential names, aliases and types compare case-insensitively (by `key()`) and keep the
///   casing of their first write. Replies use that casing, whatever the casing of the request. AWS identifiers compare
///   byte for byte.
/// - A revision increases with each change, and only then; by one, unless a refactor moves the reference.
/// - A precondition is checked in the transaction that writes.
///
/// # Assumptions
///
/// `now` is the caller's clock. Clock skew between callers can delay work, but cannot break a guarantee.
pub trait Store:
    Planes
    + Groups
    + KeptPlans
    + Credentials
    + Rates
    + Refactors
    + References
    + Operations
    + Leases
    + Leftovers
    + Tokens
    + TrackRecords
    + RoleAssignments
    + TypeSchemas
    + SealedValues
    + ServiceBroker
    + AuditEvents
    + Watches
    + Reachable
{
}

impl<S> Store for S where
    S: Planes
        + Groups
        + KeptPlans
        + Credentials
        + Rates
        + Refactors
        + References
        + Operations
        + Leases
        + Leftovers
        + Tokens
        + TrackRecords
        + RoleAssignments
        + TypeSchemas
        + SealedValues
        + ServiceBroker
        + AuditEvents
        + Watches
        + Reachable
{
}

/// The availability of the store.
#[async_trait]
pub trait Reachable: Send + Sync {
    /// Returns an error if the store cannot be reached.
    async fn ping(&self) -> Result<(), Error>;

    /// Returns the time of the store's own clock, which all its processes share. `None` if it has none, since it serves
    /// one process.
    async fn time(&self) -> Result<Option<Timestamp>, Error> {
        Ok(None)
    }
}
