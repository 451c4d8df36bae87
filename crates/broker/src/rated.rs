//! Refuses changes beyond the rate.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use ucp_rates::{Counted, seconds};

use crate::answered::is_write;
use crate::broker::Broker;
use crate::platforms::PlatformAccount;
use crate::problem::Problem;

/// Refuses changes of a platform in its account and region beyond the rate. It reads nothing from AWS.
pub(crate) async fn kept(
    State(broker): State<Arc<Broker>>,
    Extension(account): Extension<Arc<PlatformAccount>>,
    request: Request,
    next: Next,
) -> Response {
    if !is_write(request.method()) {
        return next.run(request).await;
    }
    let platform = &account.platform;
    let scope = platform.scope.to_string();
    match broker
        .parts
        .limits
        .count(Counted::Write, &platform.caller(), &scope)
    {
        Ok(()) => next.run(request).await,
        Err(wait) => {
            let seconds = seconds(wait);
            let description = format!(
                "The platform '{}' sends too many changes. Nothing was done. Try again in {seconds} s.",
                platform.name
            );
            let problem = Problem::new(
                StatusCode::TOO_MANY_REQUESTS,
                "TooManyRequests",
                description,
            );
            ([(RETRY_AFTER, seconds.to_string())], problem).into_response()
        }
    }
}
