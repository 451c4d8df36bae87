use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};
use ucp_app::OperationQuery;
use ucp_model::operation::{GroupWork, Kind, ResourceWork, Work};
use ucp_model::{Ended, Operation, OperationId, PlaneId, PlaneKind, excerpt};
use ucp_wire::ErrorResponse;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::context::RequestContext;
use crate::path::{GroupPath, OperationPath, PlaneOperationPath};
use crate::polling_paths::PollingPaths;
use crate::problem::Problem;
use crate::query::{Moment, OperationFilter, Page};
use crate::replies::Json;
use crate::router::router;
use crate::state::Api;
use crate::wire::{
    AwsResource, ImportResult, ImportedReference, List, OperationList, OperationStatus, SetResult,
};

/// Registers the handlers.
pub(crate) fn routes() -> OpenApiRouter<Arc<Api>> {
    router()
        .routes(routes!(list_resource_group_operations))
        .routes(routes!(get_operation_status))
        .routes(routes!(cancel_operation))
        .routes(routes!(get_operation_result))
        .routes(routes!(get_plane_operation_status))
        .routes(routes!(cancel_plane_operation))
        .routes(routes!(get_plane_operation_result))
}

/// Returns the status of an operation on an AWS resource.
///
/// The reply is 200 in every state. Only the store is read; polling does not advance the operation.
#[utoipa::path(get, tag = "Operations", path = "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/locations/global/operationStatuses/{id}",
    params(OperationPath),
    responses((status = 200, body = OperationStatus, headers(("Retry-After" = u64))),
        (status = 404, body = ErrorResponse)))]
async fn get_operation_status(
    State(api): State<Arc<Api>>,
    path: OperationPath,
    context: RequestContext,
) -> Result<Response, Problem> {
    let operation = aws_operation(&api, &path, &context).await?;
    status(&api, operation, &context).await
}

/// Requests cancellation of an operation on an AWS resource.
///
/// The operation ends `Canceled` only if AWS confirms the cancellation.
#[utoipa::path(post, tag = "Operations", path = "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/locations/global/operationStatuses/{id}/:cancel",
    params(OperationPath),
    responses((status = 202, description = "Requested; poll the URLs in the headers", body = OperationStatus,
            headers(("Azure-AsyncOperation" = String), ("Location" = String), ("Retry-After" = u64))),
        (status = 404, body = ErrorResponse),
        (status = 409, description = "The operation has ended", body = ErrorResponse)))]
async fn cancel_operation(
    State(api): State<Arc<Api>>,
    path: OperationPath,
    context: RequestContext,
) -> Result<Response, Problem> {
    let operation = aws_operation(&api, &path, &context).await?;
    let cancelled = api
        .app
        .operations
        .cancel_operation(&operation, &context.caller);
    let operation = cancelled.await?;
    let polling = PollingPaths::from(&operation);
    Ok(cancelling(operation, polling, &context))
}

/// Returns the result of an operation on an AWS resource.
///
/// This is the reply that the original request would have received had it waited.
#[utoipa::path(get, tag = "Operations", path = "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/locations/global/operationResults/{id}",
    params(OperationPath),
    responses((status = 200, description = "The put succeeded", body = AwsResource),
        (status = 202, description = "The operation is in progress", headers(("Location" = String), ("Retry-After" = u64))),
        (status = 204, description = "The delete succeeded"), (status = 404, body = ErrorResponse),
        (status = "4XX", description = "The operation failed", body = ErrorResponse),
        (status = "5XX", description = "The operation failed", body = ErrorResponse)))]
async fn get_operation_result(
    State(api): State<Arc<Api>>,
    path: OperationPath,
    context: RequestContext,
    uri: Uri,
) -> Result<Response, Problem> {
    let operation = aws_operation(&api, &path, &context).await?;
    result(&api, &operation, &uri, &context).await
}

/// Returns the status of an operation on a reference or a resource group.
///
/// The reply is 200 in every state. Only the store is read; polling does not advance the operation.
#[utoipa::path(get, tag = "Operations", path = "/planes/radius/{plane}/providers/System.Resources/locations/global/operationStatuses/{id}",
    params(PlaneOperationPath),
    responses((status = 200, body = OperationStatus, headers(("Retry-After" = u64))),
        (status = 404, body = ErrorResponse)))]
async fn get_plane_operation_status(
    State(api): State<Arc<Api>>,
    path: PlaneOperationPath,
    context: RequestContext,
) -> Result<Response, Problem> {
    let operation = plane_operation(&api, &path, &context).await?;
    status(&api, operation, &context).await
}

/// Requests cancellation of an operation on a reference or a resource group.
///
/// The operation ends `Canceled` only if AWS confirms the cancellation. An operation on a group ends once all
/// operations that it started have ended.
#[utoipa::path(post, tag = "Operations", path = "/planes/radius/{plane}/providers/System.Resources/locations/global/operationStatuses/{id}/:cancel",
    params(PlaneOperationPath),
    responses((status = 202, description = "Requested; poll the URLs in the headers", body = OperationStatus,
            headers(("Azure-AsyncOperation" = String), ("Location" = String), ("Retry-After" = u64))),
        (status = 404, body = ErrorResponse),
        (status = 409, description = "The operation has ended", body = ErrorResponse)))]
async fn cancel_plane_operation(
    State(api): State<Arc<Api>>,
    path: PlaneOperationPath,
    context: RequestContext,
) -> Result<Response, Problem> {
    let operation = plane_operation(&api, &path, &context).await?;
    let cancelled = api
        .app
        .operations
        .cancel_operation(&operation, &context.caller);
    let operation = cancelled.await?;
    let plane = PlaneId {
        kind: PlaneKind::Radius,
        name: path.plane,
    };
    let polling = PollingPaths::below(&plane, operation.header.id);
    Ok(cancelling(operation, polling, &context))
}

/// Returns the result of an operation on a reference or a resource group.
///
/// This is the reply that the original request would have received had it waited.
#[utoipa::path(get, tag = "Operations", path = "/planes/radius/{plane}/providers/System.Resources/locations/global/operationResults/{id}",
    params(PlaneOperationPath),
    responses((status = 200, description = "The outcomes of an import into a group; what has become of a set that was applied; the AWS resource for a put",
            body = ImportResult),
        (status = 202, description = "The operation is in progress", headers(("Location" = String), ("Retry-After" = u64))),
        (status = 204, description = "The delete succeeded"), (status = 404, body = ErrorResponse),
        (status = "4XX", description = "The operation failed", body = ErrorResponse),
        (status = "5XX", description = "The operation failed", body = ErrorResponse)))]
async fn get_plane_operation_result(
    State(api): State<Arc<Api>>,
    path: PlaneOperationPath,
    context: RequestContext,
    uri: Uri,
) -> Result<Response, Problem> {
    let operation = plane_operation(&api, &path, &context).await?;
    result(&api, &operation, &uri, &context).await
}

/// Lists the operations on a resource group and on its references, newest first.
///
/// Operations that have ended are included until their retention time is over.
#[utoipa::path(get, tag = "Operations", path = "/planes/radius/{plane}/resourcegroups/{group}/operations",
    params(GroupPath, OperationFilter, Page),
    responses((status = 200, body = OperationList), (status = 404, body = ErrorResponse)))]
async fn list_resource_group_operations(
    State(api): State<Arc<Api>>,
    path: GroupPath,
    OperationFilter { status }: OperationFilter,
    page: Page,
    context: RequestContext,
) -> Result<Json<OperationList>, Problem> {
    let query = OperationQuery {
        status,
        after: page
            .after()?
            .map(|Moment(accepted_at, id)| (accepted_at, id)),
        top: page.top,
    };
    let group = path.id()?;
    let listed = api
        .app
        .operations
        .list_operations(&group, query, &context.caller);
    let (operations, next) = listed.await?;
    let next_link = next.map(|(accepted_at, id)| {
        let link = page.next_link_after(Moment(accepted_at, id), &context);
        match status {
            Some(status) => format!("{link}&status={}", status.as_str()),
            None => link,
        }
    });
    let statuses = operations.items.into_iter().map(OperationStatus::from);
    Ok(Json(List {
        next_link,
        ..List::of(statuses.map(|status| status.in_list().explained(&context.base_url)))
    }))
}

async fn status(
    api: &Api,
    operation: Operation,
    context: &RequestContext,
) -> Result<Response, Problem> {
    let is_running = !operation.is_terminal();
    let setbacks = api.app.operations.setbacks_of(&operation).await?;
    let body = OperationStatus::of(operation, &setbacks).explained(&context.base_url);
    Ok(if is_running {
        (context.again(), Json(body)).into_response()
    } else {
        Json(body).into_response()
    })
}

/// Replies to a requested cancellation with the status of the operation.
fn cancelling(operation: Operation, polling: PollingPaths, context: &RequestContext) -> Response {
    let status = OperationStatus::from(operation).explained(&context.base_url);
    context.under_way(StatusCode::ACCEPTED, status, polling)
}

async fn result(
    api: &Api,
    operation: &Operation,
    uri: &Uri,
    context: &RequestContext,
) -> Result<Response, Problem> {
    match operation.ended() {
        None => Ok(context.not_yet(uri.path())),
        Some(Ended::Failed(failure) | Ended::Canceled(failure)) => {
            Err(Problem::ended(failure.clone()))
        }
        Some(Ended::Succeeded) => match &operation.work {
            Work::Resource(work) => resource_result(api, operation, work).await,
            Work::Group(work) => Ok(group_result(work)),
        },
    }
}

async fn resource_result(
    api: &Api,
    operation: &Operation,
    work: &ResourceWork,
) -> Result<Response, Problem> {
    match work.kind {
        Kind::Put => {
            let properties = match &work.result {
                Some(Value::Object(properties)) => properties.clone(),
                Some(_) | None => Map::new(),
            };
            let resource = AwsResource::of(&work.type_name, work.target(), properties)
                .with_warnings(work.warnings.clone());
            Ok(Json(resource.in_state("Succeeded")).into_response())
        }
        Kind::Delete => Ok(StatusCode::NO_CONTENT.into_response()),
        Kind::Import | Kind::Resolve => Ok(match api.app.resources.imported(operation).await? {
            Some(reference) => {
                Json(ImportedReference::new(reference, work.warnings.clone())).into_response()
            }
            // The reference has been deleted since, or the create had made nothing.
            None => StatusCode::NO_CONTENT.into_response(),
        }),
    }
}

fn group_result(work: &GroupWork) -> Response {
    match (
        ImportResult::of(work),
        SetResult::of(work, &BTreeMap::new()),
    ) {
        (Some(result), _) => Json(result).into_response(),
        (None, Some(result)) => Json(result).into_response(),
        (None, None) => StatusCode::NO_CONTENT.into_response(),
    }
}

async fn aws_operation(
    api: &Api,
    path: &OperationPath,
    context: &RequestContext,
) -> Result<Operation, Problem> {
    let id = operation_id(&path.id)?;
    let operation = api
        .app
        .operations
        .operation_for(id, &context.caller)
        .await?;
    let is_here = operation.work.resource().is_some_and(|work| {
        let (scope, namespace) = (&work.scope, work.type_name.namespace());
        let own = [&scope.plane, &scope.account, &scope.region, &namespace];
        let given = [&path.plane, &path.account, &path.region, &path.namespace];
        own.iter()
            .zip(given)
            .all(|(own, given)| own.eq_ignore_ascii_case(given))
    });
    if is_here {
        Ok(operation)
    } else {
        Err(no_such_operation(&path.id))
    }
}

async fn plane_operation(
    api: &Api,
    path: &PlaneOperationPath,
    context: &RequestContext,
) -> Result<Operation, Problem> {
    let id = operation_id(&path.id)?;
    let operation = api
        .app
        .operations
        .operation_for(id, &context.caller)
        .await?;
    let group = operation.work.group_id();
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
    Problem::not_found(format!(
        "There is no operation '{}' at this path.",
        excerpt(id)
    ))
}
