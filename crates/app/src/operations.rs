use ucp_model::{Failure, Operation, OperationId};

use crate::{App, Rejection};

impl App {
    /// The operation, answered from the store alone.
    pub async fn operation(&self, id: OperationId) -> Result<Operation, Rejection> {
        let operation = self.parts.store.get_operation(id).await?;
        operation.ok_or_else(|| {
            Rejection::Missing(Failure::new(
                "NotFound",
                format!("There is no operation {id}."),
            ))
        })
    }
}
