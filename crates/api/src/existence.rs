//! HEAD on a single resource: whether it exists.

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;

/// Replies to HEAD with 204 where GET would reply with 200. ARM's clients expect that of an existing resource.
pub(crate) async fn checked(request: Request, next: Next) -> Response {
    let is_head = request.method() == Method::HEAD;
    let mut response = next.run(request).await;
    if is_head && response.status() == StatusCode::OK {
        *response.status_mut() = StatusCode::NO_CONTENT;
        *response.body_mut() = Body::empty();
        let headers = response.headers_mut();
        headers.remove(CONTENT_LENGTH);
        headers.remove(CONTENT_TYPE);
    }
    response
}
