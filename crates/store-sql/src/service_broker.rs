//! The service broker.

use async_trait::async_trait;
use ucp_model::{
    BindingId, GroupId, InstanceId, Reference, ServiceBinding, ServiceInstance, Timestamp,
};
use ucp_store::{Error, PlaceOrder, ServiceBroker};

use crate::database::transaction;
use crate::{Sql, orders, reference_row, service_row};

#[async_trait]
impl ServiceBroker for Sql {
    async fn get_service_instance(
        &self,
        id: &InstanceId,
    ) -> Result<Option<ServiceInstance>, Error> {
        service_row::get_instance(&self.database, id).await
    }

    async fn get_service_binding(&self, id: &BindingId) -> Result<Option<ServiceBinding>, Error> {
        service_row::get_binding(&self.database, id).await
    }

    async fn list_service_bindings(
        &self,
        instance: &InstanceId,
    ) -> Result<Vec<ServiceBinding>, Error> {
        service_row::list_bindings(&self.database, instance).await
    }

    async fn list_service_references(
        &self,
        group: &GroupId,
        instance: &InstanceId,
    ) -> Result<Vec<Reference>, Error> {
        reference_row::list_of_instance(&self.database, group, instance).await
    }

    async fn place_order(&self, order: PlaceOrder) -> Result<ServiceInstance, Error> {
        let placed = transaction!(self, |tx| orders::place(&mut tx, &order));
        let mut bindings = order.bindings.iter();
        if order.instance.is_gone() || bindings.any(ServiceBinding::is_gone) {
            self.erase_deleted().await;
        }
        placed
    }

    async fn remove_gone_services(&self, before: Timestamp, limit: usize) -> Result<u64, Error> {
        transaction!(self, |tx| service_row::remove_gone(&mut tx, before, limit))
    }
}
