use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use ucp_app::{DeleteOutcome, ReferenceUpdate};
use ucp_model::{Failure, GroupId, ReferenceId, TypeName};

use crate::Api;
use crate::context::RequestContext;
use crate::json::JsonObject;
use crate::problem::Problem;
use crate::routes::accepted;
use crate::routes::resource_groups::group_id;
use crate::wire::{ErrorResponse, List, ReferenceBody, UpdateReference};

const SUFFIX: &str = ":reference";

/// Answers one reference from the store.
#[utoipa::path(get, tag = "References",
    path = "/planes/radius/{plane}/resourcegroups/{group}/providers/{namespace}/{type}/{alias}",
    params(("plane" = String, Path, example = "local"), ("group" = String, Path),
        ("namespace" = String, Path, example = "AWS.EC2"), ("type" = String, Path, example = "VPC:reference"),
        ("alias" = String, Path)),
    responses((status = 200, body = ReferenceBody), (status = 400, body = ErrorResponse),
        (status = 404, body = ErrorResponse)))]
pub(crate) async fn get_reference(
    State(api): State<Arc<Api>>,
    Path((plane, group, namespace, resource, alias)): Path<(
        String,
        String,
        String,
        String,
        String,
    )>,
    context: RequestContext,
) -> Result<Json<ReferenceBody>, Problem> {
    let id = reference_id(&plane, &group, &namespace, &resource, &alias)?;
    let reference = api.app.get_reference(&id).await;
    let reference = reference.map_err(|rejection| Problem::of(rejection, &context))?;
    Ok(Json(reference.into()))
}

/// Lists the references of a type in a group.
#[utoipa::path(get, tag = "References",
    path = "/planes/radius/{plane}/resourcegroups/{group}/providers/{namespace}/{type}",
    params(("plane" = String, Path, example = "local"), ("group" = String, Path),
        ("namespace" = String, Path, example = "AWS.EC2"), ("type" = String, Path, example = "VPC:reference")),
    responses((status = 200, body = List<ReferenceBody>), (status = 400, body = ErrorResponse),
        (status = 404, body = ErrorResponse)))]
pub(crate) async fn list_references(
    State(api): State<Arc<Api>>,
    Path((plane, group, namespace, resource)): Path<(String, String, String, String)>,
    context: RequestContext,
) -> Result<Json<List<ReferenceBody>>, Problem> {
    let (group, type_name) = reference_type(&plane, &group, &namespace, &resource)?;
    let references = api.app.list_references(&group, Some(&type_name)).await;
    let references = references.map_err(|rejection| Problem::of(rejection, &context))?;
    Ok(Json(
        references.into_iter().map(ReferenceBody::from).collect(),
    ))
}

/// Changes who owns the resource of a reference, or the reference's tags.
#[utoipa::path(patch, tag = "References",
    path = "/planes/radius/{plane}/resourcegroups/{group}/providers/{namespace}/{type}/{alias}",
    params(("plane" = String, Path, example = "local"), ("group" = String, Path),
        ("namespace" = String, Path, example = "AWS.EC2"), ("type" = String, Path, example = "VPC:reference"),
        ("alias" = String, Path)),
    request_body = UpdateReference,
    responses((status = 200, body = ReferenceBody), (status = 400, body = ErrorResponse),
        (status = 404, body = ErrorResponse), (status = 409, body = ErrorResponse),
        (status = 413, body = ErrorResponse), (status = 415, body = ErrorResponse)))]
pub(crate) async fn update_reference(
    State(api): State<Arc<Api>>,
    Path((plane, group, namespace, resource, alias)): Path<(
        String,
        String,
        String,
        String,
        String,
    )>,
    context: RequestContext,
    JsonObject(body): JsonObject,
) -> Result<Json<ReferenceBody>, Problem> {
    let id = reference_id(&plane, &group, &namespace, &resource, &alias)?;
    let request = UpdateReference::read(body)?;
    let update = ReferenceUpdate {
        owned: request.owned_resource,
        tags: request.tags,
    };
    let reference = api.app.update_reference(&id, update, &context.caller).await;
    let reference = reference.map_err(|rejection| Problem::of(rejection, &context))?;
    Ok(Json(reference.into()))
}

/// Deletes a reference: with its AWS resource where it owns it, otherwise only the mapping.
#[utoipa::path(delete, tag = "References",
    path = "/planes/radius/{plane}/resourcegroups/{group}/providers/{namespace}/{type}/{alias}",
    params(("plane" = String, Path, example = "local"), ("group" = String, Path),
        ("namespace" = String, Path, example = "AWS.EC2"), ("type" = String, Path, example = "VPC:reference"),
        ("alias" = String, Path)),
    responses((status = 200, description = "Forgotten; the AWS resource was left alone"),
        (status = 202, description = "Under way; poll the URLs in the headers",
            headers(("Azure-AsyncOperation" = String), ("Location" = String), ("Retry-After" = u64))),
        (status = 204, description = "There was none"), (status = 400, body = ErrorResponse),
        (status = 404, body = ErrorResponse), (status = 409, body = ErrorResponse)))]
pub(crate) async fn delete_reference(
    State(api): State<Arc<Api>>,
    Path((plane, group, namespace, resource, alias)): Path<(
        String,
        String,
        String,
        String,
        String,
    )>,
    context: RequestContext,
) -> Result<Response, Problem> {
    let id = reference_id(&plane, &group, &namespace, &resource, &alias)?;
    let outcome = api.app.delete_reference(&id, &context.caller).await;
    match outcome.map_err(|rejection| Problem::of(rejection, &context))? {
        DeleteOutcome::Accepted(operation) => {
            let urls = context.plane_urls(&id.group.plane_id(), operation.id);
            Ok(accepted(StatusCode::ACCEPTED, json!({}), urls, &context))
        }
        DeleteOutcome::Forgotten => Ok(StatusCode::OK.into_response()),
        DeleteOutcome::AlreadyGone => Ok(StatusCode::NO_CONTENT.into_response()),
    }
}

fn reference_id(
    plane: &str,
    group: &str,
    namespace: &str,
    resource: &str,
    alias: &str,
) -> Result<ReferenceId, Problem> {
    let (group, type_name) = reference_type(plane, group, namespace, resource)?;
    ReferenceId::new(group, type_name, alias)
        .map_err(|error| Problem::bad_request(error.to_string()))
}

fn reference_type(
    plane: &str,
    group: &str,
    namespace: &str,
    resource: &str,
) -> Result<(GroupId, TypeName), Problem> {
    let at = resource.len().checked_sub(SUFFIX.len());
    let split = at.and_then(|at| resource.split_at_checked(at));
    let Some((resource, _)) = split.filter(|(_, suffix)| suffix.eq_ignore_ascii_case(SUFFIX))
    else {
        let message = "A resource group holds references, such as AWS.EC2/VPC:reference/my-vpc.";
        return Err(Problem::new(
            StatusCode::NOT_FOUND,
            Failure::new("NotFound", message),
        ));
    };
    let type_name = TypeName::from_segments(namespace, resource)
        .map_err(|error| Problem::bad_request(error.to_string()))?;
    Ok((group_id(plane, group)?, type_name))
}
