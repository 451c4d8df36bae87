//! Refuses changes beyond the rate, and keeps what the others work with.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use ucp_cpu_pool::asked_by;
use ucp_rates::{Counted, seconds};

use crate::answered::is_write;
use crate::broker::Broker;
use crate::platforms::PlatformAccount;
use crate::problem::Problem;

/// Refuses changes of a platform in its account and region beyond the rate. It reads nothing from AWS.
pub(crate) async fn count(
    State(broker): State<Arc<Broker>>,
    Extension(account): Extension<Arc<PlatformAccount>>,
    mut request: Request,
    next: Next,
) -> Response {
    let platform = &account.platform;
    let caller: Arc<str> = platform.caller().into();
    let is_write = is_write(request.method());
    // What it takes is given back before the reply is sent, which is small.
    let room = broker.parts.work.room(&caller);
    request.extensions_mut().insert(room.clone());
    let _until_it_is_done = room;
    let next = asked_by(caller, next.run(request));
    if !is_write {
        return next.await;
    }
    let scope = platform.scope.to_string();
    match broker
        .parts
        .limits
        .count(Counted::Write, &platform.caller(), &scope)
    {
        Ok(()) => next.await,
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
            problem.after(seconds).into_response()
        }
    }
}
