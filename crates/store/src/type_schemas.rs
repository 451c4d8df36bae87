//! Schemas of the resource types that are not embedded.

use async_trait::async_trait;
use ucp_model::{Scope, Timestamp, TypeName};

use crate::Error;

/// The schema of a resource type as the CloudFormation registry told it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeSchema {
    /// The schema, as JSON text.
    pub text: String,
    /// Tells it from every other one.
    pub fingerprint: String,
    /// Whether Cloud Control manages resources of the type.
    pub is_provisioned: bool,
    /// When the registry told it.
    pub fetched_at: Timestamp,
}

/// The schemas that the CloudFormation registry returned.
#[async_trait]
pub trait TypeSchemas: Send + Sync {
    /// Remembers what the registry told of a type in an account and region, whichever plane leads there. Of the type's other
    /// schemas those that are older go, except where a live operation was accepted with their fingerprint.
    async fn put_type_schema(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        schema: TypeSchema,
    ) -> Result<(), Error>;

    /// What is remembered of a type in an account and region: the schema of this fingerprint, or the one that was fetched
    /// last.
    async fn get_type_schema(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        fingerprint: Option<&str>,
    ) -> Result<Option<TypeSchema>, Error>;
}
