use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use ucp_model::{GroupId, PlaneId};

use crate::Api;
use crate::context::RequestContext;
use crate::problem::Problem;
use crate::routes::ApiVersion;
use crate::validation::{Payload, Violations, named};
use crate::wire::{ErrorResponse, List, PutResourceGroup, ReferenceBody, ResourceGroupBody};

/// Creates a resource group, or replaces its location and tags.
#[utoipa::path(put, path = "/planes/radius/{plane}/resourcegroups/{group}", tag = "Resource groups",
    params(("plane" = String, Path, example = "local"), ("group" = String, Path),
        ("api-version" = String, Query, example = "2023-10-01-preview")),
    request_body = PutResourceGroup,
    responses((status = 200, body = ResourceGroupBody), (status = 400, body = ErrorResponse)))]
pub(crate) async fn put_resource_group(
    State(api): State<Arc<Api>>,
    Path((plane, group)): Path<(String, String)>,
    _: ApiVersion,
    context: RequestContext,
    payload: Payload,
) -> Result<Json<ResourceGroupBody>, Problem> {
    let mut violations = Violations::default();
    let id = violations.name(GroupId::new(&plane, &group));
    let body = violations.body(payload);
    let put = body.map(|body| PutResourceGroup::read(&body, &mut violations));
    let (id, put) = violations.judge(id.zip(put))?;
    let group = api
        .app
        .put_resource_group(&id, &put.location, &put.tags)
        .await;
    let group = group.map_err(|rejection| Problem::of(rejection, &context))?;
    Ok(Json(ResourceGroupBody::new(group, Vec::new())))
}

/// Answers a resource group with what it tracks.
#[utoipa::path(get, path = "/planes/radius/{plane}/resourcegroups/{group}", tag = "Resource groups",
    params(("plane" = String, Path, example = "local"), ("group" = String, Path),
        ("api-version" = String, Query, example = "2023-10-01-preview")),
    responses((status = 200, body = ResourceGroupBody), (status = 400, body = ErrorResponse),
        (status = 404, body = ErrorResponse)))]
pub(crate) async fn get_resource_group(
    State(api): State<Arc<Api>>,
    Path((plane, group)): Path<(String, String)>,
    _: ApiVersion,
    context: RequestContext,
) -> Result<Json<ResourceGroupBody>, Problem> {
    let view = api.app.get_resource_group(&group_id(&plane, &group)?).await;
    let view = view.map_err(|rejection| Problem::of(rejection, &context))?;
    Ok(Json(ResourceGroupBody::new(view.group, view.references)))
}

/// Lists the resource groups of a plane.
#[utoipa::path(get, path = "/planes/radius/{plane}/resourcegroups", tag = "Resource groups",
    params(("plane" = String, Path, example = "local"),
        ("api-version" = String, Query, example = "2023-10-01-preview")),
    responses((status = 200, body = List<ResourceGroupBody>), (status = 400, body = ErrorResponse)))]
pub(crate) async fn list_resource_groups(
    State(api): State<Arc<Api>>,
    Path(plane): Path<String>,
    _: ApiVersion,
    context: RequestContext,
) -> Result<Json<List<ResourceGroupBody>>, Problem> {
    let plane =
        PlaneId::new("radius", &plane).map_err(|error| Problem::bad_request(error.to_string()))?;
    let groups = api.app.list_resource_groups(&plane).await;
    let groups = groups.map_err(|rejection| Problem::of(rejection, &context))?;
    Ok(Json(
        groups
            .into_iter()
            .map(|group| ResourceGroupBody::new(group, Vec::new()))
            .collect(),
    ))
}

/// Lists what a resource group tracks.
#[utoipa::path(get, path = "/planes/radius/{plane}/resourcegroups/{group}/resources", tag = "Resource groups",
    params(("plane" = String, Path, example = "local"), ("group" = String, Path),
        ("api-version" = String, Query, example = "2023-10-01-preview")),
    responses((status = 200, body = List<ReferenceBody>), (status = 400, body = ErrorResponse),
        (status = 404, body = ErrorResponse)))]
pub(crate) async fn list_resource_group_resources(
    State(api): State<Arc<Api>>,
    Path((plane, group)): Path<(String, String)>,
    _: ApiVersion,
    context: RequestContext,
) -> Result<Json<List<ReferenceBody>>, Problem> {
    let references = api
        .app
        .list_references(&group_id(&plane, &group)?, None)
        .await;
    let references = references.map_err(|rejection| Problem::of(rejection, &context))?;
    Ok(Json(
        references.into_iter().map(ReferenceBody::from).collect(),
    ))
}

pub(crate) fn group_id(plane: &str, group: &str) -> Result<GroupId, Problem> {
    named(GroupId::new(plane, group))
}
