//! What `ucp` remembers: the [`Store`] trait with its contract, the in-memory reference engine, and the conformance
//! suite that every engine passes.
//!
//! The SQL engines live in `ucp-store-sql`. Any difference between an engine and [`Memory`] that a caller can see is a
//! bug in one of them.

#[cfg(feature = "conformance")]
pub mod conformance;
mod contract;
mod groups;
mod memory;
mod precondition;
pub mod rules;

pub use contract::{
    Accepted, Claimed, Documents, Error, Event, FinishOperation, Forgotten, Lease, LeaseTerm,
    NewCredential, NewOperation, PutGroup, PutPlane, Sealed, SealedKey, SealedPlace, Store,
    StoredCredential, TypeSchema,
};
pub use groups::{
    ClaimedGroup, GroupDeletion, Job, ListedOperation, NewGroupOperation, OperationPage,
    ReferenceUpdate, Status,
};
pub use memory::Memory;
pub use precondition::{Precondition, Tags};
