//! The URLs of operations.

use ucp_model::operation::Work;
use ucp_model::{Operation, OperationId, PlaneId};

/// The paths for polling one operation.
#[derive(Clone, Debug)]
pub(crate) struct PollingPaths {
    /// The operation.
    pub(crate) operation: OperationId,
    /// The path of the status, which is also the id of the operation.
    pub(crate) status: String,
    /// The path of the result.
    pub(crate) result: String,
}

impl PollingPaths {
    /// Paths under a radius plane, for operations on references and groups.
    pub(crate) fn below(plane: &PlaneId, id: OperationId) -> Self {
        Self::new(plane, "System.Resources", id)
    }

    fn new(scope: impl std::fmt::Display, namespace: &str, id: OperationId) -> Self {
        let path = |collection| {
            format!("{scope}/providers/{namespace}/locations/global/{collection}/{id}")
        };
        Self {
            operation: id,
            status: path("operationStatuses"),
            result: path("operationResults"),
        }
    }
}

impl From<&Operation> for PollingPaths {
    fn from(operation: &Operation) -> Self {
        let id = operation.header.id;
        match &operation.work {
            Work::Resource(work) => Self::new(&work.scope, &work.type_name.namespace(), id),
            Work::Group(work) => Self::below(&work.group.plane_id(), id),
        }
    }
}
