//! The interface to AWS: the calls of Cloud Control and of the CloudFormation registry that `ucp` uses.
//!
//! `ucp-cloud-aws` implements it with the AWS SDK, `ucp-simulator` without a network. Mutations carry our client token
//! and their document as the exact bytes that were recorded, so that a repeated call is identical byte for byte.

mod exception;

use async_trait::async_trait;
use ucp_model::{
    ClientToken, Identifier, Progress, RequestPage, RequestToken, ResourceDescription,
    ResourcePage, Scope, TypeName,
};

pub use exception::{Call, fault_of};
pub use ucp_model::{Fault, FaultClass, RetryClass};

/// The Cloud Control API. The scope of a call selects its account and region.
#[async_trait]
pub trait CloudControl: Send + Sync {
    /// `CreateResource` with `desired_state`, the resource's properties as JSON text.
    async fn create_resource(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        desired_state: &str,
        client_token: ClientToken,
    ) -> Result<Progress, Fault>;

    /// `UpdateResource` with `patch_document`, an RFC 6902 JSON Patch as text.
    async fn update_resource(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        identifier: &Identifier,
        patch_document: &str,
        client_token: ClientToken,
    ) -> Result<Progress, Fault>;

    /// `DeleteResource`.
    async fn delete_resource(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        identifier: &Identifier,
        client_token: ClientToken,
    ) -> Result<Progress, Fault>;

    /// `GetResource`: the live properties, and the identifier as AWS spells it. A resource that does not exist is
    /// [`FaultClass::Missing`].
    async fn get_resource(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        identifier: &Identifier,
    ) -> Result<ResourceDescription, Fault>;

    /// `ListResources`: the page that `next_token` refers to, or the first one.
    async fn list_resources(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        next_token: Option<&str>,
    ) -> Result<ResourcePage, Fault>;

    /// `GetResourceRequestStatus`. A token that AWS has forgotten is [`FaultClass::TokenUnknown`].
    async fn get_resource_request_status(
        &self,
        scope: &Scope,
        request_token: &RequestToken,
    ) -> Result<Progress, Fault>;

    /// `ListResourceRequests`, of those in flight: the page that `next_token` refers to, or the first one. A page has up to a
    /// hundred requests, whoever has made them.
    async fn list_resource_requests(
        &self,
        scope: &Scope,
        next_token: Option<&str>,
    ) -> Result<RequestPage, Fault>;

    /// `CancelResourceRequest`. AWS cancels a request that is pending or in progress. For any other it returns a fault,
    /// which says nothing about the outcome of the request.
    async fn cancel_resource_request(
        &self,
        scope: &Scope,
        request_token: &RequestToken,
    ) -> Result<Progress, Fault>;
}

/// The CloudFormation registry.
#[async_trait]
pub trait TypeRegistry: Send + Sync {
    /// `DescribeType` of a resource type.
    async fn describe_type(
        &self,
        scope: &Scope,
        type_name: &TypeName,
    ) -> Result<TypeDescription, Fault>;
}

/// The registry's description of a resource type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeDescription {
    /// The schema, as JSON text.
    pub schema: String,
    /// Whether Cloud Control manages resources of the type: its `ProvisioningType` is not `NON_PROVISIONABLE`.
    pub is_provisioned: bool,
}
