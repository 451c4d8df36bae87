//! How good the plans of the puts of a type were.

use std::sync::Arc;

use axum::extract::State;
use ucp_model::{TrackRecord, TypeName};
use ucp_wire::ErrorResponse;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::context::RequestContext;
use crate::path::{AwsPlanePath, PredictionPath};
use crate::problem::Problem;
use crate::query::Page;
use crate::replies::Json;
use crate::router::router;
use crate::state::Api;
use crate::wire::{List, PredictionBody, PredictionList};

/// Registers the handlers.
pub(crate) fn routes() -> OpenApiRouter<Arc<Api>> {
    router()
        .routes(routes!(list_predictions))
        .routes(routes!(get_prediction))
}

/// Lists how good the plans of the puts were, by type.
///
/// After a put that has sent something, what was planned is compared with what AWS shows. A type without such a put is
/// missing.
#[utoipa::path(get, tag = "Predictions", path = "/planes/aws/{plane}/providers/System.AWS/predictions",
    params(AwsPlanePath, Page),
    responses((status = 200, body = PredictionList)))]
async fn list_predictions(
    State(api): State<Arc<Api>>,
    path: AwsPlanePath,
    page: Page,
    context: RequestContext,
) -> Result<Json<PredictionList>, Problem> {
    let (plane, after) = (path.id()?, page.after::<TypeName>()?);
    let records = api
        .app
        .plans
        .list_track_records(&plane, after.as_ref(), page.top);
    let records = records.await?;
    let place = |record: &TrackRecord| record.type_name.clone();
    Ok(Json(List {
        next_link: page.next(&records, place, &context),
        ..List::of(records.items)
    }))
}

/// Returns how good the plans of the puts of a type were.
///
/// 404 if no put of the type has sent anything yet that could be read afterwards.
#[utoipa::path(get, tag = "Predictions", path = "/planes/aws/{plane}/providers/System.AWS/predictions/{type}",
    params(PredictionPath),
    responses((status = 200, body = PredictionBody), (status = 404, body = ErrorResponse)))]
async fn get_prediction(
    State(api): State<Arc<Api>>,
    path: PredictionPath,
) -> Result<Json<PredictionBody>, Problem> {
    let (plane, type_name) = (path.plane()?, path.type_name()?);
    let record = api.app.plans.get_track_record(&plane, &type_name).await?;
    Ok(Json(record.into()))
}
