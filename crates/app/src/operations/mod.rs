//! Operations: how requests have them accepted, wait for them and read them.

pub(crate) mod awaiting;
pub(crate) mod intake;
pub(crate) mod records;

use std::sync::Arc;

pub use self::awaiting::Awaiting;
pub use self::records::OperationQuery;
use crate::{Allowances, Ground, Wake};

/// Operations, as requests have them accepted, wait for them and read them.
pub struct OperationCases {
    pub(crate) ground: Arc<Ground>,
    pub(crate) allowances: Arc<Allowances>,
    /// The operations that requests wait for.
    pub(crate) awaiting: Awaiting,
    /// Woken after an operation has been accepted.
    pub(crate) workers: Arc<dyn Wake>,
}
