use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};
use ucp_app::{AnyOperation, OperationQuery};
use ucp_model::operation::Kind;
use ucp_model::{Ended, GroupOperation, Operation, OperationId, PlaneId, PlaneKind, Timestamp};

use crate::context::{RequestContext, UnderWay};
use crate::path::{GroupPath, OperationPath, PlaneOperationPath};
use crate::polling_paths::PollingPaths;
use crate::problem::Problem;
use crate::query::{OperationFilter, Page, shown};
use crate::state::Api;
use crate::wire::{
    AwsResource, ErrorResponse, ImportResult, List, OperationList, OperationStatus, ReferenceBody,
};

/// Answers the status of an operation on an AWS resource.
///
/// The answer is 200 in every state, and from the store alone: asking moves nothing on.
#[utoipa::path(get, tag = "Operations", path = "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/locations/global/operationStatuses/{id}",
    params(OperationPath),
    responses((status = 200, body = OperationStatus, headers(("Retry-After" = u64))),
        (status = 404, body = ErrorResponse)))]
pub(crate) async fn get_operation_status(
    State(api): State<Arc<Api>>,
    path: OperationPath,
    context: RequestContext,
) -> Result<Response, Problem> {
    let operation = aws_operation(&api, &path).await?;
    Ok(status(AnyOperation::Resource(operation), &context))
}

/// Asks for an operation on an AWS resource to be cancelled.
///
/// It ends `Canceled` only when AWS confirms.
#[utoipa::path(post, tag = "Operations", path = "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/locations/global/operationStatuses/{id}/:cancel",
    params(OperationPath),
    responses(UnderWay, (status = 404, body = ErrorResponse),
        (status = 409, description = "It has ended", body = ErrorResponse)))]
pub(crate) async fn cancel_operation(
    State(api): State<Arc<Api>>,
    path: OperationPath,
    context: RequestContext,
) -> Result<Response, Problem> {
    let operation = aws_operation(&api, &path).await?;
    let polling = PollingPaths::from(&*operation);
    api.app
        .cancel_operation(&AnyOperation::Resource(operation))
        .await?;
    Ok(context.accepted(polling))
}

/// Answers what an operation on an AWS resource came to.
///
/// That is what its request would have been answered, had it waited.
#[utoipa::path(get, tag = "Operations", path = "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/locations/global/operationResults/{id}",
    params(OperationPath),
    responses((status = 200, description = "A put succeeded", body = AwsResource),
        (status = 202, description = "Running", headers(("Location" = String), ("Retry-After" = u64))),
        (status = 204, description = "A delete succeeded"), (status = 404, body = ErrorResponse),
        (status = "4XX", description = "It failed", body = ErrorResponse),
        (status = "5XX", description = "It failed", body = ErrorResponse)))]
pub(crate) async fn get_operation_result(
    State(api): State<Arc<Api>>,
    path: OperationPath,
    context: RequestContext,
    uri: Uri,
) -> Result<Response, Problem> {
    result(&api, &*aws_operation(&api, &path).await?, &uri, &context).await
}

/// Answers the status of an operation on a reference or a resource group.
///
/// The answer is 200 in every state, and from the store alone: asking moves nothing on.
#[utoipa::path(get, tag = "Operations", path = "/planes/radius/{plane}/providers/System.Resources/locations/global/operationStatuses/{id}",
    params(PlaneOperationPath),
    responses((status = 200, body = OperationStatus, headers(("Retry-After" = u64))),
        (status = 404, body = ErrorResponse)))]
pub(crate) async fn get_plane_operation_status(
    State(api): State<Arc<Api>>,
    path: PlaneOperationPath,
    context: RequestContext,
) -> Result<Response, Problem> {
    Ok(status(plane_operation(&api, &path).await?, &context))
}

/// Asks for an operation on a reference or a resource group to be cancelled.
///
/// It ends `Canceled` only when AWS confirms; one on a group once all that it started has ended.
#[utoipa::path(post, tag = "Operations", path = "/planes/radius/{plane}/providers/System.Resources/locations/global/operationStatuses/{id}/:cancel",
    params(PlaneOperationPath),
    responses(UnderWay, (status = 404, body = ErrorResponse),
        (status = 409, description = "It has ended", body = ErrorResponse)))]
pub(crate) async fn cancel_plane_operation(
    State(api): State<Arc<Api>>,
    path: PlaneOperationPath,
    context: RequestContext,
) -> Result<Response, Problem> {
    let operation = plane_operation(&api, &path).await?;
    api.app.cancel_operation(&operation).await?;
    let plane = PlaneId {
        kind: PlaneKind::Radius,
        name: path.plane,
    };
    Ok(context.accepted(PollingPaths::below(&plane, operation.id())))
}

/// Answers what an operation on a reference or a resource group came to.
///
/// That is what its request would have been answered, had it waited.
#[utoipa::path(get, tag = "Operations", path = "/planes/radius/{plane}/providers/System.Resources/locations/global/operationResults/{id}",
    params(PlaneOperationPath),
    responses((status = 200, description = "An import into a group ended; for a put of a reference, the AWS resource",
            body = ImportResult),
        (status = 202, description = "Running", headers(("Location" = String), ("Retry-After" = u64))),
        (status = 204, description = "A delete succeeded"), (status = 404, body = ErrorResponse),
        (status = "4XX", description = "It failed", body = ErrorResponse),
        (status = "5XX", description = "It failed", body = ErrorResponse)))]
pub(crate) async fn get_plane_operation_result(
    State(api): State<Arc<Api>>,
    path: PlaneOperationPath,
    context: RequestContext,
    uri: Uri,
) -> Result<Response, Problem> {
    match plane_operation(&api, &path).await? {
        AnyOperation::Resource(operation) => result(&api, &operation, &uri, &context).await,
        AnyOperation::Group(operation) => group_result(&operation, &uri, &context),
    }
}

/// Lists the operations on a resource group and on what it tracks, the latest first.
///
/// Operations that have ended are listed until they are forgotten.
#[utoipa::path(get, tag = "Operations", path = "/planes/radius/{plane}/resourcegroups/{group}/operations",
    params(GroupPath, OperationFilter, Page),
    responses((status = 200, body = OperationList), (status = 404, body = ErrorResponse)))]
pub(crate) async fn list_resource_group_operations(
    State(api): State<Arc<Api>>,
    path: GroupPath,
    OperationFilter { status }: OperationFilter,
    page: Page,
    context: RequestContext,
) -> Result<Json<OperationList>, Problem> {
    let query = OperationQuery {
        status,
        after: page.skip_token.as_deref().map(place).transpose()?,
        top: page.top,
    };
    let (operations, has_more) = api.app.list_operations(&path.id()?, query).await?;
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
    Ok(Json(List {
        next_link,
        ..List::of(statuses.map(|status| status.explained(&context.base_url)))
    }))
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
    let is_running = !operation.is_terminal();
    let body = Json(OperationStatus::from(operation).explained(&context.base_url));
    if is_running {
        (context.again(), body).into_response()
    } else {
        body.into_response()
    }
}

async fn result(
    api: &Api,
    operation: &Operation,
    uri: &Uri,
    context: &RequestContext,
) -> Result<Response, Problem> {
    match (operation.state.ended(), operation.kind) {
        (None, _) => Ok(context.not_yet(uri.path())),
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
            Ok(match api.app.imported(operation).await? {
                Some(reference) => Json(ReferenceBody::from(reference)).into_response(),
                // It was imported, and has been forgotten since.
                None => StatusCode::NO_CONTENT.into_response(),
            })
        }
        (Some(Ended::Failed(failure) | Ended::Canceled(failure)), _) => {
            Err(Problem::ended(failure.clone()))
        }
    }
}

fn group_result(
    operation: &GroupOperation,
    uri: &Uri,
    context: &RequestContext,
) -> Result<Response, Problem> {
    match (operation.is_terminal(), operation.failure()) {
        (false, _) => Ok(context.not_yet(uri.path())),
        (true, Some(failure)) => Err(Problem::ended(failure.clone())),
        (true, None) => Ok(match ImportResult::of(operation) {
            Some(result) => Json(result).into_response(),
            None => StatusCode::NO_CONTENT.into_response(),
        }),
    }
}

async fn aws_operation(api: &Api, path: &OperationPath) -> Result<Box<Operation>, Problem> {
    let operation = api.app.operation(operation_id(&path.id)?).await?;
    let (scope, namespace) = (&operation.scope, operation.type_name.namespace());
    let own = [&scope.plane, &scope.account, &scope.region, &namespace];
    let given = [&path.plane, &path.account, &path.region, &path.namespace];
    let here = own.iter().zip(given);
    if here
        .into_iter()
        .all(|(own, given)| own.eq_ignore_ascii_case(given))
    {
        Ok(Box::new(operation))
    } else {
        Err(no_such_operation(&path.id))
    }
}

async fn plane_operation(api: &Api, path: &PlaneOperationPath) -> Result<AnyOperation, Problem> {
    let operation = api.app.any_operation(operation_id(&path.id)?).await?;
    let group = match &operation {
        AnyOperation::Resource(operation) => operation.reference.as_ref().map(|id| &id.group),
        AnyOperation::Group(operation) => Some(&operation.group),
    };
    if group.is_some_and(|group| group.plane.eq_ignore_ascii_case(&path.plane)) {
        Ok(operation)
    } else {
        Err(no_such_operation(&path.id))
    }
}

fn operation_id(given: &str) -> Result<OperationId, Problem> {
    given.parse().map_err(|_| no_such_operation(given))
}

fn no_such_operation(id: &str) -> Problem {
    Problem::not_found(format!("There is no operation '{}' here.", shown(id, 80)))
}
