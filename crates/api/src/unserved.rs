//! The replies where nothing is served.

use axum::http::{Method, StatusCode, Uri};
use ucp_model::{ErrorCode, Failure};

use crate::path;
use crate::problem::{self, Problem};

/// Replies to a path that no route matches.
pub(crate) async fn no_such_route(uri: Uri) -> Problem {
    if let Err(unknown) = path::judge_plane_type(uri.path()) {
        return unknown;
    }
    let shown = problem::shown_path(uri.path());
    Problem::not_found(format!(
        "No route matches {shown}. The routes are described at /docs and /openapi.json."
    ))
}

/// Replies to a method that a path does not have.
pub(crate) async fn method_not_allowed(method: Method, uri: Uri) -> Problem {
    let is_plane = uri.path().split('/').count() <= 4;
    if is_plane && let Err(unknown) = path::judge_plane_type(uri.path()) {
        return unknown;
    }
    let shown = problem::shown_path(uri.path());
    let message = format!("The method {method} is not supported at {shown}.");
    Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        Failure::new(ErrorCode::BadRequest, message),
    )
}
