use crate::{CorrelationId, OperationId, Timestamp};

/// What all operations have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Its id.
    pub id: OperationId,
    /// The operation this one is a part of.
    pub parent: Option<OperationId>,
    /// What ties it to the caller's deployment.
    pub correlation_id: CorrelationId,
    /// Who asked for it.
    pub caller: String,
    /// When it was accepted.
    pub accepted_at: Timestamp,
    /// When to go on. The end of a child brings it forward.
    pub due_at: Timestamp,
    /// When somebody asked to cancel it.
    pub cancel_requested_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}
