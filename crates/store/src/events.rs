use ucp_model::operation::Change;
use ucp_model::{CorrelationId, OperationId, Timestamp};

/// One line of the append-only history, written in the transaction that ended the operation or that forgot or updated the
/// reference.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// When.
    pub at: Timestamp,
    /// Who.
    pub caller: String,
    /// `put`, `delete`, `import`, `deleteGroup`, `importGroup`, `forget` or `update`.
    pub kind: String,
    /// The operation; none for `update`, and for `forget` unless a group was deleted.
    pub operation: Option<OperationId>,
    /// What ties it to the caller's deployment.
    pub correlation_id: CorrelationId,
    /// The reference id, where there is one.
    pub reference: Option<String>,
    /// The AWS resource's id, where it is known, or the group's.
    pub resource: Option<String>,
    /// What changed, by path.
    pub changes: Vec<Change>,
    /// `Succeeded`, `Failed` or `Canceled`.
    pub outcome: String,
    /// The failure's code.
    pub code: Option<String>,
}
