//! What a platform may order.

use std::fmt::Write as _;

use axum::body::Bytes;
use axum::http::header::IF_NONE_MATCH;
use axum::http::{HeaderMap, HeaderValue};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// The catalog of a platform. It is written once.
pub(crate) struct Catalog {
    pub(crate) body: Bytes,
    pub(crate) etag: HeaderValue,
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
    pub(crate) fn is_named_by(&self, headers: &HeaderMap) -> bool {
        let given = headers.get_all(IF_NONE_MATCH).iter();
        let given = given.filter_map(|value| value.to_str().ok());
        let mut given = given.flat_map(|value| value.split(',')).map(str::trim);
        given.any(|tag| {
            tag == "*" || tag.strip_prefix("W/").unwrap_or(tag).as_bytes() == self.etag.as_bytes()
        })
    }
}
