//! Planes, their credentials, and the roles over them.

pub(crate) mod credentials;
pub(crate) mod records;
pub(crate) mod role_assignments;
pub(crate) mod roles;

use std::sync::Arc;

pub use self::credentials::{CredentialPut, PutCredential, way_back};
pub use self::role_assignments::{PutRoleAssignment, RoleAssignmentPut};
pub use self::roles::Roles;
use crate::{Allowances, Ground, Permissions};

/// Planes, their credentials, and the roles that callers have.
pub struct PlaneCases {
    pub(crate) ground: Arc<Ground>,
    pub(crate) allowances: Arc<Allowances>,
    pub(crate) permissions: Arc<Permissions>,
    /// The roles that credentials may name.
    pub(crate) roles: Roles,
}
