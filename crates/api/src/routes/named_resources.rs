use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::Response;
use ucp_app::{DeleteResource, PutResource, ReadResource, Selector};

use crate::Api;
use crate::context::RequestContext;
use crate::json::JsonObject;
use crate::problem::Problem;
use crate::query::Page;
use crate::routes::aws_resources::{Collection, collection, delete, put};
use crate::wire::{ActionRequest, AwsResource, ErrorResponse, List};

/// The path of one resource of a type.
type Resource = Path<(String, String, String, String, String, String)>;

/// Lists the resources of a type that AWS has, page by page, with as much of their properties as AWS tells.
#[utoipa::path(get, tag = "AWS resources",
    path = "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/{type}",
    params(("plane" = String, Path, example = "aws"), ("account" = String, Path, example = "123456789012"),
        ("region" = String, Path, example = "us-west-2"), ("namespace" = String, Path, example = "AWS.Logs"),
        ("type" = String, Path, example = "LogGroup"),
        ("skipToken" = Option<String>, Query, description = "As a nextLink has it: AWS's own token")),
    responses((status = 200, body = List<AwsResource>), (status = 400, body = ErrorResponse),
        (status = 403, body = ErrorResponse), (status = 404, body = ErrorResponse),
        (status = 409, body = ErrorResponse),
        (status = 429, body = ErrorResponse, headers(("Retry-After" = u64))),
        (status = 500, description = "AWS failed, or did not answer in time", body = ErrorResponse)))]
pub(crate) async fn list_aws_resources(
    State(api): State<Arc<Api>>,
    Path((plane, account, region, namespace, resource)): Collection,
    context: RequestContext,
    page: Page,
) -> Result<Json<List<AwsResource>>, Problem> {
    let (scope, type_name) = collection(&plane, &account, &region, &namespace, &resource)?;
    let skip_token = page.skip_token.as_deref();
    let listed = api.app.list_resources(&scope, &type_name, skip_token).await;
    let listed = listed.map_err(|rejection| Problem::of(rejection, &context))?;
    let next_token = listed.next_token.as_deref();
    Ok(Json(List {
        next_link: next_token.map(|token| page.next_link(token, &context)),
        value: listed
            .resources
            .into_iter()
            .map(AwsResource::from)
            .collect(),
    }))
}

/// Answers a resource as AWS shows it.
#[utoipa::path(get, tag = "AWS resources",
    path = "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/{type}/{identifier}",
    params(("plane" = String, Path, example = "aws"), ("account" = String, Path, example = "123456789012"),
        ("region" = String, Path, example = "us-west-2"), ("namespace" = String, Path, example = "AWS.Logs"),
        ("type" = String, Path, example = "LogGroup"), ("identifier" = String, Path, example = "my-group")),
    responses((status = 200, body = AwsResource), (status = 400, body = ErrorResponse),
        (status = 403, body = ErrorResponse), (status = 404, body = ErrorResponse),
        (status = 409, body = ErrorResponse),
        (status = 429, body = ErrorResponse, headers(("Retry-After" = u64))),
        (status = 500, description = "AWS failed, or did not answer in time", body = ErrorResponse)))]
pub(crate) async fn get_named_aws_resource(
    State(api): State<Arc<Api>>,
    Path((plane, account, region, namespace, resource, identifier)): Resource,
    context: RequestContext,
) -> Result<Json<AwsResource>, Problem> {
    let (scope, type_name) = collection(&plane, &account, &region, &namespace, &resource)?;
    let read = ReadResource {
        scope,
        type_name,
        resource: Selector::Name(identifier),
    };
    let live = api.app.get_resource(read).await;
    let live = live.map_err(|rejection| Problem::of(rejection, &context))?;
    Ok(Json(live.into()))
}

/// Makes the resource of that name what the body declares: creates it, updates it, or does nothing. References to it stay
/// as they are.
#[utoipa::path(put, tag = "AWS resources",
    path = "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/{type}/{identifier}",
    params(("plane" = String, Path, example = "aws"), ("account" = String, Path, example = "123456789012"),
        ("region" = String, Path, example = "us-west-2"), ("namespace" = String, Path, example = "AWS.Logs"),
        ("type" = String, Path, example = "LogGroup"), ("identifier" = String, Path, example = "my-group")),
    request_body = ActionRequest,
    responses((status = 200, description = "Nothing to do", body = AwsResource),
        (status = 201, description = "Under way; poll the URLs in the headers", body = AwsResource,
            headers(("Azure-AsyncOperation" = String), ("Location" = String), ("Retry-After" = u64))),
        (status = 400, body = ErrorResponse), (status = 403, body = ErrorResponse),
        (status = 404, description = "AWS has none, and names such resources itself", body = ErrorResponse), (status = 409, body = ErrorResponse)))]
pub(crate) async fn put_named_aws_resource(
    State(api): State<Arc<Api>>,
    Path((plane, account, region, namespace, resource, identifier)): Resource,
    context: RequestContext,
    body: Option<JsonObject>,
) -> Result<Response, Problem> {
    let (scope, type_name) = collection(&plane, &account, &region, &namespace, &resource)?;
    let Some(JsonObject(body)) = body else {
        return Err(Problem::bad_request(
            "The body is empty. Send {\"properties\":{…}}; {} declares nothing but the name.",
        ));
    };
    let request = ActionRequest::read(body)?;
    if request.tracked_by.is_some() {
        return Err(Problem::bad_request(
            "/trackedBy: a put by name is not tracked. Use :put, or leave it out.",
        ));
    }
    let options = request.options();
    let declared = PutResource {
        scope,
        type_name,
        name: Some(identifier),
        tracked_by: None,
        properties: request.properties,
        default_tags: request.default_tags,
        options,
    };
    put(&api, declared, &context).await
}

/// Deletes the resource of that name, and with it the references to it.
#[utoipa::path(delete, tag = "AWS resources",
    path = "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/{type}/{identifier}",
    params(("plane" = String, Path, example = "aws"), ("account" = String, Path, example = "123456789012"),
        ("region" = String, Path, example = "us-west-2"), ("namespace" = String, Path, example = "AWS.Logs"),
        ("type" = String, Path, example = "LogGroup"), ("identifier" = String, Path, example = "my-group")),
    responses((status = 202, description = "Under way; poll the URLs in the headers",
            headers(("Azure-AsyncOperation" = String), ("Location" = String), ("Retry-After" = u64))),
        (status = 204, description = "Already gone"),
        (status = 400, body = ErrorResponse), (status = 403, body = ErrorResponse),
        (status = 409, body = ErrorResponse)))]
pub(crate) async fn delete_named_aws_resource(
    State(api): State<Arc<Api>>,
    Path((plane, account, region, namespace, resource, identifier)): Resource,
    context: RequestContext,
) -> Result<Response, Problem> {
    let (scope, type_name) = collection(&plane, &account, &region, &namespace, &resource)?;
    let meant = DeleteResource {
        scope,
        type_name,
        resource: Selector::Name(identifier),
    };
    delete(&api, meant, &context).await
}
