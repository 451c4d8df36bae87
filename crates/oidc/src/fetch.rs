//! Reads documents of an issuer over HTTP, with bounds.

use std::path::Path;

use async_trait::async_trait;
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::body::Bytes;
use hyper::header::{ACCEPT, USER_AGENT};
use hyper::{Request, StatusCode, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use ucp_https::Connector;

use crate::settings::Unusable;

/// The most bytes of a document.
const DOCUMENT_BYTES: usize = 512 * 1024;

/// Where documents come from.
#[async_trait]
pub(crate) trait Source: Send + Sync {
    /// Reads a document.
    async fn read(&self, url: Uri) -> Result<Bytes, Unread>;
}

/// Why a document could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unread {
    #[error("{0} is not a URL")]
    NoUrl(String, #[source] hyper::http::Error),
    #[error("{0} cannot be reached")]
    Unreachable(Uri, #[source] hyper_util::client::legacy::Error),
    #[error("{0} answers {1}")]
    Status(Uri, StatusCode),
    #[error("the answer of {0} breaks off, or is longer than {DOCUMENT_BYTES} bytes")]
    Body(Uri, #[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Documents by HTTP. Redirections are not followed: who is asked is who is trusted.
pub(crate) struct Web {
    client: Client<Connector, Empty<Bytes>>,
}

impl Web {
    /// Trusts the authorities in a file, or else those of the machine.
    pub(crate) fn trusting(ca: Option<&Path>) -> Result<Self, Unusable> {
        // Minutes go by until the next document is read.
        let client = Client::builder(TokioExecutor::new())
            .pool_max_idle_per_host(0)
            .build(ucp_https::connector(ca)?);
        Ok(Self { client })
    }
}

#[async_trait]
impl Source for Web {
    async fn read(&self, url: Uri) -> Result<Bytes, Unread> {
        let request = Request::get(&url)
            .header(ACCEPT, "application/json")
            .header(USER_AGENT, "ucp")
            .body(Empty::new())
            .map_err(|error| Unread::NoUrl(url.to_string(), error))?;
        let response = self.client.request(request).await;
        let response = response.map_err(|error| Unread::Unreachable(url.clone(), error))?;
        if response.status() != StatusCode::OK {
            return Err(Unread::Status(url, response.status()));
        }
        let body = Limited::new(response.into_body(), DOCUMENT_BYTES).collect();
        let body = body.await.map_err(|error| Unread::Body(url, error))?;
        Ok(body.to_bytes())
    }
}
