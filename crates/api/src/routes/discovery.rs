//! What Kubernetes and the `rad` command line ask an aggregated API server, which is what `ucp` is when it has a path base.

use std::sync::Arc;

use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::path_base::PathBase;
use crate::state::Api;

/// None without a path base. `/openapi/v2` and `/openapi/v3` are asked for at the root.
pub(crate) fn routes(base: &PathBase) -> Router<Arc<Api>> {
    let router = Router::new().without_v07_checks();
    if base.is_empty() {
        return router;
    }
    router
        .route(base.as_str(), get(list_api_resources))
        .route("/openapi/v2", get(get_openapi_v2))
        .route("/openapi/v3", get(get_openapi_v3))
}

/// That the API is there; to Kubernetes it has no resources.
async fn list_api_resources() -> Json<Value> {
    Json(json!({
        "kind": "APIResourceList",
        "apiVersion": "v1alpha3",
        "groupVersion": "api.ucp.dev/v1alpha3",
        "resources": [],
    }))
}

/// Nothing that Kubernetes should add to its own document.
async fn get_openapi_v2() -> Json<Value> {
    let info = json!({"title": "ucp", "version": env!("CARGO_PKG_VERSION")});
    Json(json!({"swagger": "2.0", "info": info, "paths": {}}))
}

/// The same in the form of an index of documents.
async fn get_openapi_v3() -> Json<Value> {
    Json(json!({"paths": {}}))
}
