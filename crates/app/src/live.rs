use async_trait::async_trait;
use serde_json::Value;
use ucp_model::{Fault, Identifier, ResourcePage, Scope, TypeName};

/// What a request may ask of AWS while its sender waits: reads, and nothing else.
#[async_trait]
pub trait LiveReader: Send + Sync {
    /// The live properties. A resource that does not exist is [`FaultClass::Missing`](ucp_model::FaultClass::Missing).
    async fn read(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        identifier: &Identifier,
    ) -> Result<Value, Fault>;

    /// The page of a type's resources that begins where `next_token` says, or the first one.
    async fn list(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        next_token: Option<&str>,
    ) -> Result<ResourcePage, Fault>;
}
