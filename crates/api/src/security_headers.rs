//! The headers that keep browsers from misusing a reply.

use axum::extract::Request;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;

/// The media types of the files of `/docs`, which are the same for everybody. No other reply has them.
const STATIC: [&str; 5] = [
    "text/javascript",
    "application/javascript",
    "text/css",
    "image/",
    "font/",
];

/// Adds the headers. Replies are not kept in caches, are only taken for what their type says, and are not shown inside
/// pages of others.
pub(crate) async fn added(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let is_static = is_static(response.headers());
    let headers = response.headers_mut();
    if !is_static {
        set(headers, CACHE_CONTROL, "no-store");
    }
    set(headers, X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(headers, CONTENT_SECURITY_POLICY, "frame-ancestors 'none'");
    response
}

fn set(headers: &mut HeaderMap, name: HeaderName, value: &'static str) {
    headers.insert(name, HeaderValue::from_static(value));
}

fn is_static(headers: &HeaderMap) -> bool {
    let media_type = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    media_type.is_some_and(|media_type| {
        STATIC
            .iter()
            .any(|known| media_type.starts_with(known.as_bytes()))
    })
}
