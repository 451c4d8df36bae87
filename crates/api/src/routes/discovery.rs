//! The discovery routes that Kubernetes and the `rad` command line expect of an aggregated API server. `ucp` serves
//! them when it has a path base.

use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use serde_json::{Value, json};

use crate::path_base::PathBase;
use crate::replies::Json;
use crate::state::Api;

/// The discovery routes; none without a path base. `/openapi/v2` and `/openapi/v3` are served at the root.
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

/// Announces the API to Kubernetes, without resources.
async fn list_api_resources() -> Json<Value> {
    Json(json!({
        "kind": "APIResourceList",
        "apiVersion": "v1alpha3",
        "groupVersion": "api.ucp.dev/v1alpha3",
        "resources": [],
    }))
}

/// An empty document: Kubernetes has nothing to merge into its own.
async fn get_openapi_v2() -> Json<Value> {
    let info = json!({"title": "ucp", "version": env!("CARGO_PKG_VERSION")});
    Json(json!({"swagger": "2.0", "info": info, "paths": {}}))
}

/// An empty index of documents.
async fn get_openapi_v3() -> Json<Value> {
    Json(json!({"paths": {}}))
}
