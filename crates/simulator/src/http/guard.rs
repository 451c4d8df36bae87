//! Who may use the simulator. Pages of other sites may not, as with the API of `ucp`. A page can send some media types
//! without asking the server first, so a body of the control API must be JSON.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use ucp_listen::AllowedHosts;

pub(super) async fn judge_host(
    State(allowed): State<AllowedHosts>,
    request: Request,
    next: Next,
) -> Response {
    match allowed.objection(request.headers()) {
        Some(stranger) => refuse(StatusCode::FORBIDDEN, stranger.message()),
        None => next.run(request).await,
    }
}

pub(super) async fn judge_body(request: Request, next: Next) -> Response {
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
