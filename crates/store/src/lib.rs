//! The storage contract of `ucp`: the [`Store`] traits, one for each noun, with an in-memory reference engine.
//!
//! The SQL engines are in `ucp-store-sql`, and the suite that every engine passes is in `ucp-store-conformance`. A difference
//! between an engine and [`Memory`] that a caller can see is a bug in one of them.

mod audit_events;
mod credentials;
mod error;
mod events;
mod groups;
#[cfg(feature = "testing")]
pub mod holding;
mod kept_plans;
mod key_range;
mod leases;
mod leftovers;
mod memory;
mod operations;
mod planes;
mod precondition;
mod rates;
mod recorded;
mod refactors;
mod references;
mod role_assignments;
pub mod rules;
mod sealed;
mod secrets;
mod service_broker;
mod store;
mod tokens;
mod track_records;
mod type_schemas;
mod watches;

pub use audit_events::{
    AuditEvent, AuditEvents, AuditOutcome, AuditPlace, InvalidPlace, StoredAuditEvent,
};
pub use credentials::{Credentials, StoredCredential};
pub use error::Error;
pub use events::Event;
pub use groups::{
    GroupDeletion, GroupUpdate, Groups, OwnedPlace, SHARED_MAX, TagsUpdate, group_keys,
};
pub use kept_plans::{KeptPlans, PLAN_UNIT, PlansOf, Reviewed, StoredPlan};
pub use key_range::KeyRange;
pub use leases::{CONDEMNED, Claimed, Lease, LeaseTerm, Leases, SUSPECTED, TAKEN_OVER_OFTEN};
pub use leftovers::{Leftovers, Retried};
pub use memory::Memory;
pub use operations::{
    Accepted, FinishOperation, LiveOperations, NewOperation, NewResourceWork, NewWork,
    OperationPage, Operations, Status, place,
};
pub use planes::{Planes, plane_keys};
pub use precondition::{Precondition, Tags, Written};
pub use rates::{Ask, LONGEST_WAIT, Pace, Rates};
pub use recorded::{Adoption, Basis, NewLook, RecordedAlias, RecordedTarget};
pub use refactors::{ApplyRefactor, Brought, REFACTORS_MAX, Refactors, refactor_place};
pub use references::{
    Forgotten, Limit, Page, ReferenceUpdate, References, Release, reference_keys,
};
pub use role_assignments::{
    NewRoleAssignment, RoleAssignment, RoleAssignments, role_assignment_keys,
};
pub use sealed::{Cipher, Documents, Sealed, SealedKey, SealedPlace, SealedValues, Stored};
pub use secrets::{of_an_instance, secrets_of};
pub use service_broker::{BINDINGS_MAX, PlaceOrder, ServiceBroker};
pub use store::{Reachable, Store};
pub use tokens::{ENDED_TOKEN_RETENTION, TOKENS_MAX, Token, TokenState, Tokens};
pub use track_records::{TrackRecords, track_record_keys};
pub use type_schemas::{TypeSchema, TypeSchemas};
pub use watches::{WaitingOperation, WaitingScope, Watch, Watches};
