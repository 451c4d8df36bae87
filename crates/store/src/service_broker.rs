//! What a service broker remembers.

use async_trait::async_trait;
use ucp_model::{
    BindingId, GroupId, InstanceId, OperationId, Reference, ResourceGroup, ServiceBinding,
    ServiceInstance, Timestamp,
};

use crate::{Error, NewOperation};

/// The maximum number of bindings of an instance. Those that are gone do not count.
pub const BINDINGS_MAX: usize = 200;

/// A change of an instance or of its bindings, with the operation that carries it out.
#[derive(Clone, Debug, PartialEq)]
pub struct PlaceOrder {
    /// The instance as it is to be. Its revision is set by the store.
    pub instance: ServiceInstance,
    /// The revision with which it was judged; `None` if there was no row.
    pub expected: Option<u64>,
    /// The bindings that change, as they are to be.
    pub bindings: Vec<ServiceBinding>,
    /// The group of the instance as it is made, if it is missing.
    pub group: Option<ResourceGroup>,
    /// Tags that all references of the instance and its bindings get, besides those that they have.
    pub tags: Vec<(String, String)>,
    /// The live operation that is cancelled for it.
    pub cancels: Option<OperationId>,
    /// The operation, if something is to be done in AWS: an apply to the group with an order.
    pub operation: Option<NewOperation>,
    /// When it is placed.
    pub placed_at: Timestamp,
}

/// Storage of service instances and their bindings. Ids compare as aliases do.
///
/// A change of a binding increases the revision of its instance, so that this alone proves what an order was judged with.
/// Instances and bindings that are gone stay for a while. When a group is removed, those that were ordered in it are removed
/// with it, whatever they are.
///
/// What carries an order out ends with it in one transaction. If a deletion fails that has taken a part of the resources of a
/// binding, the binding hands out nothing any more, and its latest change is that deletion; one that has lost all of them with its
/// instance is deleted.
#[async_trait]
pub trait ServiceBroker: Send + Sync {
    /// Returns the instance, if there is one, or one that is gone and has not been removed yet.
    async fn get_service_instance(&self, id: &InstanceId)
    -> Result<Option<ServiceInstance>, Error>;

    /// Returns the binding, if there is one, or one that is gone and has not been removed yet.
    async fn get_service_binding(&self, id: &BindingId) -> Result<Option<ServiceBinding>, Error>;

    /// Returns the bindings of an instance that are not gone, in the order of their keys.
    async fn list_service_bindings(
        &self,
        instance: &InstanceId,
    ) -> Result<Vec<ServiceBinding>, Error>;

    /// Returns the references in the group that are of the instance or of its bindings, in the order of their keys: those whose
    /// aliases begin with its [prefix](InstanceId::alias_prefix). A group that does not exist has none.
    async fn list_service_references(
        &self,
        group: &GroupId,
        instance: &InstanceId,
    ) -> Result<Vec<Reference>, Error>;

    /// Writes an instance and those of its bindings that change, and returns the instance as recorded. In the same
    /// transaction its group is made if it is missing, the operation that is in its way has its cancel requested, as
    /// [`request_cancel`](crate::Operations::request_cancel) does, the references get their tags, and the operation that
    /// carries the order out is accepted, as [`accept_operation`](crate::Operations::accept_operation) does.
    ///
    /// The first error that applies is returned:
    ///
    /// - [`Error::NoSuchGroup`] if the group is missing, and is not to be made.
    /// - [`Error::GroupDeleting`] if the group is being deleted.
    /// - [`Error::PreconditionFailed`] if the instance has not the expected revision, or exists and should not.
    /// - [`Error::TooManyBindings`] if it would have more than [`BINDINGS_MAX`] bindings.
    /// - [`Error::TooManyTags`] if a reference would get more than [`MAX_TAGS`](ucp_model::MAX_TAGS) tags.
    /// - What [`accept_operation`](crate::Operations::accept_operation) says of the operation.
    ///
    /// The instance keeps the spelling of its id, and takes that of its group, as they were written first. All bindings of an
    /// instance that is gone now are deleted. References of the group are of the instance if their aliases begin with its
    /// [prefix](InstanceId::alias_prefix). Those that have the tags stay as they are, and no event is appended.
    async fn place_order(&self, order: PlaceOrder) -> Result<ServiceInstance, Error>;

    /// Removes up to `limit` bindings that are gone since before `before`, earliest first, or if there are fewer, up to `limit`
    /// instances too. Returns how many were removed.
    async fn remove_gone_services(&self, before: Timestamp, limit: usize) -> Result<u64, Error>;
}
