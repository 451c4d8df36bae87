//! The Open Service Broker API, version 2.17.
//!
//! Start at [`router`]. A request gets its id, its platform signs in, its version and headers are judged, and what came of it
//! is recorded. A handler makes one call to `ucp-app`; a `Problem` is the one place where a refusal becomes a
//! status.

mod answered;
mod bodies;
mod broker;
mod catalog;
mod headers;
mod lately;
mod limits;
mod platforms;
mod problem;
mod rated;
mod routes;
mod signing_in;

use std::any::Any;
use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, put};
use tower_http::catch_panic::CatchPanicLayer;

pub use broker::{Parts, Settings};
pub use limits::LIMITS;
pub use platforms::{PlatformAccount, Platforms};

use crate::broker::Broker;
use crate::limits::BODY_MAX_BYTES;
use crate::problem::Problem;

/// Returns the routes of the broker, below `/v2`.
pub fn router(parts: Parts, settings: Settings) -> Router {
    let broker = Arc::new(Broker::new(parts, settings));
    const INSTANCE: &str = "/v2/service_instances/{instance}";
    const BINDING: &str = "/v2/service_instances/{instance}/service_bindings/{binding}";
    Router::new()
        .route("/v2/catalog", get(routes::catalog::get))
        .route(
            INSTANCE,
            put(routes::instances::put)
                .get(routes::instances::get)
                .patch(routes::instances::patch)
                .delete(routes::instances::delete),
        )
        .route(
            &format!("{INSTANCE}/last_operation"),
            get(routes::instances::last_operation),
        )
        .route(
            BINDING,
            put(routes::bindings::put)
                .get(routes::bindings::get)
                .delete(routes::bindings::delete),
        )
        .route(
            &format!("{BINDING}/last_operation"),
            get(routes::bindings::last_operation),
        )
        .fallback(no_such_route)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(DefaultBodyLimit::max(BODY_MAX_BYTES))
        .layer(from_fn_with_state(Arc::clone(&broker), rated::count))
        .layer(from_fn(headers::judged))
        .layer(from_fn_with_state(
            Arc::clone(&broker),
            signing_in::signed_in,
        ))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn_with_state(Arc::clone(&broker), answered::answered))
        .with_state(broker)
}

async fn no_such_route() -> Problem {
    let description =
        "Nothing is served here. The API is that of Open Service Broker 2.17, below /v2.";
    Problem::new(StatusCode::NOT_FOUND, "NotFound", description)
}

async fn method_not_allowed() -> Problem {
    let description = "This method is not served here.";
    Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "MethodNotAllowed",
        description,
    )
}

/// Replies with an internal error, so that a panic does not look like a dropped connection.
fn panicked(_: Box<dyn Any + Send>) -> Response {
    tracing::error!("a request handler panicked");
    Problem::internal().into_response()
}
