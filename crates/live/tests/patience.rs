//! Reads from AWS end after the time-out.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ucp_app::LiveReader;
use ucp_cloud::CloudControl;
use ucp_live::ReadOnly;
use ucp_model::{
    ClientToken, Fault, Identifier, Progress, RequestPage, RequestToken, ResourceDescription,
    ResourcePage, Scope, TypeName,
};

/// A Cloud Control that never replies.
struct Silent;

#[async_trait]
impl CloudControl for Silent {
    async fn create_resource(
        &self,
        _: &Scope,
        _: &TypeName,
        _: &str,
        _: ClientToken,
    ) -> Result<Progress, Fault> {
        std::future::pending().await
    }

    async fn update_resource(
        &self,
        _: &Scope,
        _: &TypeName,
        _: &Identifier,
        _: &str,
        _: ClientToken,
    ) -> Result<Progress, Fault> {
        std::future::pending().await
    }

    async fn delete_resource(
        &self,
        _: &Scope,
        _: &TypeName,
        _: &Identifier,
        _: ClientToken,
    ) -> Result<Progress, Fault> {
        std::future::pending().await
    }

    async fn get_resource(
        &self,
        _: &Scope,
        _: &TypeName,
        _: &Identifier,
    ) -> Result<ResourceDescription, Fault> {
        std::future::pending().await
    }

    async fn list_resources(
        &self,
        _: &Scope,
        _: &TypeName,
        _: Option<&str>,
    ) -> Result<ResourcePage, Fault> {
        std::future::pending().await
    }

    async fn get_resource_request_status(
        &self,
        _: &Scope,
        _: &RequestToken,
    ) -> Result<Progress, Fault> {
        std::future::pending().await
    }

    async fn list_resource_requests(
        &self,
        _: &Scope,
        _: Option<&str>,
    ) -> Result<RequestPage, Fault> {
        std::future::pending().await
    }

    async fn cancel_resource_request(
        &self,
        _: &Scope,
        _: &RequestToken,
    ) -> Result<Progress, Fault> {
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_read_without_an_answer_ends() {
    let live = ReadOnly {
        cloud: Arc::new(Silent),
        timeout: Duration::from_millis(1),
    };
    let scope = Scope::new("aws", "123456789012", "us-west-2").unwrap();
    let logs = TypeName::from_cloudformation("AWS::Logs::LogGroup").unwrap();
    let read = live.read(&scope, &logs, &Identifier::new("a")).await;
    let list = live.list(&scope, &logs, None).await;
    for fault in [read.unwrap_err(), list.unwrap_err()] {
        assert_eq!(fault.code, "NetworkFailure");
        assert_eq!(fault.message, "no answer within 1ms");
    }
}
