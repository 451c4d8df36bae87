//! Where operations are served.

use ucp_model::operation::Work;
use ucp_model::{Operation, OperationId, PlaneId};

/// The paths by which one operation is polled.
#[derive(Clone, Debug)]
pub(crate) struct PollingPaths {
    /// Its status, which is also its id.
    pub(crate) status: String,
    /// Its result.
    pub(crate) result: String,
}

impl PollingPaths {
    /// Below a radius plane, as of operations on references.
    pub(crate) fn below(plane: &PlaneId, id: OperationId) -> Self {
        Self::new(plane, "System.Resources", id)
    }

    fn new(scope: impl std::fmt::Display, namespace: &str, id: OperationId) -> Self {
        let path = |collection| {
            format!("{scope}/providers/{namespace}/locations/global/{collection}/{id}")
        };
        Self {
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
