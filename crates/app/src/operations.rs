use ucp_model::{ErrorCode, Failure, GroupId, Operation, OperationId, Timestamp};
use ucp_store::{OperationPage, Status};

use crate::intake::no_such_group;
use crate::{App, Rejection};

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
    /// The operation, answered from the store alone.
    pub async fn operation(&self, id: OperationId) -> Result<Operation, Rejection> {
        let operation = self.parts.store.get_operation(id).await?;
        operation.ok_or_else(|| no_such_operation(id))
    }

    /// Asks for a live operation to be cancelled. One on a resource ends `Canceled` only when AWS confirms, and as it
    /// otherwise would have when the request came too late; one on a group starts nothing more, and has what it started
    /// cancelled.
    pub async fn cancel_operation(&self, id: OperationId) -> Result<(), Rejection> {
        let operation = self.parts.store.request_cancel(id, self.now()).await?;
        let operation = operation.ok_or_else(|| no_such_operation(id))?;
        if operation.is_terminal() {
            return Err(Rejection::Conflict(Failure::new(
                ErrorCode::Conflict,
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

    /// The operations on a group and on its references, the latest first, and whether there are more.
    pub async fn list_operations(
        &self,
        group: &GroupId,
        query: OperationQuery,
    ) -> Result<(Vec<Operation>, bool), Rejection> {
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
        ErrorCode::NotFound,
        format!("There is no operation {id}."),
    ))
}
