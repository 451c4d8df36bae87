use std::sync::Arc;

use axum::extract::State;
use ucp_model::{PlanId, ReviewVerdict, excerpt};
use ucp_wire::ErrorResponse;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::context::RequestContext;
use crate::json::JsonObject;
use crate::path::PlanPath;
use crate::problem::Problem;
use crate::replies::Json;
use crate::router::router;
use crate::state::Api;
use crate::wire::{PlanBody, PlanReviewRequest};

/// Registers the handlers.
pub(crate) fn routes() -> OpenApiRouter<Arc<Api>> {
    router()
        .routes(routes!(get_plan))
        .routes(routes!(approve_plan))
        .routes(routes!(reject_plan))
}

/// Returns a plan, with what its what-if has shown.
///
/// Also when it is over, for the retention of operations. Plans about no resource group are on the plane `local`.
#[utoipa::path(get, tag = "Plans",
    path = "/planes/radius/{plane}/providers/System.Resources/plans/{plan}",
    params(PlanPath),
    responses((status = 200, body = PlanBody), (status = 404, body = ErrorResponse)))]
async fn get_plan(
    State(api): State<Arc<Api>>,
    path: PlanPath,
    context: RequestContext,
) -> Result<Json<PlanBody>, Problem> {
    let id = plan_id(&path)?;
    let plan = api
        .app
        .plans
        .get_plan(&path.plane, id, &context.caller)
        .await?;
    Ok(Json(PlanBody::at(api.app.time(), plan)))
}

/// Approves a plan.
///
/// `fingerprint` is that of the plan that was seen. Approving it again changes nothing.
#[utoipa::path(post, tag = "Plans",
    path = "/planes/radius/{plane}/providers/System.Resources/plans/{plan}/:approve",
    params(PlanPath),
    request_body = PlanReviewRequest,
    responses((status = 200, body = PlanBody), (status = 404, body = ErrorResponse),
        (status = 409, description = "It was rejected, or is over", body = ErrorResponse),
        (status = 412, description = "It has another fingerprint", body = ErrorResponse)))]
async fn approve_plan(
    State(api): State<Arc<Api>>,
    path: PlanPath,
    context: RequestContext,
    body: JsonObject,
) -> Result<Json<PlanBody>, Problem> {
    review(&api, &path, ReviewVerdict::Approve, &context, body).await
}

/// Rejects a plan, which then cannot be used.
///
/// `fingerprint` is that of the plan that was seen. Rejecting it again changes nothing.
#[utoipa::path(post, tag = "Plans",
    path = "/planes/radius/{plane}/providers/System.Resources/plans/{plan}/:reject",
    params(PlanPath),
    request_body = PlanReviewRequest,
    responses((status = 200, body = PlanBody), (status = 404, body = ErrorResponse),
        (status = 409, description = "It is over", body = ErrorResponse),
        (status = 412, description = "It has another fingerprint", body = ErrorResponse)))]
async fn reject_plan(
    State(api): State<Arc<Api>>,
    path: PlanPath,
    context: RequestContext,
    body: JsonObject,
) -> Result<Json<PlanBody>, Problem> {
    review(&api, &path, ReviewVerdict::Reject, &context, body).await
}

async fn review(
    api: &Api,
    path: &PlanPath,
    verdict: ReviewVerdict,
    context: &RequestContext,
    body: JsonObject,
) -> Result<Json<PlanBody>, Problem> {
    let id = plan_id(path)?;
    let request = body.read_without_plan::<PlanReviewRequest>().await?;
    if let Some(objection) = request.objection() {
        return Err(Problem::bad_request(objection));
    }
    let review = request.review(verdict);
    let reviewed = api
        .app
        .plans
        .review_plan(&path.plane, id, review, &context.caller);
    Ok(Json(PlanBody::at(api.app.time(), reviewed.await?)))
}

fn plan_id(path: &PlanPath) -> Result<PlanId, Problem> {
    path.plan.parse().map_err(|_| {
        Problem::not_found(format!(
            "There is no plan '{}'. Their names are UUIDs.",
            excerpt(&path.plan)
        ))
    })
}
