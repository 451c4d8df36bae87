//! Requests and replies.

use std::path::PathBuf;
use std::time::Duration;

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, USER_AGENT,
};
use hyper::{HeaderMap, Method, Request, StatusCode};
use hyper_util::client::legacy::Client as Http;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use serde_json::Value;
use ucp_https::Connector;

use crate::failure::Failure;
use crate::refusal::Refusal;
use crate::url::BaseUrl;

/// The most bytes of a reply. A page of 1,000 references takes a few megabytes.
const REPLY_BYTES: usize = 256 * 1024 * 1024;
/// How often a request is repeated that the server asks to send later.
const REPEATS_MAX: usize = 5;
/// How long a connection is idle and used again. The server waits for ten seconds for the head of a request, and others may sit
/// in front of it that wait for less.
const IDLE_MAX: Duration = Duration::from_secs(4);
/// The longest that a request waits before it is repeated.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// A client of one server.
pub struct Client {
    http: Http<Connector, Full<Bytes>>,
    base: BaseUrl,
    /// `Bearer` and the token.
    authorization: Option<HeaderValue>,
    timeout: Duration,
}

/// Who asks, whom the client trusts, and how long it waits.
#[derive(Clone, Debug)]
pub struct ClientSettings {
    /// The token by which the server knows the caller.
    pub token: Option<String>,
    /// The certificates of the authorities that may vouch for the server, in PEM. Without it, those of the machine.
    pub ca: Option<PathBuf>,
    /// How long to wait for a reply.
    pub timeout: Duration,
}

impl Default for ClientSettings {
    fn default() -> Self {
        Self {
            token: None,
            ca: None,
            timeout: Duration::from_secs(120),
        }
    }
}

/// What the server answers.
#[derive(Debug)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    headers: HeaderMap,
    /// `null` if there is none.
    pub body: Value,
}

impl Client {
    /// Returns a client of the server at `base`. Nothing is sent yet.
    pub fn new(base: BaseUrl, settings: ClientSettings) -> Result<Self, Failure> {
        let ClientSettings { token, ca, timeout } = settings;
        let authorization = token.map(|token| {
            let value = HeaderValue::try_from(format!("Bearer {token}"));
            let mut value = value.map_err(|_| Failure::NoToken)?;
            value.set_sensitive(true);
            Ok::<_, Failure>(value)
        });
        let connector = ucp_https::connector(ca.as_deref()).map_err(Failure::NoAuthorities)?;
        Ok(Self {
            http: Http::builder(TokioExecutor::new())
                .pool_timer(TokioTimer::new())
                .pool_idle_timeout(IDLE_MAX)
                .build(connector),
            base,
            authorization: authorization.transpose()?,
            timeout,
        })
    }

    /// Reads what a path or a URL names.
    pub async fn get(&self, target: &str) -> Result<Reply, Failure> {
        self.call(Method::GET, target, None).await
    }

    /// Posts a body.
    pub async fn post(&self, target: &str, body: &Value) -> Result<Reply, Failure> {
        self.call(Method::POST, target, Some(body)).await
    }

    /// Deletes.
    pub async fn delete(&self, target: &str) -> Result<Reply, Failure> {
        self.call(Method::DELETE, target, None).await
    }

    /// Sends a request, again if the server asks for it. What the server refuses is an error.
    pub async fn call(
        &self,
        method: Method,
        target: &str,
        body: Option<&Value>,
    ) -> Result<Reply, Failure> {
        self.call_if(method, target, body, None).await
    }

    /// The same with a precondition.
    pub async fn call_if(
        &self,
        method: Method,
        target: &str,
        body: Option<&Value>,
        precondition: Option<(HeaderName, HeaderValue)>,
    ) -> Result<Reply, Failure> {
        let body = Bytes::from(body.map(Value::to_string).unwrap_or_default());
        let url = self.base.of(target);
        let mut repeats = 0;
        loop {
            let mut request = Request::builder()
                .method(method.clone())
                .uri(&url)
                .header(ACCEPT, "application/json")
                .header(USER_AGENT, concat!("ucp/", env!("CARGO_PKG_VERSION")));
            if !body.is_empty() {
                request = request.header(CONTENT_TYPE, "application/json");
            }
            if let Some(authorization) = &self.authorization {
                request = request.header(AUTHORIZATION, authorization);
            }
            if let Some((name, value)) = &precondition {
                request = request.header(name, value);
            }
            let request = request.body(Full::new(body.clone()));
            let request = request.map_err(|source| Failure::NoUrl {
                url: url.clone(),
                source,
            })?;
            let reply = tokio::time::timeout(self.timeout, self.send(&url, request)).await;
            let reply = reply.map_err(|_| Failure::Late {
                base: self.base.clone(),
                timeout: self.timeout,
            })??;
            match reply.repeat_after() {
                Some(wait) if repeats < REPEATS_MAX => {
                    repeats += 1;
                    tokio::time::sleep(wait).await;
                }
                Some(_) | None => return self.judged(reply),
            }
        }
    }

    async fn send(&self, url: &str, request: Request<Full<Bytes>>) -> Result<Reply, Failure> {
        let unreachable = |source: Box<dyn std::error::Error + Send + Sync>| Failure::Unreachable {
            base: self.base.clone(),
            source,
        };
        let response = self.http.request(request).await;
        let response = response.map_err(|error| unreachable(error.into()))?;
        let (head, body) = response.into_parts();
        let body = Limited::new(body, REPLY_BYTES).collect();
        let body = body.await.map_err(unreachable)?.to_bytes();
        let body = if body.is_empty() {
            Value::Null
        } else {
            serde_json::from_slice(&body).map_err(|_| Failure::Strange {
                url: url.to_owned(),
                status: head.status,
            })?
        };
        Ok(Reply {
            status: head.status,
            headers: head.headers,
            body,
        })
    }

    fn judged(&self, reply: Reply) -> Result<Reply, Failure> {
        if reply.status.is_success() {
            Ok(reply)
        } else {
            let refusal = Refusal::of(Some(reply.status), &reply.body["error"], &self.base);
            Err(Failure::Refused(Box::new(refusal)))
        }
    }

    /// Returns what an operation has failed with, as its status tells it.
    pub fn refusal(&self, error: &Value) -> Refusal {
        Refusal::of(None, error, &self.base)
    }
}

impl Reply {
    /// Returns a header, if it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Returns how long to wait before the next request.
    pub fn retry_after(&self) -> Option<Duration> {
        let seconds = self.header(RETRY_AFTER.as_str())?.parse().ok()?;
        Some(Duration::from_secs(seconds))
    }

    /// When the request may be repeated, if the server was too busy for it.
    fn repeat_after(&self) -> Option<Duration> {
        match self.status {
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                self.retry_after().filter(|wait| *wait <= WAIT_MAX)
            }
            _ => None,
        }
    }
}
