//! Requests and replies.

use std::time::Duration;

use anyhow::Context;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, USER_AGENT,
};
use hyper::{HeaderMap, Request, StatusCode};
use hyper_util::client::legacy::Client as Http;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use serde_json::Value;
use ucp_https::Connector;

pub(crate) use hyper::Method;

use super::refusal::Refusal;
use super::url::BaseUrl;

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
pub(crate) struct Client {
    http: Http<Connector, Full<Bytes>>,
    base: BaseUrl,
    /// `Bearer` and the token.
    authorization: Option<HeaderValue>,
    timeout: Duration,
}

/// What the server answers.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    /// `null` if there is none.
    pub(crate) body: Value,
}

/// Why there is no answer that could be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The server refuses the request.
    #[error(transparent)]
    Refused(#[from] Box<Refusal>),
    /// The server cannot be reached. Nothing is known of the request.
    #[error("cannot reach the server at {base}; does it run, and is this its --server?")]
    Unreachable {
        /// The URL of the server.
        base: BaseUrl,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// There is no reply in time.
    #[error("the server at {base} has not answered within {}; --timeout waits longer", humantime::format_duration(*.timeout))]
    Late {
        /// The URL of the server.
        base: BaseUrl,
        /// How long it had.
        timeout: Duration,
    },
    /// The reply is not one of `ucp`.
    #[error("{url} answers {status} with something that is not JSON; is this the URL of a ucp?")]
    Strange {
        /// What was asked.
        url: String,
        /// The status of the reply.
        status: StatusCode,
    },
    /// The request cannot be sent.
    #[error("{url} is not a URL")]
    NoUrl {
        /// What was to be asked.
        url: String,
        /// Why.
        #[source]
        source: hyper::http::Error,
    },
}

impl Client {
    pub(crate) fn new(
        connector: Connector,
        base: BaseUrl,
        token: Option<String>,
        timeout: Duration,
    ) -> anyhow::Result<Self> {
        let authorization = token.map(|token| {
            let value = HeaderValue::try_from(format!("Bearer {token}"));
            let mut value = value.context("the token has characters that no token has")?;
            value.set_sensitive(true);
            anyhow::Ok(value)
        });
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

    pub(crate) async fn get(&self, target: &str) -> Result<Reply, Failure> {
        self.call(Method::GET, target, None).await
    }

    pub(crate) async fn post(&self, target: &str, body: &Value) -> Result<Reply, Failure> {
        self.call(Method::POST, target, Some(body)).await
    }

    pub(crate) async fn delete(&self, target: &str) -> Result<Reply, Failure> {
        self.call(Method::DELETE, target, None).await
    }

    /// Sends a request, again if the server asks for it. What the server refuses is an error.
    pub(crate) async fn call(
        &self,
        method: Method,
        target: &str,
        body: Option<&Value>,
    ) -> Result<Reply, Failure> {
        self.call_if(method, target, body, None).await
    }

    /// The same with a precondition.
    pub(crate) async fn call_if(
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
        let body = match body.is_empty() {
            true => Value::Null,
            false => serde_json::from_slice(&body).map_err(|_| Failure::Strange {
                url: url.to_owned(),
                status: head.status,
            })?,
        };
        Ok(Reply {
            status: head.status,
            headers: head.headers,
            body,
        })
    }

    fn judged(&self, reply: Reply) -> Result<Reply, Failure> {
        match reply.status.is_success() {
            true => Ok(reply),
            false => {
                let refusal = Refusal::of(Some(reply.status), &reply.body["error"], &self.base);
                Err(Failure::Refused(Box::new(refusal)))
            }
        }
    }

    /// What an operation has failed with.
    pub(crate) fn refusal(&self, error: &Value) -> Refusal {
        Refusal::of(None, error, &self.base)
    }
}

impl Reply {
    /// The header, if it is text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// How long to wait before the next request.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
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

impl Failure {
    /// The refusal with this status.
    pub(crate) fn refusal(&self, status: StatusCode) -> Option<&Refusal> {
        match self {
            Failure::Refused(refusal) if refusal.status == Some(status) => Some(refusal),
            Failure::Refused(_)
            | Failure::Unreachable { .. }
            | Failure::Late { .. }
            | Failure::Strange { .. }
            | Failure::NoUrl { .. } => None,
        }
    }

    /// Whether the same request may have another answer soon.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Failure::Refused(refusal) => refusal
                .status
                .is_some_and(|status| status.is_server_error()),
            Failure::Unreachable { .. } | Failure::Late { .. } | Failure::Strange { .. } => true,
            Failure::NoUrl { .. } => false,
        }
    }
}
