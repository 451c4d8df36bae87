use ucp_model::{Failure, Operation, OperationId};

use crate::{App, Rejection};

impl App {
    /// The operation, answered from the store alone.
    pub async fn operation(&self, id: OperationId) -> Result<Operation, Rejection> {
        let operation = self.parts.store.get_operation(id).await?;
        operation.ok_or_else(|| no_such_operation(id))
    }

    /// Asks for a live operation to be cancelled. It ends `Canceled` only when AWS confirms, and as it otherwise would
    /// have when the request came too late.
    pub async fn cancel_operation(&self, id: OperationId) -> Result<Operation, Rejection> {
        let operation = self.operation(id).await?;
        let operation = match operation.state.is_terminal() {
            true => Some(operation),
            false => self.parts.store.request_cancel(id, self.now()).await?,
        };
        match operation {
            Some(operation) if !operation.state.is_terminal() => {
                self.parts.workers.wake();
                tracing::info!(operation.id = %id, "cancel requested");
                Ok(operation)
            }
            Some(operation) => Err(Rejection::Conflict(Failure::new(
                "Conflict",
                format!(
                    "Operation {id} has ended already: {}. There is nothing to cancel.",
                    operation.status()
                ),
            ))),
            None => Err(no_such_operation(id)),
        }
    }
}

fn no_such_operation(id: OperationId) -> Rejection {
    Rejection::Missing(Failure::new(
        "NotFound",
        format!("There is no operation {id}."),
    ))
}
