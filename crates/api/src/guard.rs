//! Refuses requests from web pages of other sites, and to hosts that are not allowed.

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::Response;
use ucp_listen::{AllowedHosts, Stranger, of_no_host};
use ucp_model::{ErrorCode, Failure};

use crate::problem::Problem;

pub(crate) async fn refuse_strangers(
    State(allowed): State<AllowedHosts>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    match allowed.objection(request.headers()) {
        Some(stranger) => Err(refused(stranger)),
        None => Ok(next.run(request).await),
    }
}

/// Refuses requests that do not say to which host they go. Probes are for everybody else.
pub(crate) async fn refuse_no_host(request: Request, next: Next) -> Result<Response, Problem> {
    match of_no_host(request.headers()) {
        Some(stranger) => Err(refused(stranger)),
        None => Ok(next.run(request).await),
    }
}

fn refused(stranger: Stranger) -> Problem {
    let (status, code) = match stranger {
        Stranger::NoHost => (StatusCode::BAD_REQUEST, ErrorCode::BadRequest),
        Stranger::OtherHost | Stranger::OtherSite | Stranger::OtherOrigin => {
            (StatusCode::FORBIDDEN, ErrorCode::AuthorizationFailed)
        }
    };
    Problem::new(status, Failure::new(code, stranger.message()))
}
