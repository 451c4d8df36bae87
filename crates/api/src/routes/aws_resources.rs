use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use ucp_app::{DeleteOutcome, DeleteResource, PutResource};
use ucp_model::{Scope, TypeName};

use crate::Api;
use crate::context::RequestContext;
use crate::json::JsonObject;
use crate::problem::Problem;
use crate::routes::{accepted, polling_urls};
use crate::wire::{ActionRequest, AwsResource, ErrorResponse};

/// The path of a type's collection in one account and region.
type Collection = Path<(String, String, String, String, String)>;

/// Makes the resource behind an alias what the body declares: creates it, updates it, or does nothing.
#[utoipa::path(post, tag = "AWS resources",
    path = "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/{type}/:put",
    params(("plane" = String, Path, example = "aws"), ("account" = String, Path, example = "123456789012"),
        ("region" = String, Path, example = "us-west-2"), ("namespace" = String, Path, example = "AWS.EC2"),
        ("type" = String, Path, example = "VPC")),
    request_body = ActionRequest,
    responses((status = 200, description = "Nothing to do", body = AwsResource),
        (status = 201, description = "Under way; poll the URLs in the headers", body = AwsResource,
            headers(("Azure-AsyncOperation" = String), ("Location" = String), ("Retry-After" = u64))),
        (status = 400, body = ErrorResponse), (status = 403, body = ErrorResponse),
        (status = 404, body = ErrorResponse), (status = 409, body = ErrorResponse),
        (status = 413, body = ErrorResponse), (status = 415, body = ErrorResponse)))]
pub(crate) async fn put_aws_resource(
    State(api): State<Arc<Api>>,
    Path((plane, account, region, namespace, resource)): Collection,
    context: RequestContext,
    JsonObject(body): JsonObject,
) -> Result<Response, Problem> {
    let (scope, type_name) = collection(&plane, &account, &region, &namespace, &resource)?;
    if body.is_empty() {
        return Err(Problem::bad_request(
            "The body declares nothing. Send {\"trackedBy\":…,\"properties\":{…}}.",
        ));
    }
    let request = ActionRequest::read(body)?;
    let options = request.options();
    let put = PutResource {
        scope,
        type_name,
        tracked_by: request.tracked_by,
        properties: request.properties,
        options,
    };
    let outcome = api.app.put_resource(put, &context.caller).await;
    let outcome = outcome.map_err(|rejection| Problem::of(rejection, &context))?;
    let operation = &outcome.operation;
    if let Some(failure) = operation
        .failure()
        .filter(|failure| failure.code == "Conflict")
    {
        return Err(Problem::of_ended(failure, &context));
    }
    let body = AwsResource::of(operation, outcome.properties);
    if operation.found_nothing_to_do() {
        return Ok(Json(body.in_state("Succeeded")).into_response());
    }
    let body = body.in_state("Provisioning");
    Ok(accepted(
        StatusCode::CREATED,
        body,
        polling_urls(operation, &context),
        &context,
    ))
}

/// Deletes the resource behind an alias, or the one that the identifier's parts name.
#[utoipa::path(post, tag = "AWS resources",
    path = "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/{type}/:delete",
    params(("plane" = String, Path, example = "aws"), ("account" = String, Path, example = "123456789012"),
        ("region" = String, Path, example = "us-west-2"), ("namespace" = String, Path, example = "AWS.EC2"),
        ("type" = String, Path, example = "VPC")),
    request_body = ActionRequest,
    responses((status = 202, description = "Under way; poll the URLs in the headers",
            headers(("Azure-AsyncOperation" = String), ("Location" = String), ("Retry-After" = u64))),
        (status = 204, description = "Already gone"),
        (status = 400, body = ErrorResponse), (status = 403, body = ErrorResponse),
        (status = 404, body = ErrorResponse), (status = 409, body = ErrorResponse),
        (status = 413, body = ErrorResponse), (status = 415, body = ErrorResponse)))]
pub(crate) async fn delete_aws_resource(
    State(api): State<Arc<Api>>,
    Path((plane, account, region, namespace, resource)): Collection,
    context: RequestContext,
    JsonObject(body): JsonObject,
) -> Result<Response, Problem> {
    let (scope, type_name) = collection(&plane, &account, &region, &namespace, &resource)?;
    let request = ActionRequest::read(body)?;
    let delete = DeleteResource {
        scope,
        type_name,
        tracked_by: request.tracked_by,
        properties: request.properties,
    };
    let outcome = api.app.delete_resource(delete, &context.caller).await;
    match outcome.map_err(|rejection| Problem::of(rejection, &context))? {
        DeleteOutcome::Accepted(operation) => {
            let urls = polling_urls(&operation, &context);
            Ok(accepted(StatusCode::ACCEPTED, json!({}), urls, &context))
        }
        DeleteOutcome::Forgotten | DeleteOutcome::AlreadyGone => {
            Ok(StatusCode::NO_CONTENT.into_response())
        }
    }
}

fn collection(
    plane: &str,
    account: &str,
    region: &str,
    namespace: &str,
    resource: &str,
) -> Result<(Scope, TypeName), Problem> {
    let wrong = |error: ucp_model::ids::InvalidId| Problem::bad_request(error.to_string());
    let scope = Scope::new(plane, account, region).map_err(wrong)?;
    Ok((
        scope,
        TypeName::from_segments(namespace, resource).map_err(wrong)?,
    ))
}
