use ucp_model::{Failure, GroupId, GroupOperation, Operation, OperationId, Timestamp};
use ucp_store::{ListedOperation, OperationPage, Status};

use crate::tracking::no_such_group;
use crate::{App, Rejection};

pub use ucp_store::ListedOperation as AnyOperation;

/// Which operations of a group to list.
#[derive(Clone, Copy, Debug)]
pub struct OperationQuery {
    /// Those with this status; all, when none.
    pub status: Option<Status>,
    /// Those that come after this one, which an earlier page ended with.
    pub after: Option<(Timestamp, OperationId)>,
    /// At most so many.
    pub top: usize,
}

impl App {
    /// The operation on a resource, answered from the store alone.
    pub async fn operation(&self, id: OperationId) -> Result<Operation, Rejection> {
        let operation = self.parts.store.get_operation(id).await?;
        operation.ok_or_else(|| no_such_operation(id))
    }

    /// Asks for a live operation to be cancelled. One on a resource ends `Canceled` only when AWS confirms, and as it
    /// otherwise would have when the request came too late; one on a group starts nothing more, and has what it started
    /// cancelled.
    pub async fn cancel_operation(&self, operation: &AnyOperation) -> Result<(), Rejection> {
        let (id, store, now) = (operation.id(), &self.parts.store, self.now());
        let operation = match operation {
            AnyOperation::Resource(_) => store
                .request_cancel(id, now)
                .await?
                .map(|operation| AnyOperation::Resource(Box::new(operation))),
            AnyOperation::Group(_) => store
                .request_group_cancel(id, now)
                .await?
                .map(|operation| AnyOperation::Group(Box::new(operation))),
        };
        let operation = operation.ok_or_else(|| no_such_operation(id))?;
        if operation.is_terminal() {
            return Err(Rejection::Conflict(Failure::new(
                "Conflict",
                format!(
                    "Operation {id} has ended already: {}. There is nothing to cancel.",
                    operation.status()
                ),
            )));
        }
        self.parts.workers.wake();
        tracing::info!(operation.id = %id, "cancel requested");
        Ok(())
    }

    /// The operation on a group, answered from the store alone.
    pub async fn group_operation(&self, id: OperationId) -> Result<GroupOperation, Rejection> {
        let operation = self.parts.store.get_group_operation(id).await?;
        operation.ok_or_else(|| no_such_operation(id))
    }

    /// The operation, whatever it is on.
    pub async fn any_operation(&self, id: OperationId) -> Result<AnyOperation, Rejection> {
        if let Some(operation) = self.parts.store.get_operation(id).await? {
            return Ok(AnyOperation::Resource(Box::new(operation)));
        }
        let operation = self.group_operation(id).await?;
        Ok(AnyOperation::Group(Box::new(operation)))
    }

    /// The operations on a group and on its references, the latest first, and whether there are more.
    pub async fn list_operations(
        &self,
        group: &GroupId,
        query: OperationQuery,
    ) -> Result<(Vec<ListedOperation>, bool), Rejection> {
        let page = OperationPage {
            status: query.status,
            after: query.after,
            limit: query.top + 1,
        };
        let mut operations = match self.parts.store.list_operations(group, page).await {
            Err(ucp_store::Error::NoSuchGroup) => return Err(no_such_group(group)),
            other => other?,
        };
        let has_more = operations.len() > query.top;
        operations.truncate(query.top);
        Ok((operations, has_more))
    }
}

fn no_such_operation(id: OperationId) -> Rejection {
    Rejection::Missing(Failure::new(
        "NotFound",
        format!("There is no operation {id}."),
    ))
}
