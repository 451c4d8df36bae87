use std::sync::Arc;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use ucp_metrics::Stored;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::router::router;
use crate::state::Api;

/// Registers the handlers.
pub(crate) fn routes() -> OpenApiRouter<Arc<Api>> {
    router().routes(routes!(get_metrics))
}

/// Returns the metrics of this process.
///
/// In the text format of OpenMetrics, for Prometheus. The gauges of the store, which all processes share, are counted at
/// most once in ten seconds, and up to 10,000. If the store does not answer, they keep their values.
#[utoipa::path(get, path = "/metrics", tag = "Health",
    responses((status = 200, body = String, content_type = "application/openmetrics-text")))]
async fn get_metrics(State(api): State<Arc<Api>>) -> impl IntoResponse {
    let app = Arc::clone(&api.app);
    let inventory = api.runtime.spawn(async move { app.inventory().await });
    let inventory = inventory.await.ok().and_then(Result::ok);
    let stored = inventory.map(|inventory| Stored {
        operations_live: inventory.operations_live,
        leftovers: inventory.leftovers,
    });
    api.metrics.audit_lines_lost(api.auditor.lost_lines());
    let text = api.metrics.text(stored);
    ([(CONTENT_TYPE, ucp_metrics::CONTENT_TYPE)], text)
}
