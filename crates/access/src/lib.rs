//! Who calls, and what they may do: principals, roles, scopes and grants. Pure: nothing here performs I/O.
//!
//! Start at [`Rights`]: what the grants of a principal permit, and what is denied to everybody.

#![warn(clippy::wildcard_enum_match_arm)]

mod assignment;
mod change;
mod denied;
mod grant;
mod grant_index;
mod invalid;
mod name;
mod principal;
mod refusal;
mod rights;
mod role;
mod scope;

pub use assignment::Assignment;
pub use change::GrantChange;
pub use denied::DeniedType;
pub use grant::{Grant, SCOPES_MAX, Subject};
pub use grant_index::GrantIndex;
pub use invalid::Invalid;
pub use name::{PRINCIPAL_NAME_MAX_CHARS, judge_name};
pub use principal::{ANONYMOUS, BROKER_PREFIX, Principal, Source, TOKEN_PREFIX};
pub use refusal::{Reason, Refusal};
pub use rights::Rights;
pub use role::{Right, Role};
pub use scope::Scope;
