//! What came of an apply so far.

use serde_json::Value;
use ucp_model::operation::GroupWork;
use ucp_model::operation::group::{Application, GroupState, Task};
use ucp_model::{Ended, GroupId, Operation};

/// The result of an apply so far.
#[derive(Debug)]
pub enum ApplyOutcome {
    /// There was nothing to do. This is what the operation would have been.
    Unchanged(Box<GroupWork>),
    /// The operation is under way.
    Accepted(Box<Operation>),
}

impl ApplyOutcome {
    /// The set has nothing to do.
    pub(super) fn unchanged(group: GroupId, application: Application, outputs: Value) -> Self {
        let outputs = Some(outputs).filter(|_| application.has_outputs);
        Self::Unchanged(Box::new(GroupWork {
            state: GroupState::Ended(Ended::Succeeded),
            outputs,
            ..GroupWork::new(group, Task::Apply(application), 0)
        }))
    }
}
