use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use ucp_model::{LeftoverId, Register};
use ucp_wire::ErrorResponse;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::context::RequestContext;
use crate::path::{AwsResourceProvidersPath, GroupPath, LeftoverPath, RegionLeftoverPath};
use crate::problem::Problem;
use crate::query::Page;
use crate::replies::Json;
use crate::router::{router, single};
use crate::state::Api;
use crate::wire::{LeftoverBody, LeftoverList, List};

/// Registers the handlers.
pub(crate) fn routes() -> OpenApiRouter<Arc<Api>> {
    router()
        .routes(routes!(list_leftovers))
        .routes(routes!(list_region_leftovers))
        .merge(single(routes!(get_leftover, delete_leftover)))
        .merge(single(routes!(get_region_leftover, delete_region_leftover)))
}

/// Lists the leftovers of a resource group.
///
/// A leftover is an AWS resource that lives because of the group, or may, although no alias stands for it. What is
/// certainly ucp's is deleted again and again until it is gone.
#[utoipa::path(get, tag = "Leftovers",
    path = "/planes/radius/{plane}/resourcegroups/{group}/leftovers",
    params(GroupPath, Page),
    responses((status = 200, body = LeftoverList), (status = 404, body = ErrorResponse)))]
async fn list_leftovers(
    State(api): State<Arc<Api>>,
    path: GroupPath,
    page: Page,
    context: RequestContext,
) -> Result<Json<LeftoverList>, Problem> {
    list(&api, Register::Group(path.id()?), page, &context).await
}

/// Lists the leftovers of an account and region.
///
/// They come from operations on resources by name, which have no resource group.
#[utoipa::path(get, tag = "Leftovers",
    path = "/planes/aws/{plane}/accounts/{account}/regions/{region}/leftovers",
    params(AwsResourceProvidersPath, Page),
    responses((status = 200, body = LeftoverList)))]
async fn list_region_leftovers(
    State(api): State<Arc<Api>>,
    path: AwsResourceProvidersPath,
    page: Page,
    context: RequestContext,
) -> Result<Json<LeftoverList>, Problem> {
    list(&api, Register::Place(path.scope()?), page, &context).await
}

/// Returns a leftover of a resource group.
///
/// AWS is not called.
#[utoipa::path(get, tag = "Leftovers",
    path = "/planes/radius/{plane}/resourcegroups/{group}/leftovers/{id}",
    params(LeftoverPath),
    responses((status = 200, body = LeftoverBody), (status = 404, body = ErrorResponse)))]
async fn get_leftover(
    State(api): State<Arc<Api>>,
    path: LeftoverPath,
) -> Result<Json<LeftoverBody>, Problem> {
    Ok(Json(api.app.groups.get_leftover(&path.id()?).await?.into()))
}

/// Returns a leftover of an account and region.
///
/// AWS is not called.
#[utoipa::path(get, tag = "Leftovers",
    path = "/planes/aws/{plane}/accounts/{account}/regions/{region}/leftovers/{id}",
    params(RegionLeftoverPath),
    responses((status = 200, body = LeftoverBody), (status = 404, body = ErrorResponse)))]
async fn get_region_leftover(
    State(api): State<Arc<Api>>,
    path: RegionLeftoverPath,
) -> Result<Json<LeftoverBody>, Problem> {
    Ok(Json(api.app.groups.get_leftover(&path.id()?).await?.into()))
}

/// Deletes a leftover of a resource group.
///
/// The entry is forgotten: the AWS resource is left alone, and ucp no longer tries to delete it. Use it once the resource is known to be gone, or
/// to be somebody else's.
#[utoipa::path(delete, tag = "Leftovers",
    path = "/planes/radius/{plane}/resourcegroups/{group}/leftovers/{id}",
    params(LeftoverPath),
    responses((status = 204, description = "The leftover is forgotten, or was not there"),
        (status = 404, body = ErrorResponse)))]
async fn delete_leftover(
    State(api): State<Arc<Api>>,
    path: LeftoverPath,
    context: RequestContext,
) -> Result<StatusCode, Problem> {
    forget(&api, &path.id()?, &context).await
}

/// Deletes a leftover of an account and region.
///
/// The entry is forgotten, and the AWS resource is left alone.
#[utoipa::path(delete, tag = "Leftovers",
    path = "/planes/aws/{plane}/accounts/{account}/regions/{region}/leftovers/{id}",
    params(RegionLeftoverPath),
    responses((status = 204, description = "The leftover is forgotten, or was not there"),
        (status = 404, body = ErrorResponse)))]
async fn delete_region_leftover(
    State(api): State<Arc<Api>>,
    path: RegionLeftoverPath,
    context: RequestContext,
) -> Result<StatusCode, Problem> {
    forget(&api, &path.id()?, &context).await
}

async fn list(
    api: &Api,
    register: Register,
    page: Page,
    context: &RequestContext,
) -> Result<Json<LeftoverList>, Problem> {
    let leftovers = api
        .app
        .groups
        .list_leftovers(&register, page.after()?, page.top);
    let leftovers = leftovers.await?;
    Ok(Json(List {
        next_link: page.next(&leftovers, |leftover| leftover.id.name, context),
        ..List::of(leftovers.items)
    }))
}

async fn forget(
    api: &Api,
    id: &LeftoverId,
    context: &RequestContext,
) -> Result<StatusCode, Problem> {
    api.app.groups.forget_leftover(id, &context.caller).await?;
    Ok(StatusCode::NO_CONTENT)
}
