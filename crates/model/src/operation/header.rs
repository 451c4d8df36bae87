use crate::{CorrelationId, OperationId, RateKey, Timestamp};

/// The fields common to all operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Its id.
    pub id: OperationId,
    /// The parent operation, if this is a child.
    pub parent: Option<OperationId>,
    /// The correlation id of the request that began it.
    pub correlation_id: CorrelationId,
    /// The caller that requested it.
    pub caller: String,
    /// When it was accepted.
    pub accepted_at: Timestamp,
    /// When a worker should continue it. The end of a child brings this forward.
    pub due_at: Timestamp,
    /// The bucket whose turn it waits for. It is not claimed until then, and `due_at` is an estimate.
    pub waits_for: Option<RateKey>,
    /// When cancellation was requested.
    pub cancel_requested_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}
