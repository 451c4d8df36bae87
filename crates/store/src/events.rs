use ucp_model::operation::Change;
use ucp_model::{CorrelationId, OperationId, Timestamp};

/// An entry of the append-only history. It is written in the transaction that ends the operation, or that forgets,
/// updates, adopts or moves the reference.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// When it happened.
    pub at: Timestamp,
    /// Who requested it.
    pub caller: String,
    /// The kind of the operation, as [`Work::kind`](ucp_model::operation::Work::kind) has it, or `forget`,
    /// `forgetLeftover`, `update` or `move`.
    pub kind: String,
    /// The operation. `None` for `update`, `forgetLeftover`, `move`, for an adoption, and for `forget` unless its group
    /// was deleted, or an order had it forgotten.
    pub operation: Option<OperationId>,
    /// Correlates it with the caller's deployment.
    pub correlation_id: CorrelationId,
    /// The reference id, if any.
    pub reference: Option<String>,
    /// The id of the AWS resource, if known, or of the group.
    pub resource: Option<String>,
    /// The id of the AWS resource that the reference stood for before, if that one was lost.
    pub lost: Option<String>,
    /// What changed, by path.
    pub changes: Vec<Change>,
    /// `Succeeded`, `Failed` or `Canceled`.
    pub outcome: String,
    /// The error code of a failure.
    pub code: Option<String>,
    /// What was found out, if a resolve has decided; or from where to where the reference was moved.
    pub message: Option<String>,
}
