use std::error::Error;
use std::sync::Arc;

use async_trait::async_trait;
use ucp_model::{Fault, Scope, TypeName};

use crate::{ResourceSchema, SchemaError};

/// The resource types that an account and region know: the public ones and its own.
#[async_trait]
pub trait ResourceTypes: Send + Sync {
    /// The schema of a type. A type that is known is found in any letter case and without waiting for AWS.
    async fn get(
        &self,
        scope: &Scope,
        type_name: &TypeName,
    ) -> Result<Arc<ResourceSchema>, UnknownType>;

    /// The schema of this fingerprint, with which an operation was validated, or what [`ResourceTypes::get`] finds where
    /// it is gone.
    async fn get_version(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        fingerprint: &str,
    ) -> Result<Arc<ResourceSchema>, UnknownType>;
}

/// Why there is no schema, by what the caller would do about it.
#[derive(Clone, Debug, thiserror::Error)]
pub enum UnknownType {
    /// There is no such type: correct the name.
    #[error("the type does not exist")]
    Missing {
        /// The type that was probably meant.
        nearest: Option<TypeName>,
    },
    /// The registry does not tell: get the permission, or give the schema.
    #[error("the registry refuses to describe the type")]
    Refused(#[source] Fault),
    /// The registry told something else than a schema of the type: correct what is registered, or give the schema.
    #[error("the registry's schema cannot be used")]
    Unusable(#[source] Arc<SchemaError>),
    /// The registry cannot be reached: try again, or give the schema.
    #[error("the registry cannot be reached")]
    Unreachable(#[source] Fault),
    /// What was told before cannot be read, or what is told now not be kept: try again.
    #[error("the store is unavailable")]
    Store(#[source] Arc<dyn Error + Send + Sync>),
}
