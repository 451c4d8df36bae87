use std::sync::Arc;

use axum::Json;
use axum::extract::State;

use crate::Api;
use crate::context::RequestContext;
use crate::problem::Problem;
use crate::routes::ApiVersion;
use crate::wire::{List, PlaneBody};

/// Lists all planes.
#[utoipa::path(get, path = "/planes", tag = "Planes",
    params(("api-version" = String, Query, example = "2023-10-01-preview")),
    responses((status = 200, body = List<PlaneBody>), (status = 400, body = crate::wire::ErrorResponse)))]
pub(crate) async fn list_planes(
    State(api): State<Arc<Api>>,
    _: ApiVersion,
    context: RequestContext,
) -> Result<Json<List<PlaneBody>>, Problem> {
    let planes = api
        .app
        .list_planes()
        .await
        .map_err(|rejection| Problem::of(rejection, &context))?;
    Ok(Json(planes.into_iter().map(PlaneBody::from).collect()))
}
