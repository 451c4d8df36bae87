//! `ucp dev --demo`: a client that creates, updates and deletes a VPC.

use std::io;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use axum::body::Bytes;
use axum::http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};

const GROUP: &str = "/planes/radius/local/resourceGroups/ucp-demo";
const API_VERSION: &str = "api-version=2023-10-01-preview";
const VPCS: &str = "/planes/aws/aws/accounts/123456789012/regions/us-west-2/providers/AWS.EC2/VPC";
/// The maximum number of polls of an operation.
const POLLS_MAX: usize = 100;

/// Runs the demo and checks its outcomes.
pub(crate) async fn run(url: String, token: &str) -> anyhow::Result<()> {
    let client = Narrator {
        http: Client::builder(TokioExecutor::new()).build_http(),
        url,
        token,
    };
    let group = format!("{GROUP}?{API_VERSION}");

    client.chapter("Create a resource group")?;
    client
        .call(Method::PUT, &group, Some(json!({"location": "global"})))
        .await?
        .expect(StatusCode::OK)?;

    client.chapter("Put a VPC into it, under the alias 'main'")?;
    client.put(json!({"CidrBlock": "10.0.0.0/16"})).await?;
    let first = client.vpcs(&group).await?;
    ensure!(
        first.len() == 1,
        "expected one VPC after the first put, found {first:?}"
    );

    client.chapter("Put the same again: nothing changes, and there is still one VPC")?;
    let again = client.put(json!({"CidrBlock": "10.0.0.0/16"})).await?;
    ensure!(
        again == StatusCode::OK,
        "expected 200 for the second put, got {again}"
    );
    ensure!(
        client.vpcs(&group).await? == first,
        "the second put created another VPC"
    );

    client.chapter("Change EnableDnsSupport: the same VPC is updated")?;
    client
        .put(json!({"CidrBlock": "10.0.0.0/16", "EnableDnsSupport": false}))
        .await?;
    ensure!(
        client.vpcs(&group).await? == first,
        "the update created another VPC"
    );

    client.chapter("Delete it")?;
    let reply = client
        .call(
            Method::POST,
            &format!("{VPCS}/:delete"),
            Some(tracked(json!({}))),
        )
        .await?;
    client.follow(reply).await?;
    ensure!(
        client.vpcs(&group).await?.is_empty(),
        "the group still has a reference to the VPC"
    );

    ucp_cli::print(&format!(
        "\nDone: two puts and an update made one VPC, {}, and the delete removed it.\n",
        first[0]
    ))?;
    Ok(())
}

fn tracked(properties: Value) -> Value {
    json!({
        "alias": "main",
        "trackedBy": format!("{GROUP}/providers/AWS.EC2/VPC:reference/main"),
        "properties": properties,
    })
}

struct Narrator<'a> {
    http: Client<HttpConnector, Full<Bytes>>,
    /// The base URL, to which ids are appended.
    url: String,
    /// The token of the data directory.
    token: &'a str,
}

struct Reply {
    status: StatusCode,
    status_url: Option<String>,
    body: Value,
}

impl Reply {
    fn expect(self, status: StatusCode) -> anyhow::Result<Self> {
        ensure!(
            self.status == status,
            "expected {status}, got {}",
            self.status
        );
        Ok(self)
    }
}

impl Narrator<'_> {
    fn chapter(&self, title: &str) -> io::Result<()> {
        ucp_cli::print(&format!("\n== {title}\n"))
    }

    /// Puts the VPC, waits for the outcome, and returns the status of the put.
    async fn put(&self, properties: Value) -> anyhow::Result<StatusCode> {
        let reply = self
            .call(
                Method::POST,
                &format!("{VPCS}/:put"),
                Some(tracked(properties)),
            )
            .await?;
        let status = reply.status;
        self.follow(reply).await?;
        Ok(status)
    }

    /// Polls the operation that `reply` started, if any, until it ends.
    async fn follow(&self, reply: Reply) -> anyhow::Result<()> {
        ensure!(reply.status.is_success(), "the request was refused");
        let Some(url) = reply.status_url else {
            return Ok(());
        };
        for _ in 0..POLLS_MAX {
            let polled = self
                .call(Method::GET, &url, None)
                .await?
                .expect(StatusCode::OK)?;
            match polled.body["status"].as_str() {
                Some("Succeeded") => return Ok(()),
                Some("Failed" | "Canceled") => bail!("the operation did not succeed"),
                _ => tokio::time::sleep(Duration::from_millis(300)).await,
            }
        }
        bail!("the operation did not end")
    }

    /// Returns the identifiers of the VPCs that the group has references to.
    async fn vpcs(&self, group: &str) -> anyhow::Result<Vec<String>> {
        let group = self
            .call(Method::GET, group, None)
            .await?
            .expect(StatusCode::OK)?;
        let resources = group.body["resources"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let identifier = |resource: &Value| {
            resource["mapsTo"]["primaryIdentifier"]
                .as_str()
                .map(str::to_owned)
        };
        Ok(resources.iter().filter_map(identifier).collect())
    }

    async fn call(
        &self,
        method: Method,
        target: &str,
        body: Option<Value>,
    ) -> anyhow::Result<Reply> {
        let url = if target.starts_with('/') {
            format!("{}{target}", self.url)
        } else {
            target.to_owned()
        };
        ucp_cli::print(&format!("> {method} {url}\n"))?;
        let text = body.map(|body| body.to_string()).unwrap_or_default();
        if !text.is_empty() {
            ucp_cli::print(&format!("> {text}\n"))?;
        }
        let request = Request::builder()
            .method(method)
            .uri(&url)
            .header("content-type", "application/json")
            .header("authorization", format!("Bearer {}", self.token))
            .body(Full::from(text))?;
        let response = self
            .http
            .request(request)
            .await
            .with_context(|| format!("cannot call {url}"))?;
        let status = response.status();
        let status_url = response.headers().get("azure-asyncoperation");
        let status_url = status_url
            .and_then(|url| url.to_str().ok())
            .map(str::to_owned);
        let bytes = response.into_body().collect().await?.to_bytes();
        let text = String::from_utf8_lossy(&bytes);
        ucp_cli::print(&format!("< {status} {text}\n"))?;
        let body = if bytes.is_empty() {
            Value::Null
        } else {
            serde_json::from_slice(&bytes)?
        };
        Ok(Reply {
            status,
            status_url,
            body,
        })
    }
}
