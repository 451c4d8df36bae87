use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::header::{LOCATION, RETRY_AFTER};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};
use ucp_app::{AnyOperation, OperationQuery, Status};
use ucp_model::operation::Kind;
use ucp_model::{
    Ended, Failure, GroupOperation, Operation, OperationId, PlaneId, PlaneKind, Timestamp,
};

use crate::Api;
use crate::context::RequestContext;
use crate::problem::Problem;
use crate::query::{Page, Parameters};
use crate::routes::resource_groups::group_id;
use crate::routes::{accepted, polling_urls};
use crate::wire::{
    AwsResource, ErrorResponse, ImportResult, OperationPage, OperationStatus, ReferenceBody,
};

/// Answers the status of an operation on an AWS resource: 200 in every state, from the store alone.
#[utoipa::path(get, tag = "Operations",
    path = "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/locations/global/operationStatuses/{id}",
    params(("plane" = String, Path), ("account" = String, Path), ("region" = String, Path),
        ("namespace" = String, Path), ("id" = String, Path)),
    responses((status = 200, body = OperationStatus, headers(("Retry-After" = u64, description = "while running"))),
        (status = 404, body = ErrorResponse)))]
pub(crate) async fn get_operation_status(
    State(api): State<Arc<Api>>,
    Path((plane, account, region, namespace, id)): Path<(String, String, String, String, String)>,
    context: RequestContext,
) -> Result<Response, Problem> {
    let operation =
        aws_operation(&api, [&plane, &account, &region, &namespace], &id, &context).await?;
    let operation = AnyOperation::Resource(Box::new(operation));
    Ok(status(operation, &context))
}

/// Asks for an operation on an AWS resource to be cancelled. It ends `Canceled` only when AWS confirms.
#[utoipa::path(post, tag = "Operations",
    path = "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/locations/global/operationStatuses/{id}/:cancel",
    params(("plane" = String, Path), ("account" = String, Path), ("region" = String, Path),
        ("namespace" = String, Path), ("id" = String, Path)),
    responses((status = 202, description = "Asked for; poll the URLs in the headers",
            headers(("Azure-AsyncOperation" = String), ("Location" = String), ("Retry-After" = u64))),
        (status = 404, body = ErrorResponse), (status = 409, description = "It has ended", body = ErrorResponse)))]
pub(crate) async fn cancel_operation(
    State(api): State<Arc<Api>>,
    Path((plane, account, region, namespace, id)): Path<(String, String, String, String, String)>,
    context: RequestContext,
) -> Result<Response, Problem> {
    let place = [&*plane, &*account, &*region, &*namespace];
    let operation = aws_operation(&api, place, &id, &context).await?;
    let urls = polling_urls(&operation, &context);
    let asked = AnyOperation::Resource(Box::new(operation));
    let asked = api.app.cancel_operation(&asked).await;
    asked.map_err(|rejection| Problem::of(rejection, &context))?;
    Ok(accepted(StatusCode::ACCEPTED, json!({}), urls, &context))
}

/// Answers what an operation on an AWS resource came to.
#[utoipa::path(get, tag = "Operations",
    path = "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/locations/global/operationResults/{id}",
    params(("plane" = String, Path), ("account" = String, Path), ("region" = String, Path),
        ("namespace" = String, Path), ("id" = String, Path)),
    responses((status = 200, description = "A put succeeded", body = AwsResource),
        (status = 202, description = "Running", headers(("Location" = String), ("Retry-After" = u64))),
        (status = 204, description = "A delete succeeded"), (status = 404, body = ErrorResponse),
        (status = "4XX", description = "It failed", body = ErrorResponse),
        (status = "5XX", description = "It failed", body = ErrorResponse)))]
pub(crate) async fn get_operation_result(
    State(api): State<Arc<Api>>,
    Path((plane, account, region, namespace, id)): Path<(String, String, String, String, String)>,
    context: RequestContext,
    uri: Uri,
) -> Result<Response, Problem> {
    let operation =
        aws_operation(&api, [&plane, &account, &region, &namespace], &id, &context).await?;
    result(&api, &operation, &uri, &context).await
}

/// Answers the status of an operation on a reference or a resource group.
#[utoipa::path(get, tag = "Operations",
    path = "/planes/radius/{plane}/providers/System.Resources/locations/global/operationStatuses/{id}",
    params(("plane" = String, Path), ("id" = String, Path)),
    responses((status = 200, body = OperationStatus, headers(("Retry-After" = u64, description = "while running"))),
        (status = 404, body = ErrorResponse)))]
pub(crate) async fn get_plane_operation_status(
    State(api): State<Arc<Api>>,
    Path((plane, id)): Path<(String, String)>,
    context: RequestContext,
) -> Result<Response, Problem> {
    let operation = plane_operation(&api, &plane, &id, &context).await?;
    Ok(status(operation, &context))
}

/// Asks for an operation on a reference or a resource group to be cancelled. It ends `Canceled` only when AWS confirms;
/// one on a group once all that it started has ended.
#[utoipa::path(post, tag = "Operations",
    path = "/planes/radius/{plane}/providers/System.Resources/locations/global/operationStatuses/{id}/:cancel",
    params(("plane" = String, Path), ("id" = String, Path)),
    responses((status = 202, description = "Asked for; poll the URLs in the headers",
            headers(("Azure-AsyncOperation" = String), ("Location" = String), ("Retry-After" = u64))),
        (status = 404, body = ErrorResponse), (status = 409, description = "It has ended", body = ErrorResponse)))]
pub(crate) async fn cancel_plane_operation(
    State(api): State<Arc<Api>>,
    Path((plane, id)): Path<(String, String)>,
    context: RequestContext,
) -> Result<Response, Problem> {
    let operation = plane_operation(&api, &plane, &id, &context).await?;
    let asked = api.app.cancel_operation(&operation).await;
    asked.map_err(|rejection| Problem::of(rejection, &context))?;
    let plane = PlaneId {
        kind: PlaneKind::Radius,
        name: plane,
    };
    let urls = context.plane_urls(&plane, operation.id());
    Ok(accepted(StatusCode::ACCEPTED, json!({}), urls, &context))
}

/// Answers what an operation on a reference or a resource group came to.
#[utoipa::path(get, tag = "Operations",
    path = "/planes/radius/{plane}/providers/System.Resources/locations/global/operationResults/{id}",
    params(("plane" = String, Path), ("id" = String, Path)),
    responses((status = 200, description = "An import into a group ended; for a put of a reference, the AWS resource",
            body = ImportResult),
        (status = 202, description = "Running", headers(("Location" = String), ("Retry-After" = u64))),
        (status = 204, description = "A delete succeeded"), (status = 404, body = ErrorResponse),
        (status = "4XX", description = "It failed", body = ErrorResponse),
        (status = "5XX", description = "It failed", body = ErrorResponse)))]
pub(crate) async fn get_plane_operation_result(
    State(api): State<Arc<Api>>,
    Path((plane, id)): Path<(String, String)>,
    context: RequestContext,
    uri: Uri,
) -> Result<Response, Problem> {
    match plane_operation(&api, &plane, &id, &context).await? {
        AnyOperation::Resource(operation) => result(&api, &operation, &uri, &context).await,
        AnyOperation::Group(operation) => group_result(&operation, &uri, &context),
    }
}

/// Lists the operations on a resource group and on what it tracks, the latest first.
#[utoipa::path(get, tag = "Operations",
    path = "/planes/radius/{plane}/resourcegroups/{group}/operations",
    params(("plane" = String, Path, example = "local"), ("group" = String, Path),
        ("status" = Option<String>, Query, description = "`Accepted`, `Provisioning`, `Updating`, `Deleting`, `Succeeded`, `Failed` or `Canceled`"),
        ("top" = Option<u64>, Query, minimum = 5, maximum = 20, example = 10, description = "How many a page holds; 10 by default"),
        ("skipToken" = Option<String>, Query, description = "Part of `nextLink`")),
    responses((status = 200, body = OperationPage), (status = 400, body = ErrorResponse),
        (status = 404, body = ErrorResponse)))]
pub(crate) async fn list_resource_group_operations(
    State(api): State<Arc<Api>>,
    Path((plane, group)): Path<(String, String)>,
    page: Page,
    context: RequestContext,
    uri: Uri,
) -> Result<Json<OperationPage>, Problem> {
    let group = group_id(&plane, &group)?;
    let status = Parameters::of(&uri)?
        .get(&["status"])
        .map(status_word)
        .transpose()?;
    let query = OperationQuery {
        status,
        after: page.skip_token.as_deref().map(place).transpose()?,
        top: page.top,
    };
    let listed = api.app.list_operations(&group, query).await;
    let (operations, has_more) = listed.map_err(|rejection| Problem::of(rejection, &context))?;
    let last = operations.last().map(AnyOperation::place);
    let next_link = last.filter(|_| has_more).map(|(accepted_at, id)| {
        let token = format!("{}.{id}", accepted_at.as_millis());
        let link = page.next_link(&token, &context);
        match status {
            Some(status) => format!("{link}&status={}", status.as_str()),
            None => link,
        }
    });
    let statuses = operations.into_iter().map(OperationStatus::from);
    Ok(Json(OperationPage {
        value: statuses
            .map(|status| status.explained(&context.base_url))
            .collect(),
        next_link,
    }))
}

fn status_word(given: &str) -> Result<Status, Problem> {
    let known = Status::ALL.into_iter();
    let mut meant = known.filter(|status| status.as_str().eq_ignore_ascii_case(given));
    meant.next().ok_or_else(|| {
        let words: Vec<&str> = Status::ALL.into_iter().map(Status::as_str).collect();
        let shown: String = given
            .chars()
            .take(20)
            .flat_map(char::escape_debug)
            .collect();
        Problem::bad_request(format!(
            "status is '{shown}'. Give one of {}, or leave it out.",
            words.join(", ")
        ))
    })
}

/// What a skipToken of ours says.
fn place(token: &str) -> Result<(Timestamp, OperationId), Problem> {
    let parts = token.split_once('.');
    let place = parts.and_then(|(accepted_at, id)| {
        let accepted_at = accepted_at.parse().ok()?;
        Some((Timestamp::from_millis(accepted_at), id.parse().ok()?))
    });
    place.ok_or_else(|| {
        Problem::bad_request("skipToken is not one of ours. Follow nextLink as it is.")
    })
}

fn status(operation: AnyOperation, context: &RequestContext) -> Response {
    let is_running = match &operation {
        AnyOperation::Resource(operation) => !operation.state.is_terminal(),
        AnyOperation::Group(operation) => !operation.is_terminal(),
    };
    let mut response =
        Json(OperationStatus::from(operation).explained(&context.base_url)).into_response();
    if is_running {
        response
            .headers_mut()
            .insert(RETRY_AFTER, context.retry_after().into());
    }
    response
}

async fn result(
    api: &Api,
    operation: &Operation,
    uri: &Uri,
    context: &RequestContext,
) -> Result<Response, Problem> {
    match (operation.state.ended(), operation.kind) {
        (None, _) => Ok(running(uri, context)),
        (Some(Ended::Succeeded), Kind::Put) => {
            let properties = match &operation.result {
                Some(Value::Object(properties)) => properties.clone(),
                _ => Map::new(),
            };
            let resource = AwsResource::of(operation, properties);
            Ok(Json(resource.in_state("Succeeded")).into_response())
        }
        (Some(Ended::Succeeded), Kind::Delete) => Ok(StatusCode::NO_CONTENT.into_response()),
        (Some(Ended::Succeeded), Kind::Import) => {
            let reference = api.app.imported(operation).await;
            let reference = reference.map_err(|rejection| Problem::of(rejection, context))?;
            Ok(match reference {
                Some(reference) => Json(ReferenceBody::from(reference)).into_response(),
                // It was imported, and has been forgotten since.
                None => StatusCode::NO_CONTENT.into_response(),
            })
        }
        (Some(Ended::Failed(failure) | Ended::Canceled(failure)), _) => {
            Err(Problem::of_ended(failure, context))
        }
    }
}

fn group_result(
    operation: &GroupOperation,
    uri: &Uri,
    context: &RequestContext,
) -> Result<Response, Problem> {
    match (operation.is_terminal(), operation.failure()) {
        (false, _) => Ok(running(uri, context)),
        (true, Some(failure)) => Err(Problem::of_ended(failure, context)),
        (true, None) => Ok(match ImportResult::of(operation) {
            Some(result) => Json(result).into_response(),
            None => StatusCode::NO_CONTENT.into_response(),
        }),
    }
}

fn running(uri: &Uri, context: &RequestContext) -> Response {
    let location = context.absolute(uri.path());
    let retry_after = context.retry_after().to_string();
    (
        StatusCode::ACCEPTED,
        [(LOCATION, location), (RETRY_AFTER, retry_after)],
    )
        .into_response()
}

async fn aws_operation(
    api: &Api,
    place: [&str; 4],
    id: &str,
    context: &RequestContext,
) -> Result<Operation, Problem> {
    let operation = operation(api, id, context).await?;
    let (scope, namespace) = (&operation.scope, operation.type_name.namespace());
    let own = [&scope.plane, &scope.account, &scope.region, &namespace];
    let here = own
        .iter()
        .zip(place)
        .all(|(own, given)| own.eq_ignore_ascii_case(given));
    if here {
        Ok(operation)
    } else {
        Err(no_such_operation(id))
    }
}

async fn plane_operation(
    api: &Api,
    plane: &str,
    id: &str,
    context: &RequestContext,
) -> Result<AnyOperation, Problem> {
    let parsed = id.parse().map_err(|_| no_such_operation(id))?;
    let operation = api.app.any_operation(parsed).await;
    let operation = operation.map_err(|rejection| Problem::of(rejection, context))?;
    let group = match &operation {
        AnyOperation::Resource(operation) => operation.reference.as_ref().map(|id| &id.group),
        AnyOperation::Group(operation) => Some(&operation.group),
    };
    if group.is_some_and(|group| group.plane.eq_ignore_ascii_case(plane)) {
        Ok(operation)
    } else {
        Err(no_such_operation(id))
    }
}

async fn operation(api: &Api, id: &str, context: &RequestContext) -> Result<Operation, Problem> {
    let parsed = id.parse().map_err(|_| no_such_operation(id))?;
    api.app
        .operation(parsed)
        .await
        .map_err(|rejection| Problem::of(rejection, context))
}

fn no_such_operation(id: &str) -> Problem {
    let shown: String = id.chars().take(80).flat_map(char::escape_debug).collect();
    let message = format!("There is no operation '{shown}' here.");
    Problem::new(StatusCode::NOT_FOUND, Failure::new("NotFound", message))
}
