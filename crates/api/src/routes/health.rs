use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::Api;

/// How the process is.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Health {
    /// `ok` or `unavailable`.
    status: &'static str,
}

/// Whether the process lives.
#[utoipa::path(get, path = "/healthz", tag = "Health", responses((status = 200, body = Health)))]
pub(crate) async fn get_health() -> Json<Health> {
    Json(Health { status: "ok" })
}

/// Whether it can serve: the store answers.
#[utoipa::path(get, path = "/readyz", tag = "Health",
    responses((status = 200, body = Health), (status = 503, body = Health)))]
pub(crate) async fn get_readiness(State(api): State<Arc<Api>>) -> Response {
    match api.app.is_ready().await {
        Ok(()) => Json(Health { status: "ok" }).into_response(),
        Err(rejection) => {
            tracing::warn!(error = %ucp_model::chain(&rejection), "not ready");
            (
                StatusCode::SERVICE_UNAVAILABLE,
                Json(Health {
                    status: "unavailable",
                }),
            )
                .into_response()
        }
    }
}
