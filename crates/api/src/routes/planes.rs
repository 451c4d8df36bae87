use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use ucp_model::{ErrorCode, Failure, Plane, PlaneKind, excerpt};
use ucp_wire::ErrorResponse;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::changed_paths::{ChangedPaths, SETTINGS_DEPTH};
use crate::context::RequestContext;
use crate::path::{PlanePath, PlaneTypePath, RadiusPlanePath, ResourceProviderPath};
use crate::precondition::{Conditions, Tagged};
use crate::problem::Problem;
use crate::query::{ApiVersion, Page};
use crate::replies::Json;
use crate::router::{router, single};
use crate::state::Api;
use crate::validation::Payload;
use crate::wire::{
    List, PlaneBody, PlaneList, PlaneSummaryList, PutPlaneRequest, ResourceProviderList,
};

/// Registers the handlers.
pub(crate) fn routes() -> OpenApiRouter<Arc<Api>> {
    router()
        .routes(routes!(list_planes))
        .routes(routes!(list_planes_of_type))
        .merge(single(routes!(get_plane, put_plane, delete_plane)))
        .routes(routes!(list_resource_providers))
        .routes(routes!(get_resource_provider))
}

/// Lists all planes.
///
/// Their settings are omitted.
#[utoipa::path(get, path = "/planes", tag = "Planes", params(ApiVersion, Page),
    responses((status = 200, body = PlaneSummaryList)))]
async fn list_planes(
    State(api): State<Arc<Api>>,
    _: ApiVersion,
    page: Page,
    context: RequestContext,
) -> Result<Json<PlaneSummaryList>, Problem> {
    Ok(Json(listed(&api, None, &page, &context).await?))
}

/// Lists the planes of a type.
///
/// Their settings are included.
#[utoipa::path(get, path = "/planes/{type}", tag = "Planes", params(PlaneTypePath, ApiVersion, Page),
    responses((status = 200, body = PlaneList)))]
async fn list_planes_of_type(
    State(api): State<Arc<Api>>,
    path: PlaneTypePath,
    _: ApiVersion,
    page: Page,
    context: RequestContext,
) -> Result<Json<PlaneList>, Problem> {
    let kind = path.kind()?;
    Ok(Json(listed(&api, Some(kind), &page, &context).await?))
}

async fn listed<T: From<Plane>>(
    api: &Api,
    kind: Option<PlaneKind>,
    page: &Page,
    context: &RequestContext,
) -> Result<List<T>, Problem> {
    let after = page.after()?;
    let caller = &context.caller;
    let planes = api
        .app
        .planes
        .list_planes(kind, after.as_ref(), page.top, caller);
    let planes = planes.await?;
    Ok(List {
        next_link: page.next(&planes, |plane| plane.id.clone(), context),
        ..List::of(planes.items)
    })
}

/// Returns a plane.
///
/// Its ETag can be sent in `If-Match`.
#[utoipa::path(get, path = "/planes/{type}/{plane}", tag = "Planes", params(PlanePath, ApiVersion),
    responses((status = 200, body = PlaneBody, headers(("ETag" = String))),
        (status = 404, body = ErrorResponse)))]
async fn get_plane(
    State(api): State<Arc<Api>>,
    path: PlanePath,
    _: ApiVersion,
) -> Result<Tagged<PlaneBody>, Problem> {
    Ok(tagged(api.app.planes.get_plane(&path.id()?).await?))
}

/// Creates a plane, or replaces its location, tags and settings.
///
/// Everything under it is kept.
#[utoipa::path(put, path = "/planes/{type}/{plane}", tag = "Planes",
    params(PlanePath, ApiVersion, Conditions),
    request_body = PutPlaneRequest,
    responses((status = 200, body = PlaneBody, headers(("ETag" = String))),
        (status = 412, body = ErrorResponse)))]
async fn put_plane(
    State(api): State<Arc<Api>>,
    path: PlanePath,
    _: ApiVersion,
    conditions: Conditions,
    payload: Payload,
) -> Result<(Extension<ChangedPaths>, Tagged<PlaneBody>), Problem> {
    let kind = path.kind()?;
    let (id, request) = payload.judge(path.name(kind), |body, violations| {
        PutPlaneRequest::read(body, kind, violations)
    })?;
    let written = api
        .app
        .planes
        .put_plane(request.put(id), &conditions.into())
        .await?;
    let (before, after) = (written.before.map(PlaneBody::from), tagged(written.after));
    Ok((
        ChangedPaths::between(before, &after.1, SETTINGS_DEPTH, []),
        after,
    ))
}

/// Deletes a plane.
///
/// Everything under it is kept. Role assignments under it give nothing until there is a plane of its name again.
#[utoipa::path(delete, path = "/planes/{type}/{plane}", tag = "Planes",
    params(PlanePath, ApiVersion, Conditions),
    responses((status = 200, description = "Deleted"), (status = 204, description = "The plane did not exist"),
        (status = 412, body = ErrorResponse)))]
async fn delete_plane(
    State(api): State<Arc<Api>>,
    path: PlanePath,
    _: ApiVersion,
    conditions: Conditions,
) -> Result<StatusCode, Problem> {
    let deleted = api
        .app
        .planes
        .delete_plane(&path.id()?, &conditions.into())
        .await?;
    Ok(if deleted {
        StatusCode::OK
    } else {
        StatusCode::NO_CONTENT
    })
}

/// Lists the resource providers of a radius plane.
///
/// The list is always empty, since AWS resources need no resource provider.
#[utoipa::path(get, path = "/planes/radius/{plane}/providers", tag = "Planes",
    params(RadiusPlanePath, ApiVersion),
    responses((status = 200, body = ResourceProviderList), (status = 404, body = ErrorResponse)))]
async fn list_resource_providers(
    State(api): State<Arc<Api>>,
    path: RadiusPlanePath,
    _: ApiVersion,
) -> Result<Json<ResourceProviderList>, Problem> {
    api.app.planes.get_plane(&path.id()?).await?;
    Ok(Json(List {
        value: Vec::new(),
        next_link: None,
    }))
}

/// Returns a resource provider of a radius plane.
///
/// The reply is always 404, since AWS resources need no resource provider.
#[utoipa::path(get, path = "/planes/radius/{plane}/providers/{namespace}", tag = "Planes",
    params(ResourceProviderPath, ApiVersion),
    responses((status = 404, body = ErrorResponse)))]
async fn get_resource_provider(
    State(api): State<Arc<Api>>,
    path: ResourceProviderPath,
    _: ApiVersion,
) -> Result<(), Problem> {
    let plane = api.app.planes.get_plane(&path.plane()?).await?;
    let shown = excerpt(&path.namespace);
    let message = format!(
        "The plane '{}' has no resource provider '{shown}'.",
        plane.id.name
    );
    let target = format!("{}/providers/{shown}", plane.id);
    let failure = Failure::new(ErrorCode::NotFound, message).with_target(target);
    Err(Problem::new(StatusCode::NOT_FOUND, failure))
}

fn tagged(plane: Plane) -> Tagged<PlaneBody> {
    Tagged(plane.etag(), plane.into())
}
