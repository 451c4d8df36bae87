use crate::routes::unchecked;
use std::sync::Arc;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use crate::state::Api;

/// The routes of this file.
pub(crate) fn routes() -> OpenApiRouter<Arc<Api>> {
    unchecked()
        .routes(routes!(get_health))
        .routes(routes!(get_readiness))
}

/// How the process is.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Health {
    /// Whether it is well.
    status: HealthStatus,
}

/// Whether a process is well.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum HealthStatus {
    /// It is.
    Ok,
    /// What it depends on cannot be reached.
    Unavailable,
}

/// Whether the process lives.
///
/// What it depends on is not asked.
#[utoipa::path(get, path = "/healthz", tag = "Health", responses((status = 200, body = Health)))]
async fn get_health() -> Json<Health> {
    let status = HealthStatus::Ok;
    Json(Health { status })
}

/// Whether the process can serve.
///
/// It can when the store answers.
#[utoipa::path(get, path = "/readyz", tag = "Health",
    responses((status = 200, body = Health), (status = 503, body = Health)))]
async fn get_readiness(State(api): State<Arc<Api>>) -> (StatusCode, Json<Health>) {
    let (code, status) = match api.app.is_ready().await {
        Ok(()) => (StatusCode::OK, HealthStatus::Ok),
        Err(rejection) => {
            tracing::warn!(error = %ucp_model::chain(&rejection), "not ready");
            (StatusCode::SERVICE_UNAVAILABLE, HealthStatus::Unavailable)
        }
    };
    (code, Json(Health { status }))
}
