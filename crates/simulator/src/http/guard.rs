//! Who may use the control API. Pages of other sites may not, as with the API of `ucp`. A page can send some media types
//! without asking the server first, so a body must be JSON.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use ucp_listen::AllowedHosts;

pub(super) async fn judge(
    State(allowed): State<AllowedHosts>,
    request: Request,
    next: Next,
) -> Response {
    if let Some(stranger) = allowed.objection(request.headers()) {
        return refuse(StatusCode::FORBIDDEN, stranger.message());
    }
    let has_body = [Method::POST, Method::PATCH].contains(request.method());
    if has_body && !is_json(request.headers()) {
        let message = "The body must be JSON. Send the header Content-Type: application/json.";
        return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, message);
    }
    next.run(request).await
}

fn is_json(headers: &HeaderMap) -> bool {
    let given = headers.get(CONTENT_TYPE).map(|value| value.to_str());
    let given = given.and_then(Result::ok).unwrap_or_default();
    let media_type = given.split(';').next().unwrap_or_default();
    media_type.trim().eq_ignore_ascii_case("application/json")
}

fn refuse(status: StatusCode, message: &str) -> Response {
    (status, Json(json!({ "message": message }))).into_response()
}
