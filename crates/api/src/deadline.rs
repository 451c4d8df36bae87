//! The time in which a request must be answered.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use ucp_model::{ErrorCode, Failure};

use crate::noted::CameOf;
use crate::problem::Problem;
use crate::state::Api;

/// Gives a request up that is not answered in time. What it has stored stays, as if the client had disconnected.
pub(crate) async fn kept(State(api): State<Arc<Api>>, request: Request, next: Next) -> Response {
    let deadline = api.settings.deadline();
    let answered = tokio::time::timeout(deadline, next.run(request)).await;
    answered.unwrap_or_else(|_| {
        let message = format!(
            "The request was not answered within {} seconds. What it has started goes on. Read what it concerns before \
             you send it again, or ask for less at once.",
            deadline.as_secs()
        );
        let failure = Failure::new(ErrorCode::ServiceUnavailable, message);
        let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, failure);
        let mut response = problem.into_response();
        response.extensions_mut().insert(CameOf::GivenUp);
        response
    })
}
