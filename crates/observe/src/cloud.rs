//! Cloud Control under observation.

use async_trait::async_trait;
use serde_json::Value;
use ucp_cloud::{CloudControl, Fault};
use ucp_model::{ClientToken, Identifier, Progress, RequestToken, ResourcePage, Scope, TypeName};

use crate::process::Observed;
use crate::{CrashPoint, Moment};

impl Observed<dyn CloudControl> {
    /// Makes the call, and loses its reply when the process dies of it.
    async fn at<R>(
        &self,
        moment: Moment,
        call: impl Future<Output = Result<R, Fault>>,
    ) -> Result<R, Fault> {
        self.process.reached(CrashPoint::before(moment))?;
        let reply = call.await;
        self.process.reached(CrashPoint::after(moment))?;
        reply
    }
}

#[async_trait]
impl CloudControl for Observed<dyn CloudControl> {
    async fn create_resource(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        desired_state: &str,
        client_token: ClientToken,
    ) -> Result<Progress, Fault> {
        let call = self
            .inner
            .create_resource(scope, type_name, desired_state, client_token);
        self.at(Moment::Create, call).await
    }

    async fn update_resource(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        identifier: &Identifier,
        patch_document: &str,
        client_token: ClientToken,
    ) -> Result<Progress, Fault> {
        let call =
            self.inner
                .update_resource(scope, type_name, identifier, patch_document, client_token);
        self.at(Moment::Update, call).await
    }

    async fn delete_resource(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        identifier: &Identifier,
        client_token: ClientToken,
    ) -> Result<Progress, Fault> {
        let call = self
            .inner
            .delete_resource(scope, type_name, identifier, client_token);
        self.at(Moment::Delete, call).await
    }

    async fn get_resource(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        identifier: &Identifier,
    ) -> Result<Value, Fault> {
        let call = self.inner.get_resource(scope, type_name, identifier);
        self.at(Moment::Look, call).await
    }

    async fn list_resources(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        next_token: Option<&str>,
    ) -> Result<ResourcePage, Fault> {
        self.process.living()?;
        self.inner
            .list_resources(scope, type_name, next_token)
            .await
    }

    async fn get_resource_request_status(
        &self,
        scope: &Scope,
        request_token: &RequestToken,
    ) -> Result<Progress, Fault> {
        let call = self.inner.get_resource_request_status(scope, request_token);
        self.at(Moment::Poll, call).await
    }

    async fn cancel_resource_request(
        &self,
        scope: &Scope,
        request_token: &RequestToken,
    ) -> Result<Progress, Fault> {
        let call = self.inner.cancel_resource_request(scope, request_token);
        self.at(Moment::Cancel, call).await
    }
}
