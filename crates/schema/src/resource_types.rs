use std::error::Error;
use std::sync::Arc;

use async_trait::async_trait;
use ucp_model::{Fault, Scope, TypeName};

use crate::{Catalogue, ResourceSchema, SchemaError};

/// The resource types available in an account and region: public and private ones.
#[async_trait]
pub trait ResourceTypes: Send + Sync {
    /// Returns the types that are known in every account and region.
    fn catalogue(&self) -> &Catalogue;

    /// Returns the schema of a type, in any casing. For a type that is already known, this does not wait for AWS.
    async fn get(
        &self,
        scope: &Scope,
        type_name: &TypeName,
    ) -> Result<Arc<ResourceSchema>, UnknownType>;

    /// Returns the schema with this fingerprint, which an operation was validated with, or the result of
    /// [`ResourceTypes::get`] if it is no longer available.
    async fn get_version(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        fingerprint: &str,
    ) -> Result<Arc<ResourceSchema>, UnknownType>;
}

/// Why there is no schema, by the remedy.
#[derive(Clone, Debug, thiserror::Error)]
pub enum UnknownType {
    /// The type does not exist. Correct the name.
    #[error("the type does not exist")]
    Missing {
        /// The type that was probably meant.
        nearest: Option<TypeName>,
    },
    /// The registry refuses to describe the type. Grant the permission, or provide the schema.
    #[error("the registry refuses to describe the type")]
    Refused(#[source] Fault),
    /// The registry has no valid schema of the type. Correct the registered schema, or provide one.
    #[error("the registry's schema cannot be used")]
    Unusable(#[source] Arc<SchemaError>),
    /// The registry cannot be reached. Try again, or provide the schema.
    #[error("the registry cannot be reached")]
    Unreachable(#[source] Fault),
    /// All threads that read schemas are busy. Try again.
    #[error("all threads that read schemas are busy")]
    Busy,
    /// The store cannot read or write the schema. Try again.
    #[error("the store is unavailable")]
    Store(#[source] Arc<dyn Error + Send + Sync>),
}
