//! What a platform may order.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::{CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::broker::Broker;
use crate::platforms::PlatformAccount;
use crate::problem::Problem;

/// The catalog of a platform. It is written once.
pub(crate) struct Catalog {
    body: Bytes,
    etag: HeaderValue,
}

impl Catalog {
    pub(crate) fn of(catalog: &Value) -> Self {
        let body = Bytes::from(catalog.to_string());
        let mut etag = String::from("\"");
        for byte in &Sha256::digest(&body)[..16] {
            // A text takes whatever is written to it.
            let _ = write!(etag, "{byte:02x}");
        }
        etag.push('"');
        let etag = HeaderValue::from_str(&etag).unwrap_or(HeaderValue::from_static("\"0\""));
        Self { body, etag }
    }

    /// Returns whether a header `If-None-Match` names it. Weak comparison, as RFC 9110 has it.
    fn is_named_by(&self, headers: &HeaderMap) -> bool {
        let given = headers.get_all(IF_NONE_MATCH).iter();
        let given = given.filter_map(|value| value.to_str().ok());
        let mut given = given.flat_map(|value| value.split(',')).map(str::trim);
        given.any(|tag| {
            tag == "*" || tag.strip_prefix("W/").unwrap_or(tag).as_bytes() == self.etag.as_bytes()
        })
    }
}

pub(crate) async fn get(
    State(broker): State<Arc<Broker>>,
    Extension(account): Extension<Arc<PlatformAccount>>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let catalog = broker.catalog(&account.platform);
    let catalog = catalog.ok_or_else(Problem::internal)?;
    let etag = [(ETAG, catalog.etag.clone())];
    if catalog.is_named_by(&headers) {
        return Ok((StatusCode::NOT_MODIFIED, etag).into_response());
    }
    let json = [(CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    Ok((etag, json, catalog.body.clone()).into_response())
}
