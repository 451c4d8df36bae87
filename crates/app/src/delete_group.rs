use ucp_model::operation::group::Task;
use ucp_model::{Ended, GroupId, Operation, OperationId};
use ucp_store::{GroupDeletion, NewOperation, NewWork, Precondition};

use crate::{App, Caller, Rejection};

/// The result of deleting a group so far.
#[derive(Debug)]
pub enum DeleteGroupOutcome {
    /// The group did not exist.
    AlreadyGone,
    /// The group has been removed.
    Deleted,
    /// The operation is under way, or has ended without success.
    Accepted(Box<Operation>),
}

impl App {
    /// Deletes a group with the resources that it owns, and waits for a limited time until that is done. Does not wait
    /// if the group is already being deleted.
    pub async fn delete_resource_group(
        &self,
        id: &GroupId,
        precondition: &Precondition,
        caller: &Caller,
    ) -> Result<DeleteGroupOutcome, Rejection> {
        let new = self.new_group_operation(id, Task::Delete, caller);
        let deletion = self.parts.store.delete_resource_group(new, precondition);
        let deletion = match deletion.await {
            Err(ucp_store::Error::Busy(running)) => return Err(self.busy(running).await),
            Err(ucp_store::Error::PreconditionFailed) => {
                return Err(Rejection::precondition_failed(id));
            }
            other => other?,
        };
        let operation = match deletion {
            GroupDeletion::Absent => return Ok(DeleteGroupOutcome::AlreadyGone),
            GroupDeletion::Removed => return Ok(DeleteGroupOutcome::Deleted),
            GroupDeletion::Running(operation) => {
                return Ok(DeleteGroupOutcome::Accepted(operation));
            }
            GroupDeletion::Accepted(operation) => *operation,
        };
        self.parts.workers.wake();
        tracing::info!(
            operation.id = %operation.header.id,
            group.id = %id,
            kind = operation.work.kind(),
            "operation accepted"
        );
        let operation = self.group_deletion(operation, caller).await?;
        Ok(match operation.ended() {
            Some(Ended::Succeeded) => DeleteGroupOutcome::Deleted,
            Some(Ended::Failed(_) | Ended::Canceled(_)) | None => {
                DeleteGroupOutcome::Accepted(Box::new(operation))
            }
        })
    }

    pub(crate) fn new_group_operation(
        &self,
        group: &GroupId,
        task: Task,
        caller: &Caller,
    ) -> NewOperation {
        let id = OperationId(self.parts.entropy.uuid("operation"));
        let group = group.clone();
        self.new_operation(id, NewWork::Group { group, task }, caller)
    }
}
