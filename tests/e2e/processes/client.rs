//! A plain HTTP client, like a user's program.

use std::time::Duration;

use axum::body::Bytes;
use axum::http::Request;
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client as Http;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};

/// How long a test waits for anything. It is not a measurement.
pub(super) const PATIENCE: Duration = Duration::from_secs(150);
/// The interval between polls.
pub(super) const AGAIN: Duration = Duration::from_millis(50);

pub(super) const API_VERSION: &str = "api-version=2023-10-01-preview";
pub(super) const GROUP: &str = "/planes/radius/local/resourceGroups/rg";

/// A reply.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) status_url: Option<String>,
    pub(super) retry_after: Option<String>,
    pub(super) body: Value,
    pub(super) text: String,
}

/// A client of one server, on behalf of one AWS account.
#[derive(Clone)]
pub(super) struct Client {
    http: Http<HttpConnector, Full<Bytes>>,
    pub(super) base: String,
    pub(super) account: String,
}

impl Client {
    pub(super) fn new(base: &str, account: &str) -> Self {
        let http = Http::builder(TokioExecutor::new()).build_http();
        Self {
            http,
            base: base.to_owned(),
            account: account.to_owned(),
        }
    }

    /// Sends a request. Returns an error if the connection breaks.
    pub(super) async fn try_call(
        &self,
        method: &str,
        target: &str,
        body: &str,
    ) -> Result<Answer, String> {
        self.try_call_preferring(None, method, target, body).await
    }

    /// Sends a request with a preference (RFC 7240).
    pub(super) async fn try_call_preferring(
        &self,
        preference: Option<&str>,
        method: &str,
        target: &str,
        body: &str,
    ) -> Result<Answer, String> {
        let url = if target.starts_with('/') {
            format!("{}{target}", self.base)
        } else {
            target.to_owned()
        };
        let mut request = Request::builder()
            .method(method)
            .uri(url)
            .header("content-type", "application/json");
        if let Some(preference) = preference {
            request = request.header("prefer", preference);
        }
        let request = request
            .body(Full::from(body.to_owned()))
            .expect("a request");
        let response = tokio::time::timeout(PATIENCE, self.http.request(request)).await;
        let response = response
            .map_err(|_| "no answer")?
            .map_err(|error| error.to_string())?;
        let status = response.status().as_u16();
        let header = |name| {
            let value = response.headers().get(name)?;
            value.to_str().ok().map(str::to_owned)
        };
        let status_url = header("azure-asyncoperation");
        let retry_after = header("retry-after");
        let bytes = response
            .into_body()
            .collect()
            .await
            .map_err(|error| error.to_string())?
            .to_bytes();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let body = serde_json::from_str(&text).unwrap_or(Value::Null);
        Ok(Answer {
            status,
            status_url,
            retry_after,
            body,
            text,
        })
    }

    pub(super) async fn call(&self, method: &str, target: &str, body: &str) -> Answer {
        self.try_call(method, target, body)
            .await
            .unwrap_or_else(|error| panic!("{method} {target}: {error}"))
    }

    pub(super) async fn put_group(&self) {
        let path = format!("{GROUP}?{API_VERSION}");
        assert_eq!(
            self.call("PUT", &path, r#"{"location":"global"}"#)
                .await
                .status,
            200
        );
    }

    /// Repeats an action as [`Self::insist`] does, also while the server is unavailable.
    pub(super) async fn persist(
        &self,
        action: &str,
        resource_type: &str,
        alias: &str,
        properties: &Value,
    ) {
        let (path, body) = self.action(action, resource_type, alias, properties);
        let persisting = async {
            loop {
                let answer = self.call("POST", &path, &body).await;
                match answer.status {
                    200 => return,
                    201 | 202 | 409 | 503 => tokio::time::sleep(AGAIN).await,
                    _ => panic!("unexpected reply: {answer:?}"),
                }
            }
        };
        tokio::time::timeout(PATIENCE, persisting)
            .await
            .expect("nothing is left to change");
    }

    /// Whether the server says that it is ready.
    pub(super) async fn is_ready(&self) -> bool {
        self.call("GET", "/readyz", "").await.status == 200
    }

    /// The resources of the group.
    pub(super) async fn references(&self) -> Vec<Value> {
        let group = self
            .call("GET", &format!("{GROUP}?{API_VERSION}&top=1000"), "")
            .await;
        assert_eq!(group.status, 200, "{}", group.text);
        group.body["resources"]
            .as_array()
            .cloned()
            .unwrap_or_default()
    }

    /// The path and body of an action on the resource behind `alias`.
    pub(super) fn action(
        &self,
        action: &str,
        resource_type: &str,
        alias: &str,
        properties: &Value,
    ) -> (String, String) {
        let account = &self.account;
        let path = format!(
            "/planes/aws/aws/accounts/{account}/regions/us-west-2/providers/{resource_type}/:{action}"
        );
        let tracked_by = format!("{GROUP}/providers/{resource_type}:reference/{alias}");
        let body = json!({"alias": alias, "trackedBy": tracked_by, "properties": properties});
        (path, body.to_string())
    }

    /// The same, with a `replacementPolicy` if given.
    pub(super) fn action_with_policy(
        &self,
        action: &str,
        resource_type: &str,
        alias: &str,
        properties: &Value,
        policy: Option<&str>,
    ) -> (String, String) {
        let (path, body) = self.action(action, resource_type, alias, properties);
        let mut body: Value = serde_json::from_str(&body).expect("our own JSON");
        if let Some(policy) = policy {
            body["replacementPolicy"] = policy.into();
        }
        (path, body.to_string())
    }

    /// Repeats an action until it is done, like a pipeline that is run again: it follows an operation in progress,
    /// whoever started it. Returns the final status, or `null` if there was nothing to do.
    pub(super) async fn insist(
        &self,
        action: &str,
        resource_type: &str,
        alias: &str,
        properties: &Value,
    ) -> Value {
        let (path, body) = self.action(action, resource_type, alias, properties);
        self.insist_on(&path, &body).await
    }

    /// The same for a request that was already sent.
    pub(super) async fn insist_on(&self, path: &str, body: &str) -> Value {
        for _ in 0..10 {
            let answer = self.call("POST", path, body).await;
            match answer.status {
                200 | 204 => return Value::Null,
                201 | 202 => {
                    return self
                        .follow(&answer.status_url.expect("polling headers"))
                        .await;
                }
                // Too much is under way.
                503 => tokio::time::sleep(Duration::from_secs(1)).await,
                409 => {
                    let running = answer.body["error"]["details"][0]["target"].as_str();
                    self.follow(running.expect("a status URL")).await;
                }
                _ => panic!("unexpected reply: {answer:?}"),
            }
        }
        panic!("another operation is under way again and again: {body}")
    }

    /// Polls a status until it is terminal.
    pub(super) async fn follow(&self, url: &str) -> Value {
        let path = url.find("/planes/").map_or(url, |at| &url[at..]);
        let polling = async {
            loop {
                let polled = self.call("GET", path, "").await;
                assert_eq!(polled.status, 200, "{}", polled.text);
                if matches!(
                    polled.body["status"].as_str(),
                    Some("Succeeded" | "Failed" | "Canceled")
                ) {
                    return polled.body;
                }
                tokio::time::sleep(AGAIN).await;
            }
        };
        tokio::time::timeout(PATIENCE, polling)
            .await
            .expect("the operation ends")
    }

    /// The live resources of this client's account, seen by the simulated AWS at `aws`.
    pub(super) async fn live(&self, aws: &str) -> Vec<Value> {
        self.of_account(&format!("{aws}/_simulator/resources"))
            .await
    }

    /// The calls of this client's account to the simulated AWS at `aws`, besides those that ask whose account it is.
    pub(super) async fn calls(&self, aws: &str) -> Vec<Value> {
        let mut calls = self.of_account(&format!("{aws}/_simulator/log")).await;
        calls.retain(|call| call["operation"] != "GetCallerIdentity");
        calls
    }

    async fn of_account(&self, url: &str) -> Vec<Value> {
        let all = self.call("GET", url, "").await.body;
        let all = all.as_array().cloned().unwrap_or_default();
        all.into_iter()
            .filter(|entry| entry["account"] == self.account.as_str())
            .collect()
    }
}

/// Polls until there is a result.
pub(super) async fn eventually<T>(mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let looking = async {
        loop {
            if let Some(seen) = look().await {
                return seen;
            }
            tokio::time::sleep(AGAIN).await;
        }
    };
    tokio::time::timeout(PATIENCE, looking)
        .await
        .expect("it never came about")
}
