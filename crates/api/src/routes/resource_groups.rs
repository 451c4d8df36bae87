use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::Response;
use ucp_app::PutGroup;
use ucp_model::GroupId;

use crate::Api;
use crate::context::RequestContext;
use crate::precondition::{Conditions, tagged};
use crate::problem::Problem;
use crate::routes::ApiVersion;
use crate::routes::planes::radius_plane;
use crate::validation::{Payload, Violations, named};
use crate::wire::{ErrorResponse, List, PutResourceGroupRequest, ReferenceBody, ResourceGroupBody};

/// Creates a resource group, or replaces its location and tags.
#[utoipa::path(put, path = "/planes/radius/{plane}/resourcegroups/{group}", tag = "Resource groups",
    params(("plane" = String, Path, example = "local"), ("group" = String, Path),
        ("api-version" = String, Query, example = "2023-10-01-preview"),
        ("If-Match" = Option<String>, Header), ("If-None-Match" = Option<String>, Header)),
    request_body = PutResourceGroupRequest,
    responses((status = 200, body = ResourceGroupBody, headers(("ETag" = String))),
        (status = 400, body = ErrorResponse), (status = 412, body = ErrorResponse),
        (status = 413, body = ErrorResponse), (status = 415, body = ErrorResponse)))]
pub(crate) async fn put_resource_group(
    State(api): State<Arc<Api>>,
    Path((plane, group)): Path<(String, String)>,
    _: ApiVersion,
    Conditions(precondition): Conditions,
    context: RequestContext,
    payload: Payload,
) -> Result<Response, Problem> {
    let mut violations = Violations::default();
    let id = violations.name(GroupId::new(&plane, &group));
    let body = violations.body(payload);
    let request = body.map(|body| PutResourceGroupRequest::read(&body, &mut violations));
    let (id, request) = violations.judge(id.zip(request))?;
    let put = PutGroup {
        id,
        location: request.location,
        tags: request.tags,
        default_tags: request.properties.default_tags,
    };
    let group = api.app.put_resource_group(put, &precondition).await;
    let group = group.map_err(|rejection| Problem::of(rejection, &context))?;
    let etag = group.etag();
    Ok(tagged(
        &etag,
        Json(ResourceGroupBody::new(group, Vec::new())),
    ))
}

/// Answers a resource group with what it tracks.
#[utoipa::path(get, path = "/planes/radius/{plane}/resourcegroups/{group}", tag = "Resource groups",
    params(("plane" = String, Path, example = "local"), ("group" = String, Path),
        ("api-version" = String, Query, example = "2023-10-01-preview")),
    responses((status = 200, body = ResourceGroupBody, headers(("ETag" = String))),
        (status = 400, body = ErrorResponse), (status = 404, body = ErrorResponse)))]
pub(crate) async fn get_resource_group(
    State(api): State<Arc<Api>>,
    Path((plane, group)): Path<(String, String)>,
    _: ApiVersion,
    context: RequestContext,
) -> Result<Response, Problem> {
    let view = api.app.get_resource_group(&group_id(&plane, &group)?).await;
    let view = view.map_err(|rejection| Problem::of(rejection, &context))?;
    let etag = view.group.etag();
    let body = ResourceGroupBody::new(view.group, view.references);
    Ok(tagged(&etag, Json(body)))
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
    let groups = api.app.list_resource_groups(&radius_plane(&plane)?).await;
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
