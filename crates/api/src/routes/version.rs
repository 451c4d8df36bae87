use std::sync::Arc;

use axum::extract::State;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::replies::Json;
use crate::router::router;
use crate::state::{Api, Version};

/// Registers the handlers.
pub(crate) fn routes() -> OpenApiRouter<Arc<Api>> {
    router().routes(routes!(get_version))
}

/// Returns the version of the server.
///
/// The commit is `unknown` if the server was built without git.
#[utoipa::path(get, path = "/version", tag = "Health", responses((status = 200, body = Version)))]
async fn get_version(State(api): State<Arc<Api>>) -> Json<Version> {
    Json(api.settings.version.clone())
}
