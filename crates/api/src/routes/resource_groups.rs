use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use ucp_app::DeleteGroupOutcome;
use ucp_model::{GroupBody, GroupId, NewResourceGroup};

use crate::Api;
use crate::context::RequestContext;
use crate::json::JsonObject;
use crate::precondition::{Conditions, tagged};
use crate::problem::Problem;
use crate::routes::planes::radius_plane;
use crate::routes::{ApiVersion, accepted};
use crate::validation::{Payload, Violations, named};
use crate::wire::{
    ErrorResponse, ImportGroupRequest, List, PutResourceGroupRequest, ReferenceBody,
    ResourceGroupBody, read_items,
};

/// Creates a resource group, or replaces its location and tags.
#[utoipa::path(put, path = "/planes/radius/{plane}/resourcegroups/{group}", tag = "Resource groups",
    params(("plane" = String, Path, example = "local"), ("group" = String, Path),
        ("api-version" = String, Query, example = "2023-10-01-preview"),
        ("If-Match" = Option<String>, Header), ("If-None-Match" = Option<String>, Header)),
    request_body = PutResourceGroupRequest,
    responses((status = 200, body = ResourceGroupBody, headers(("ETag" = String))),
        (status = 400, body = ErrorResponse), (status = 409, body = ErrorResponse),
        (status = 412, body = ErrorResponse),
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
    let put = NewResourceGroup {
        id,
        location: request.location,
        tags: request.tags,
        body: GroupBody {
            default_tags: request.properties.default_tags,
            deletion: None,
        },
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

/// Deletes a resource group with the AWS resources that it owns; the others are only forgotten.
#[utoipa::path(delete, path = "/planes/radius/{plane}/resourcegroups/{group}", tag = "Resource groups",
    params(("plane" = String, Path, example = "local"), ("group" = String, Path),
        ("api-version" = String, Query, example = "2023-10-01-preview"),
        ("If-Match" = Option<String>, Header), ("If-None-Match" = Option<String>, Header),
        ("Prefer" = Option<String>, Header, description = "`respond-async` answers 202 at once")),
    responses((status = 200, description = "It is gone"),
        (status = 202, description = "Under way; poll the URLs in the headers",
            headers(("Azure-AsyncOperation" = String), ("Location" = String), ("Retry-After" = u64))),
        (status = 204, description = "There was none"), (status = 400, body = ErrorResponse),
        (status = 409, description = "An operation in the group is under way, or some of its resources cannot be deleted",
            body = ErrorResponse),
        (status = 412, body = ErrorResponse)))]
pub(crate) async fn delete_resource_group(
    State(api): State<Arc<Api>>,
    Path((plane, group)): Path<(String, String)>,
    _: ApiVersion,
    Conditions(precondition): Conditions,
    context: RequestContext,
) -> Result<Response, Problem> {
    let id = group_id(&plane, &group)?;
    let outcome = api
        .app
        .delete_resource_group(&id, &precondition, &context.caller)
        .await;
    match outcome.map_err(|rejection| Problem::of(rejection, &context))? {
        DeleteGroupOutcome::AlreadyGone => Ok(StatusCode::NO_CONTENT.into_response()),
        DeleteGroupOutcome::Deleted => Ok(StatusCode::OK.into_response()),
        DeleteGroupOutcome::Accepted(operation) => match operation.failure() {
            Some(failure) => Err(Problem::of_ended(failure, &context)),
            None => {
                let urls = context.group_urls(&operation);
                Ok(accepted(StatusCode::ACCEPTED, json!({}), urls, &context))
            }
        },
    }
}

/// Puts existing AWS resources under aliases of a resource group.
#[utoipa::path(post, path = "/planes/radius/{plane}/resourcegroups/{group}/:import", tag = "Resource groups",
    params(("plane" = String, Path, example = "local"), ("group" = String, Path)),
    request_body = ImportGroupRequest,
    responses((status = 202, description = "Under way; the operation's result lists what became of each resource",
            headers(("Azure-AsyncOperation" = String), ("Location" = String), ("Retry-After" = u64))),
        (status = 400, body = ErrorResponse), (status = 404, body = ErrorResponse),
        (status = 409, body = ErrorResponse), (status = 413, body = ErrorResponse),
        (status = 415, body = ErrorResponse)))]
pub(crate) async fn import_resource_group_resources(
    State(api): State<Arc<Api>>,
    Path((plane, group)): Path<(String, String)>,
    context: RequestContext,
    JsonObject(body): JsonObject,
) -> Result<Response, Problem> {
    let id = group_id(&plane, &group)?;
    let items = read_items(&id, body)?;
    let operation = api.app.import_into_group(&id, items, &context.caller).await;
    let operation = operation.map_err(|rejection| Problem::of(rejection, &context))?;
    let urls = context.group_urls(&operation);
    Ok(accepted(StatusCode::ACCEPTED, json!({}), urls, &context))
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
