use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::header::{LOCATION, RETRY_AFTER};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};
use ucp_model::operation::Kind;
use ucp_model::{Failure, Operation, PlaneId, PlaneKind, State as Progress};

use crate::Api;
use crate::context::RequestContext;
use crate::problem::Problem;
use crate::routes::{accepted, polling_urls};
use crate::wire::{AwsResource, ErrorResponse, OperationStatus};

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
    let operation = cancelled(&api, &operation, &context).await?;
    let urls = polling_urls(&operation, &context);
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
    result(operation, &uri, &context)
}

/// Answers the status of an operation on a reference.
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

/// Asks for an operation on a reference to be cancelled. It ends `Canceled` only when AWS confirms.
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
    let operation = cancelled(&api, &operation, &context).await?;
    let plane = PlaneId {
        kind: PlaneKind::Radius,
        name: plane,
    };
    let urls = context.plane_urls(&plane, &operation);
    Ok(accepted(StatusCode::ACCEPTED, json!({}), urls, &context))
}

/// Answers what an operation on a reference came to.
#[utoipa::path(get, tag = "Operations",
    path = "/planes/radius/{plane}/providers/System.Resources/locations/global/operationResults/{id}",
    params(("plane" = String, Path), ("id" = String, Path)),
    responses((status = 200, description = "A put succeeded", body = AwsResource),
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
    let operation = plane_operation(&api, &plane, &id, &context).await?;
    result(operation, &uri, &context)
}

async fn cancelled(
    api: &Api,
    operation: &Operation,
    context: &RequestContext,
) -> Result<Operation, Problem> {
    let operation = api.app.cancel_operation(operation.id).await;
    operation.map_err(|rejection| Problem::of(rejection, context))
}

fn status(operation: Operation, context: &RequestContext) -> Response {
    let is_running = !operation.state.is_terminal();
    let mut response = Json(OperationStatus::from(operation)).into_response();
    if is_running {
        response
            .headers_mut()
            .insert(RETRY_AFTER, context.retry_after().into());
    }
    response
}

fn result(operation: Operation, uri: &Uri, context: &RequestContext) -> Result<Response, Problem> {
    match (&operation.state, operation.kind) {
        (Progress::Succeeded, Kind::Put) => {
            let properties = match &operation.result {
                Some(Value::Object(properties)) => properties.clone(),
                _ => Map::new(),
            };
            let resource = AwsResource::of(&operation, properties);
            Ok(Json(resource.in_state("Succeeded")).into_response())
        }
        (Progress::Succeeded, Kind::Delete) => Ok(StatusCode::NO_CONTENT.into_response()),
        (Progress::Failed(failure) | Progress::Canceled(failure), _) => {
            Err(Problem::of_ended(failure, context))
        }
        (
            Progress::Accepted
            | Progress::Submitting(_)
            | Progress::Waiting(..)
            | Progress::Observing(_)
            | Progress::Salvaging(..)
            | Progress::Adopting(_),
            _,
        ) => {
            let location = context.absolute(uri.path());
            let retry_after = context.retry_after().to_string();
            Ok((
                StatusCode::ACCEPTED,
                [(LOCATION, location), (RETRY_AFTER, retry_after)],
            )
                .into_response())
        }
    }
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
) -> Result<Operation, Problem> {
    let operation = operation(api, id, context).await?;
    let reference = operation.reference.as_ref();
    let here = reference.is_some_and(|reference| reference.group.plane.eq_ignore_ascii_case(plane));
    if here {
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
