use async_trait::async_trait;

use crate::{
    Credentials, Error, Groups, Leases, Operations, Planes, References, SealedValues, TypeSchemas,
};

/// All that `ucp` remembers: a trait for each noun, whose documentation is its contract.
///
/// # Guarantees
///
/// - Every method is one atomic step: it happens wholly, or it fails and nothing happened.
/// - Plane names, group names, credential names, aliases and types compare case-insensitively (by `key()`) and keep the
///   casing of their first write, which replies repeat whatever casing was asked for. AWS identifiers compare byte for
///   byte.
/// - Revisions rise by one with each change and with nothing else.
/// - A precondition is judged in the step that writes.
///
/// # Assumptions
///
/// `now` is the caller's clock. Skew between callers costs liveness, never safety.
pub trait Store:
    Planes
    + Groups
    + Credentials
    + References
    + Operations
    + Leases
    + TypeSchemas
    + SealedValues
    + Reachable
{
}

impl<S> Store for S where
    S: Planes
        + Groups
        + Credentials
        + References
        + Operations
        + Leases
        + TypeSchemas
        + SealedValues
        + Reachable
{
}

/// Whether the store can be used at all.
#[async_trait]
pub trait Reachable: Send + Sync {
    /// Whether the store answers.
    async fn ping(&self) -> Result<(), Error>;
}
