//! Read-only access to AWS: implements the `LiveReader` of `ucp-app` with the `CloudControl` of `ucp-cloud`.
//!
//! This is a separate crate so that neither `ucp-app` nor `ucp-api` can call anything that changes AWS.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ucp_app::LiveReader;
use ucp_cloud::CloudControl;
use ucp_model::{
    Fault, FaultClass, Identifier, ResourceDescription, ResourcePage, Scope, TypeName,
};

/// Cloud Control without its mutations, and with a time-out.
pub struct ReadOnly {
    /// The AWS client.
    pub cloud: Arc<dyn CloudControl>,
    /// Time-out of one read.
    pub timeout: Duration,
}

#[async_trait]
impl LiveReader for ReadOnly {
    async fn read(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        identifier: &Identifier,
    ) -> Result<ResourceDescription, Fault> {
        self.bounded(self.cloud.get_resource(scope, type_name, identifier))
            .await
    }

    async fn list(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        next_token: Option<&str>,
    ) -> Result<ResourcePage, Fault> {
        self.bounded(self.cloud.list_resources(scope, type_name, next_token))
            .await
    }
}

impl ReadOnly {
    async fn bounded<T>(&self, call: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
        match tokio::time::timeout(self.timeout, call).await {
            Ok(reply) => reply,
            Err(_) => Err(Fault::new(
                FaultClass::Transient,
                "NetworkFailure",
                format!(
                    "no answer within {}",
                    humantime::format_duration(self.timeout)
                ),
            )),
        }
    }
}
