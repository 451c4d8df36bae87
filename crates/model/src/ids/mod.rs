//! Resource ids and other names, parsed once into types.
//!
//! ARM's own segments, group names and aliases compare case-insensitively and keep the casing of their first
//! write. Group names are in NFC. Each such id therefore has a `key()`, case-folded here and never by a database
//! collation. AWS identifiers compare byte for byte.

mod arm;
mod aws;
mod global;
mod group_name;
mod invalid;
mod letters;
mod lineage;
pub(crate) mod list_of_text;
pub(crate) mod optional_text;
mod reference;
mod segment;
#[cfg(test)]
mod tests;
mod tokens;

pub use arm::{
    ArmId, CredentialId, GroupId, PLANE_NAME_MAX_CHARS, PlaneId, PlaneKind, RoleAssignmentId,
};
pub use aws::{
    ACCOUNT_MAX_CHARS, IDENTIFIER_MAX_CHARS, Identifier, REGION_MAX_CHARS, Scope, Target, TypeName,
    judge_account,
};
pub use global::GLOBAL_SERVICES;
pub use group_name::GROUP_NAME_MAX_CHARS;
pub use invalid::InvalidId;
pub use letters::{is_misleading, readable};
pub use lineage::Lineage;
pub use reference::{ALIAS_MAX_CHARS, ReferenceId};
pub use segment::encode_segment;
pub use tokens::{ClientToken, CorrelationId, OperationId, PlanId, RefactorId, RequestToken};
