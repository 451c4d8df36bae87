use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use ucp_app::{
    DeleteOutcome, DeleteResource, ImportOutcome, ImportResource, PutResource, ReadResource,
};
use ucp_model::operation::Verdict;
use ucp_model::{Scope, TypeName};

use crate::Api;
use crate::context::RequestContext;
use crate::json::JsonObject;
use crate::problem::Problem;
use crate::routes::{accepted, polling_urls};
use crate::wire::{ActionRequest, AwsResource, ErrorResponse, ImportRequest, ImportedReference};

/// The path of a type's collection in one account and region.
pub(crate) type Collection = Path<(String, String, String, String, String)>;

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
        (status = 404, body = ErrorResponse),
        (status = 409, body = ErrorResponse)))]
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
    let declared = PutResource {
        scope,
        type_name,
        name: None,
        tracked_by: request.tracked_by,
        properties: request.properties,
        default_tags: request.default_tags,
        options,
    };
    put(&api, declared, &context).await
}

/// Answers the resource behind an alias, or the one that the identifier's parts name, as AWS shows it.
#[utoipa::path(post, tag = "AWS resources",
    path = "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/{type}/:get",
    params(("plane" = String, Path, example = "aws"), ("account" = String, Path, example = "123456789012"),
        ("region" = String, Path, example = "us-west-2"), ("namespace" = String, Path, example = "AWS.EC2"),
        ("type" = String, Path, example = "VPC")),
    request_body = ActionRequest,
    responses((status = 200, body = AwsResource), (status = 400, body = ErrorResponse),
        (status = 403, body = ErrorResponse), (status = 404, body = ErrorResponse), (status = 409, body = ErrorResponse),
        (status = 429, body = ErrorResponse, headers(("Retry-After" = u64))),
        (status = 500, description = "AWS failed, or did not answer in time", body = ErrorResponse)))]
pub(crate) async fn get_aws_resource(
    State(api): State<Arc<Api>>,
    Path((plane, account, region, namespace, resource)): Collection,
    context: RequestContext,
    JsonObject(body): JsonObject,
) -> Result<Json<AwsResource>, Problem> {
    let (scope, type_name) = collection(&plane, &account, &region, &namespace, &resource)?;
    let read = ReadResource {
        scope,
        type_name,
        resource: ActionRequest::read(body)?.selector(),
    };
    let live = api.app.get_resource(read).await;
    let live = live.map_err(|rejection| Problem::of(rejection, &context))?;
    Ok(Json(live.into()))
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
        (status = 404, body = ErrorResponse),
        (status = 409, body = ErrorResponse)))]
pub(crate) async fn delete_aws_resource(
    State(api): State<Arc<Api>>,
    Path((plane, account, region, namespace, resource)): Collection,
    context: RequestContext,
    JsonObject(body): JsonObject,
) -> Result<Response, Problem> {
    let (scope, type_name) = collection(&plane, &account, &region, &namespace, &resource)?;
    let meant = DeleteResource {
        scope,
        type_name,
        resource: ActionRequest::read(body)?.selector(),
    };
    delete(&api, meant, &context).await
}

/// Puts, and answers with the resource as far as it is known.
pub(crate) async fn put(
    api: &Api,
    put: PutResource,
    context: &RequestContext,
) -> Result<Response, Problem> {
    let outcome = api.app.put_resource(put, &context.caller).await;
    let outcome = outcome.map_err(|rejection| Problem::of(rejection, context))?;
    let operation = &outcome.operation;
    let body = AwsResource::of(operation, outcome.properties);
    if operation.verdict() == Verdict::NothingToDo {
        return Ok(Json(body.in_state("Succeeded")).into_response());
    }
    let body = body.in_state("Provisioning");
    let urls = polling_urls(operation, context);
    Ok(accepted(StatusCode::CREATED, body, urls, context))
}

/// Deletes, and answers with where to ask for the outcome.
pub(crate) async fn delete(
    api: &Api,
    delete: DeleteResource,
    context: &RequestContext,
) -> Result<Response, Problem> {
    let outcome = api.app.delete_resource(delete, &context.caller).await;
    match outcome.map_err(|rejection| Problem::of(rejection, context))? {
        DeleteOutcome::Accepted(operation) => {
            let urls = polling_urls(&operation, context);
            Ok(accepted(StatusCode::ACCEPTED, json!({}), urls, context))
        }
        DeleteOutcome::Forgotten | DeleteOutcome::AlreadyGone => {
            Ok(StatusCode::NO_CONTENT.into_response())
        }
    }
}

/// Puts an existing resource under an alias, and leaves the resource as it is.
#[utoipa::path(post, tag = "AWS resources",
    path = "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/{type}/:import",
    params(("plane" = String, Path, example = "aws"), ("account" = String, Path, example = "123456789012"),
        ("region" = String, Path, example = "us-west-2"), ("namespace" = String, Path, example = "AWS.EC2"),
        ("type" = String, Path, example = "VPC")),
    request_body = ImportRequest,
    responses((status = 201, description = "The alias stands for the resource", body = ImportedReference),
        (status = 202, description = "Not decided yet; poll the URLs in the headers",
            headers(("Azure-AsyncOperation" = String), ("Location" = String), ("Retry-After" = u64))),
        (status = 400, body = ErrorResponse), (status = 403, body = ErrorResponse),
        (status = 404, body = ErrorResponse), (status = 409, body = ErrorResponse),
        (status = 413, body = ErrorResponse), (status = 415, body = ErrorResponse),
        (status = 429, body = ErrorResponse), (status = 500, body = ErrorResponse)))]
pub(crate) async fn import_aws_resource(
    State(api): State<Arc<Api>>,
    Path((plane, account, region, namespace, resource)): Collection,
    context: RequestContext,
    JsonObject(body): JsonObject,
) -> Result<Response, Problem> {
    let (scope, type_name) = collection(&plane, &account, &region, &namespace, &resource)?;
    let request = ImportRequest::read(body)?;
    let import = ImportResource {
        scope,
        type_name,
        tracked_by: request.tracked_by,
        primary_identifier: request.primary_identifier,
        properties: request.properties,
        owned: request.owned_resource,
    };
    let outcome = api.app.import_resource(import, &context.caller).await;
    match outcome.map_err(|rejection| Problem::of(rejection, &context))? {
        ImportOutcome::Imported(reference, warnings) => {
            let body = ImportedReference::new(*reference, warnings);
            Ok((StatusCode::CREATED, Json(body)).into_response())
        }
        ImportOutcome::Accepted(operation) => match operation.failure() {
            Some(failure) => Err(Problem::of_ended(failure, &context)),
            None => {
                let urls = polling_urls(&operation, &context);
                Ok(accepted(StatusCode::ACCEPTED, json!({}), urls, &context))
            }
        },
    }
}

/// The scope and the type that a path names.
pub(crate) fn collection(
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
