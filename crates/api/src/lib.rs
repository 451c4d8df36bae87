//! ARM over HTTP: routes, wire types, the OpenAPI document, and the one place where an error becomes a status.
//!
//! Start at [`routers`]. A request gets its ids, its path is rewritten to the canonical form, its caller is identified,
//! the route is matched, and foreign hosts and origins are refused, and so is what the caller may not do (`rights`). A
//! handler makes one call to `ucp-app`.

mod action;
mod audit_notes;
mod audit_query;
mod audited;
mod authentication;
mod canonical_path;
mod changed_paths;
mod context;
mod deadline;
mod described;
mod detached;
mod document;
mod doorkeeper;
mod error_code;
mod examples;
mod existence;
mod explained;
mod guard;
mod json;
mod large_bodies;
mod limits;
mod logged;
mod measured;
mod members;
mod origin;
mod path;
mod path_base;
mod polling_paths;
mod precondition;
mod problem;
mod query;
mod rated;
mod replies;
mod rights;
mod router;
mod routes;
mod security_headers;
mod segments;
mod state;
mod unserved;
mod validation;
mod weighed;
mod wire;

use std::any::Any;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{any_service, get};
use tokio::runtime::Handle;
use tower_http::catch_panic::CatchPanicLayer;
use ucp_app::{App, InFlight};
use ucp_audit::Auditor;
use ucp_authentication::Authenticator;
pub use ucp_listen::AllowedHosts;
use ucp_listen::Witness;
use ucp_metrics::Metrics;
use ucp_rates::Limits;
use utoipa_swagger_ui::{Config, SwaggerUi};

pub use error_code::status_of;
pub use limits::LIMITS;
pub use path_base::{InvalidPathBase, PathBase};
pub use state::{Settings, Version};
pub use ucp_rates::Rates;

use crate::doorkeeper::Doorkeeper;
use crate::problem::Problem;
use crate::state::Api;
use crate::unserved::{method_not_allowed, no_such_route};

/// Where the OpenAPI document is served.
const DOCUMENT: &str = "/openapi.json";

/// The routers of a process.
pub struct Routers {
    /// The whole API, with the health probes.
    pub api: Router,
    /// Only the health probes and the metrics, for everybody who reaches a listener of their own.
    pub probes: Router,
    /// Is told of what is refused before a router has it.
    pub witness: Arc<dyn Witness>,
}

/// Builds the routers.
pub fn routers(
    app: Arc<App>,
    auditor: Auditor,
    authenticator: Authenticator,
    metrics: Metrics,
    settings: Settings,
    work: Arc<InFlight>,
) -> Routers {
    let base = settings.path_base.clone();
    let allowed_hosts = settings.allowed_hosts.clone();
    let limits = Limits::new(settings.rates, &app.clock());
    let api = Arc::new(Api {
        app,
        auditor,
        authenticator,
        limits,
        metrics,
        settings,
        runtime: Handle::current(),
        bodies: InFlight::bodies(),
        work,
        large_bodies: large_bodies::LargeBodies::new(),
    });
    let described = described::api()
        .route_layer(from_fn(query::without_plan))
        .route_layer(from_fn_with_state(Arc::clone(&api), weighed::weigh))
        .route_layer(from_fn_with_state(Arc::clone(&api), rated::count));
    let docs = SwaggerUi::new("/docs").config(Config::from(DOCUMENT));
    let guarded = described
        .merge(
            Router::from(docs)
                .without_v07_checks()
                .layer(from_fn(said_if_missing)),
        )
        .merge(described::document_route(DOCUMENT, &base))
        .merge(routes::discovery::routes(&base))
        .merge(routes::guides::routes())
        // Relative, so that it also holds behind a proxy that serves this server under a path.
        .route("/", get(|| async { Redirect::temporary("docs/") }))
        .fallback(no_such_route)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(from_fn_with_state(Arc::clone(&api), rights::judged))
        .layer(from_fn_with_state(allowed_hosts, guard::refuse_strangers));
    let probes = described::probes()
        .method_not_allowed_fallback(method_not_allowed)
        .layer(from_fn(guard::refuse_no_host));
    let (metrics, _) = routes::metrics::routes().split_for_parts();
    let metrics = metrics.layer(from_fn(guard::refuse_no_host));
    let watched = (probes.clone().merge(metrics))
        .method_not_allowed_fallback(method_not_allowed)
        .fallback(no_such_route);
    // The fewer routes are merged into the many: each one that is merged is matched anew.
    let known = served(guarded.merge(probes), &api).layer(from_fn_with_state(
        Arc::clone(&api),
        authentication::authenticate,
    ));
    Routers {
        api: answered(known, &api),
        probes: answered(served(watched, &api), &api),
        witness: Arc::new(Doorkeeper(api)),
    }
}

/// Serves routes on the rewritten path.
fn served(routes: Router<Arc<Api>>, api: &Arc<Api>) -> Router {
    let routes = routes
        .layer(from_fn_with_state(Arc::clone(api), audited::note_caller))
        .layer(from_fn(measured::matched));
    // Layers of a `Router` run after matching. As a fallback service, `routes` are matched again.
    Router::new().fallback_service(routes.with_state(Arc::clone(api)))
}

/// Adds what every request and every reply passes.
fn answered(served: Router, api: &Arc<Api>) -> Router {
    let api = Arc::clone(api);
    let answered = served
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn(audited::record_outcome))
        .layer(from_fn(detached::detach))
        .layer(from_fn_with_state(Arc::clone(&api), deadline::impose))
        .layer(from_fn_with_state(Arc::clone(&api), audited::identify))
        .layer(from_fn_with_state(Arc::clone(&api), canonical_path::answer))
        .layer(from_fn_with_state(Arc::clone(&api), measured::counted))
        .layer(from_fn_with_state(api, context::identify))
        .layer(from_fn(security_headers::added));
    // Strips the body from replies to HEAD, including errors.
    Router::new().fallback(any_service(answered))
}

/// The OpenAPI document, generated from the routes.
pub fn openapi() -> &'static utoipa::openapi::OpenApi {
    described::document()
}

/// The OpenAPI document as stored in `api/openapi.json`.
pub fn openapi_json() -> String {
    openapi().to_pretty_json().unwrap_or_default()
}

/// Gives the 404 of a file that is not there its body, and the 400 of a path that is not text its form.
async fn said_if_missing(request: Request, next: Next) -> Response {
    let uri = request.uri().clone();
    let response = next.run(request).await;
    match response.status() {
        StatusCode::NOT_FOUND => no_such_route(uri).await.into_response(),
        StatusCode::BAD_REQUEST => Problem::malformed_path().into_response(),
        _ => response,
    }
}

/// Replies with an internal error, so that a panic does not look like a dropped connection.
fn panicked(_: Box<dyn Any + Send>) -> Response {
    tracing::error!("a request handler panicked");
    Problem::internal().into_response()
}
