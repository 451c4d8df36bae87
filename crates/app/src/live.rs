use async_trait::async_trait;
use ucp_model::{Fault, Identifier, ResourceDescription, ResourcePage, Scope, TypeName};

/// Reads from AWS on behalf of a waiting request. It cannot change anything.
#[async_trait]
pub trait LiveReader: Send + Sync {
    /// Returns the resource as AWS describes it. A missing resource is [`FaultClass::Missing`](ucp_model::FaultClass::Missing).
    async fn read(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        identifier: &Identifier,
    ) -> Result<ResourceDescription, Fault>;

    /// Returns the page of a type's resources that `next_token` refers to, or the first one.
    async fn list(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        next_token: Option<&str>,
    ) -> Result<ResourcePage, Fault>;
}
