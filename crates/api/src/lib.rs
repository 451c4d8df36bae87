//! ARM over HTTP: routes, wire types, the OpenAPI document, and the one place where an error becomes a status.
//!
//! Start at [`router`]. A request is given its ids, checked for strangers, rewritten to its canonical path, and only
//! then matched; a handler makes one call of `ucp-app`.

mod context;
mod document;
mod error_code;
mod guard;
mod json;
mod origin;
mod path;
mod path_base;
mod precondition;
mod problem;
mod query;
mod routes;
mod validation;
mod wire;

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use tower_http::catch_panic::CatchPanicLayer;
use ucp_app::App;
use ucp_model::Failure;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use utoipa_swagger_ui::SwaggerUi;

pub use guard::AllowedHosts;
pub use path_base::{InvalidPathBase, PathBase};

use crate::document::{Document, add_common_refusals, describe_conventions, served_under};
use crate::path::CanonicalPath;
use crate::problem::Problem;
use crate::routes::{
    aws_resources, credentials, discovery, error_pages, health, named_resources, operations,
    planes, references, resource_groups,
};

/// How the API answers.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How long a request waits for the verdict.
    pub verdict_wait: Duration,
    /// How long a request waits until a group is deleted.
    pub group_delete_wait: Duration,
    /// `Retry-After` of running operations.
    pub retry_after: Duration,
    /// Which hosts are ours.
    pub allowed_hosts: AllowedHosts,
    /// Under which path planes are served.
    pub path_base: PathBase,
}

/// What handlers share.
struct Api {
    app: App,
    settings: Settings,
}

/// The whole API as a service.
pub fn router(app: App, settings: Settings) -> Router {
    let base = settings.path_base.clone();
    let api = Arc::new(Api { app, settings });
    let (described, _) = described_routes().split_for_parts();
    let docs = SwaggerUi::new("/docs").url("/openapi.json", served_under(&base, openapi()));
    let guarded = described
        .merge(Router::from(docs).without_v07_checks())
        .merge(discovery::routes(&base))
        .fallback(no_such_route)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(from_fn_with_state(
            Arc::clone(&api),
            guard::refuse_strangers,
        ));
    let (probes, _) = probe_routes().split_for_parts();
    let routed = probes
        .method_not_allowed_fallback(method_not_allowed)
        .merge(guarded)
        .layer(from_fn(problem::explain))
        .with_state(Arc::clone(&api));
    Router::new()
        .fallback_service(CanonicalPath {
            inner: routed,
            base,
        })
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn_with_state(api, context::identify))
}

/// The OpenAPI document, generated from the routes.
pub fn openapi() -> utoipa::openapi::OpenApi {
    let mut described = described_routes();
    add_common_refusals(described.get_openapi_mut());
    let mut document = described.merge(probe_routes()).into_openapi();
    describe_conventions(&mut document);
    document
}

/// The OpenAPI document as `api/openapi.json` holds it.
pub fn openapi_json() -> String {
    openapi().to_pretty_json().unwrap_or_default()
}

/// A router that takes literal segments such as `:put`, which axum otherwise takes for captures of its version 0.7.
fn unchecked() -> Router<Arc<Api>> {
    Router::new().without_v07_checks()
}

fn described_routes() -> OpenApiRouter<Arc<Api>> {
    let mut router = OpenApiRouter::from(unchecked());
    *router.get_openapi_mut() = Document::openapi();
    router
        .routes(routes!(error_pages::get_error_page))
        .routes(routes!(planes::list_planes))
        .routes(routes!(planes::list_planes_of_type))
        .routes(routes!(
            planes::get_plane,
            planes::put_plane,
            planes::delete_plane
        ))
        .routes(routes!(planes::list_resource_providers))
        .routes(routes!(planes::get_resource_provider))
        .routes(routes!(resource_groups::list_resource_groups))
        .routes(routes!(
            resource_groups::put_resource_group,
            resource_groups::get_resource_group,
            resource_groups::delete_resource_group
        ))
        .routes(routes!(resource_groups::list_resource_group_resources))
        .routes(routes!(resource_groups::import_resource_group_resources))
        .routes(routes!(operations::list_resource_group_operations))
        .routes(routes!(references::list_references))
        .routes(routes!(
            references::get_reference,
            references::update_reference,
            references::delete_reference
        ))
        .routes(routes!(named_resources::list_aws_resources))
        .routes(routes!(
            named_resources::get_named_aws_resource,
            named_resources::put_named_aws_resource,
            named_resources::delete_named_aws_resource
        ))
        .routes(routes!(credentials::list_credentials))
        .routes(routes!(
            credentials::get_credential,
            credentials::put_credential,
            credentials::delete_credential
        ))
        .routes(routes!(aws_resources::import_aws_resource))
        .routes(routes!(aws_resources::put_aws_resource))
        .routes(routes!(aws_resources::get_aws_resource))
        .routes(routes!(aws_resources::delete_aws_resource))
        .routes(routes!(operations::get_operation_status))
        .routes(routes!(operations::cancel_operation))
        .routes(routes!(operations::get_operation_result))
        .routes(routes!(operations::get_plane_operation_status))
        .routes(routes!(operations::cancel_plane_operation))
        .routes(routes!(operations::get_plane_operation_result))
}

/// What an orchestrator asks, whatever Host it does so by.
fn probe_routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::from(unchecked())
        .routes(routes!(health::get_health))
        .routes(routes!(health::get_readiness))
}

async fn no_such_route(uri: Uri) -> Problem {
    let shown: String = uri.path().chars().take(200).collect();
    let message = format!(
        "Nothing is served at {shown}. The routes are described at /docs and /openapi.json."
    );
    Problem::new(StatusCode::NOT_FOUND, Failure::new("NotFound", message))
}

async fn method_not_allowed(method: Method, uri: Uri) -> Problem {
    let shown: String = uri.path().chars().take(200).collect();
    let message = format!("{method} is not served at {shown}.");
    Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        Failure::new("BadRequest", message),
    )
}

/// A defect must not look like a dropped connection.
fn panicked(_: Box<dyn Any + Send>) -> Response {
    tracing::error!("a request handler panicked");
    Problem::internal().into_response()
}
