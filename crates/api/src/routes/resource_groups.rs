use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use serde_json::{Map, Value};
use ucp_model::{Detail, Failure, GroupId, PlaneId};

use crate::Api;
use crate::context::RequestContext;
use crate::json::{JsonObject, is_json, kind};
use crate::problem::Problem;
use crate::routes::ApiVersion;
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
    headers: HeaderMap,
    JsonObject(body): JsonObject,
) -> Result<Json<ResourceGroupBody>, Problem> {
    if !is_json(&headers) {
        return Err(invalid(
            "InvalidRequestContent",
            "Send the body with Content-Type: application/json.",
        ));
    }
    let id = group_id(&plane, &group)?;
    let put = read(body)?;
    let tags = put.tags.unwrap_or_default();
    let group = api.app.put_resource_group(&id, &put.location, &tags).await;
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
    GroupId::new(plane, group).map_err(|error| invalid("InvalidProperties", &error.to_string()))
}

/// Every violation of the body at once, each with its JSON path.
fn read(body: Map<String, Value>) -> Result<PutResourceGroup, Problem> {
    let mut details = Vec::new();
    let mut violated = |path: &str, what: String| {
        details.push(Detail {
            code: "InvalidProperties".to_owned(),
            message: format!("{path} {what}"),
            target: None,
        });
    };
    let location = match body.get("location") {
        Some(Value::String(location)) if location.chars().any(char::is_control) => {
            violated(
                "$.location",
                "in body must not hold control characters".to_owned(),
            );
            None
        }
        Some(Value::String(location)) => Some(location.clone()),
        Some(other) => {
            violated(
                "$.location",
                format!("in body must be a string, not {}", kind(other)),
            );
            None
        }
        None => {
            violated("$.location", "in body is required".to_owned());
            None
        }
    };
    let tags = match body.get("tags") {
        None | Some(Value::Null) => None,
        Some(Value::Object(tags)) => Some(tags),
        Some(other) => {
            violated(
                "$.tags",
                format!("in body must be an object, not {}", kind(other)),
            );
            None
        }
    };
    let mut read_tags = std::collections::BTreeMap::new();
    for (name, value) in tags.into_iter().flatten() {
        match value {
            Value::String(value) => {
                read_tags.insert(name.clone(), value.clone());
            }
            other => violated(
                &format!("$.tags['{name}']"),
                format!("in body must be a string, not {}", kind(other)),
            ),
        }
    }
    match location {
        Some(location) if details.is_empty() => Ok(PutResourceGroup {
            location,
            tags: Some(read_tags),
        }),
        _ => Err(validation_failed(details)),
    }
}

fn invalid(code: &str, message: &str) -> Problem {
    validation_failed(vec![Detail {
        code: code.to_owned(),
        message: message.to_owned(),
        target: None,
    }])
}

fn validation_failed(details: Vec<Detail>) -> Problem {
    let message = match &details[..] {
        [only] => format!("HTTP request payload failed validation: {}", only.message),
        _ => "HTTP request payload failed validation; the details name each violation.".to_owned(),
    };
    let failure = Failure::new("HttpRequestPayloadAPISpecValidationFailed", message)
        .with_target("ucp/openapi")
        .with_details(details);
    Problem::new(StatusCode::BAD_REQUEST, failure)
}
