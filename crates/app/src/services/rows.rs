//! What is stored of instances, bindings and the references that they have.

use ucp_model::{
    BindingId, GroupId, InstanceId, Operation, OperationId, ProvisioningState, Reference,
    ServiceBinding, ServiceInstance,
};
use ucp_store::rules::is_of_instance;

use super::ServiceRejection;
use crate::ServiceCases;

impl ServiceCases {
    /// Returns what is recorded of an instance.
    pub(super) async fn service_instance(
        &self,
        id: &InstanceId,
    ) -> Result<Option<ServiceInstance>, ServiceRejection> {
        let row = self.ground.store.get_service_instance(id).await;
        row.map_err(ServiceRejection::of_store)
    }

    /// Returns what is recorded of a binding.
    pub(super) async fn service_binding(
        &self,
        id: &BindingId,
    ) -> Result<Option<ServiceBinding>, ServiceRejection> {
        let row = self.ground.store.get_service_binding(id).await;
        row.map_err(ServiceRejection::of_store)
    }

    /// Returns the references of an instance and its bindings: those that its orders have made, and those that own nothing.
    pub(super) async fn references_of(
        &self,
        instance: &InstanceId,
        group: &GroupId,
    ) -> Result<Vec<Reference>, ServiceRejection> {
        let references = self.ground.store.list_service_references(group, instance);
        let mut references = references.await.map_err(ServiceRejection::of_store)?;
        references.retain(|it| {
            let owns_nothing = !it.owned
                && it.operation.is_none()
                && it.provisioning_state != ProvisioningState::Unknown;
            owns_nothing || is_of_instance(&it.id, &it.tags, instance)
        });
        Ok(references)
    }

    pub(super) async fn get_operation(
        &self,
        id: OperationId,
    ) -> Result<Option<Operation>, ServiceRejection> {
        let operation = self.ground.store.get_operation(id).await;
        operation.map_err(ServiceRejection::of_store)
    }
}
