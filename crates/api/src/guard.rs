//! Refuses requests from web pages of other sites, and to hosts that are not allowed.

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::Response;
use ucp_listen::{AllowedHosts, Stranger};
use ucp_model::{ErrorCode, Failure};

use crate::problem::Problem;

pub(crate) async fn refuse_strangers(
    State(allowed): State<AllowedHosts>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    match allowed.objection(request.headers()) {
        Some(stranger @ Stranger::NoHost) => Err(Problem::new(
            StatusCode::BAD_REQUEST,
            Failure::new(ErrorCode::BadRequest, stranger.message()),
        )),
        Some(stranger) => Err(Problem::new(
            StatusCode::FORBIDDEN,
            Failure::new(ErrorCode::AuthorizationFailed, stranger.message()),
        )),
        None => Ok(next.run(request).await),
    }
}
