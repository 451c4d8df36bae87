//! What the store has, for the operators of the server.

use ucp_model::Timestamp;

/// What the store has at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inventory {
    /// The operations that have not ended, up to 10,000.
    pub operations_live: usize,
    /// The leftovers in all registers, up to 10,000.
    pub leftovers: usize,
}

/// What was counted last, and when.
pub(crate) type Counted = tokio::sync::Mutex<Option<(Timestamp, Inventory)>>;
