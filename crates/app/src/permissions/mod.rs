//! Who may do what.

pub(crate) mod auditing;
pub(crate) mod known_assignments;
pub(crate) mod rights;

use std::sync::Arc;

pub use self::auditing::{AuditFilter, AuditPage};
pub(crate) use self::known_assignments::KnownAssignments;
pub use self::rights::Access;
use crate::Ground;

/// Who may do what.
pub struct Permissions {
    pub(crate) ground: Arc<Ground>,
    /// As far as that is not stored.
    pub(crate) access: Access,
    /// As far as it is.
    pub(crate) assignments: KnownAssignments,
}
