//! Schemas of resource types that are not embedded.

use async_trait::async_trait;
use ucp_model::{Scope, Timestamp, TypeName};

use crate::Error;

/// The schema of a resource type, as the CloudFormation registry returned it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeSchema {
    /// The schema, as JSON text.
    pub text: String,
    /// Identifies this version of the schema.
    pub fingerprint: String,
    /// Whether Cloud Control manages resources of the type.
    pub is_provisioned: bool,
    /// When it was fetched from the registry.
    pub fetched_at: Timestamp,
}

/// Storage of the schemas that the CloudFormation registry returned.
#[async_trait]
pub trait TypeSchemas: Send + Sync {
    /// Stores the schema of a type in an account and region, whatever the plane of `scope`. Removes the older schemas
    /// of the type, except those whose fingerprint a live operation was accepted with.
    async fn put_type_schema(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        schema: TypeSchema,
    ) -> Result<(), Error>;

    /// Returns the schema of a type in an account and region: the one with this fingerprint, or the one fetched last.
    async fn get_type_schema(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        fingerprint: Option<&str>,
    ) -> Result<Option<TypeSchema>, Error>;
}
