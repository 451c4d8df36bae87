//! The time in which a request must be answered.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use ucp_model::{ErrorCode, Failure};

use crate::audited::Asked;
use crate::problem::Problem;
use crate::state::Api;

/// Gives a request up that is not answered in time. If it changes something, it goes on, as if the client had disconnected.
pub(crate) async fn impose(State(api): State<Arc<Api>>, request: Request, next: Next) -> Response {
    let asked = request.extensions().get::<Arc<Asked>>().cloned();
    let deadline = api.settings.deadline();
    if let Ok(response) = tokio::time::timeout(deadline, next.run(request)).await {
        return response;
    }
    let status = StatusCode::SERVICE_UNAVAILABLE;
    let message = format!(
        "The request was not answered within {} seconds. What it has started goes on. Read what it concerns before \
         you send it again, or ask for less at once.",
        deadline.as_secs()
    );
    if let Some(asked) = asked {
        asked.given_up(status, ErrorCode::ServiceUnavailable).await;
    }
    let failure = Failure::new(ErrorCode::ServiceUnavailable, message);
    Problem::new(status, failure).into_response()
}
