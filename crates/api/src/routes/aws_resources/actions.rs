use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use ucp_app::{DeleteResource, ImportOutcome, ReadResource, Selector, TrackedBy};
use ucp_model::{GroupId, ReferenceId, Scope, TypeName};
use ucp_wire::ErrorResponse;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::outcome::{delete, put};
use crate::context::{Preference, RequestContext, UnderWay};
use crate::json::JsonObject;
use crate::members;
use crate::path::CollectionPath;
use crate::problem::Problem;
use crate::replies::Json;
use crate::router::router;
use crate::state::Api;
use crate::wire::{
    ActionRequest, AwsResource, ImportRequest, ImportedReference, Valid, WhatIfRequest,
    WhatIfResult, what_if_settings,
};

/// Registers the handlers.
pub(crate) fn routes() -> OpenApiRouter<Arc<Api>> {
    router()
        .routes(routes!(import_aws_resource))
        .routes(routes!(put_aws_resource))
        .routes(routes!(get_aws_resource))
        .routes(routes!(delete_aws_resource))
        .routes(routes!(validate_aws_resource))
        .routes(routes!(what_if_aws_resource))
}

/// Creates or updates the resource behind an alias to match the declaration.
///
/// Nothing is changed if the resource already matches. `trackedBy` is the reference id. Without it nothing is tracked,
/// and each put of a type whose identifiers AWS assigns creates another resource.
#[utoipa::path(post, tag = "AWS resources",
    path = "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/{type}/:put",
    params(CollectionPath, Preference),
    request_body = ActionRequest,
    responses((status = 200, description = "Nothing to do", body = AwsResource),
        (status = 201, description = "Accepted; poll the URLs in the headers", body = AwsResource,
            headers(("Azure-AsyncOperation" = String), ("Location" = String), ("Retry-After" = u64))),
        (status = 404, body = ErrorResponse), (status = 409, body = ErrorResponse),
        (status = 412, description = "The plan must not be used", body = ErrorResponse)))]
async fn put_aws_resource(
    State(api): State<Arc<Api>>,
    path: CollectionPath,
    context: RequestContext,
    body: JsonObject,
) -> Result<Response, Problem> {
    let (scope, type_name) = (path.scope()?, path.type_name()?);
    let declared = declared(body).await?.put(scope, type_name, None);
    if let Some(tracked_by) = &declared.tracked_by {
        note(&context, tracked_by, &declared.scope, &declared.type_name);
    }
    put(api, declared, StatusCode::CREATED, &context).await
}

/// Tells all that is wrong with a declaration, without a call to AWS.
///
/// The body is that of a `:put`. Nothing is stored. What depends on the live resource is judged by the put alone.
#[utoipa::path(post, tag = "AWS resources",
    path = "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/{type}/:validate",
    params(CollectionPath),
    request_body = ActionRequest,
    responses((status = 200, description = "Nothing is wrong with it", body = Valid),
        (status = 404, body = ErrorResponse)))]
async fn validate_aws_resource(
    State(api): State<Arc<Api>>,
    path: CollectionPath,
    context: RequestContext,
    body: JsonObject,
) -> Result<Json<Valid>, Problem> {
    let (scope, type_name) = (path.scope()?, path.type_name()?);
    members::without_plan(&body.0)?;
    let put = declared(body).await?.put(scope, type_name, None);
    api.app
        .resources
        .validate_put(&put, &context.caller)
        .await?;
    Ok(Json(Valid::SUCCEEDED))
}

/// Tells what a `:put` would do, and keeps the plan. AWS is only read.
///
/// What a `:put` refuses at once is refused alike. What only the look at the resource shows is told with the changes.
#[utoipa::path(post, tag = "AWS resources",
    path = "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/{type}/:whatIf",
    params(CollectionPath),
    request_body = WhatIfRequest,
    responses((status = 200, body = WhatIfResult), (status = 404, body = ErrorResponse),
        (status = 409, body = ErrorResponse)))]
async fn what_if_aws_resource(
    State(api): State<Arc<Api>>,
    path: CollectionPath,
    context: RequestContext,
    mut body: JsonObject,
) -> Result<Json<WhatIfResult>, Problem> {
    let (scope, type_name) = (path.scope()?, path.type_name()?);
    let settings = what_if_settings(&mut body)?;
    members::without_plan(&body.0)?;
    let put = declared(body).await?.put(scope, type_name, None);
    let what_if = api
        .app
        .resources
        .what_if_put(put, settings.lifetime(), &context.caller);
    let what_if = what_if.await?;
    Ok(Json(WhatIfResult::new(what_if, settings)))
}

/// Reads a resource from AWS, selected by its reference or by the parts of its identifier.
///
/// AWS is called while the request waits.
#[utoipa::path(post, tag = "AWS resources",
    path = "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/{type}/:get",
    params(CollectionPath),
    request_body = ActionRequest,
    responses((status = 200, body = AwsResource), (status = 404, body = ErrorResponse),
        (status = 409, body = ErrorResponse)))]
async fn get_aws_resource(
    State(api): State<Arc<Api>>,
    path: CollectionPath,
    context: RequestContext,
    body: JsonObject,
) -> Result<Json<AwsResource>, Problem> {
    let read = ReadResource {
        scope: path.scope()?,
        type_name: path.type_name()?,
        resource: body.read_without_plan::<ActionRequest>().await?.selector(),
    };
    let resource = api
        .app
        .resources
        .get_resource(read, &context.caller)
        .await?;
    Ok(Json(resource.into()))
}

/// Deletes a resource, selected by its reference or by the parts of its identifier.
///
/// All references to it are deleted too.
#[utoipa::path(post, tag = "AWS resources",
    path = "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/{type}/:delete",
    params(CollectionPath),
    request_body = ActionRequest,
    responses(UnderWay, (status = 204, description = "Already gone"),
        (status = 404, body = ErrorResponse), (status = 409, body = ErrorResponse),
        (status = 412, description = "The plan must not be used", body = ErrorResponse)))]
async fn delete_aws_resource(
    State(api): State<Arc<Api>>,
    path: CollectionPath,
    context: RequestContext,
    body: JsonObject,
) -> Result<Response, Problem> {
    let request = body.read::<ActionRequest>().await?;
    let meant = DeleteResource {
        scope: path.scope()?,
        type_name: path.type_name()?,
        plan: request.plan_id,
        resource: request.selector(),
    };
    match &meant.resource {
        Selector::Reference(tracked_by) => {
            note(&context, tracked_by, &meant.scope, &meant.type_name);
        }
        Selector::Name(_) | Selector::Parts(_) => {}
    }
    delete(api, meant, &context).await
}

/// Imports an existing resource under an alias, without changing the resource.
///
/// Later puts with the same `trackedBy` update it.
#[utoipa::path(post, tag = "AWS resources",
    path = "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/{type}/:import",
    params(CollectionPath, Preference),
    request_body = ImportRequest,
    responses((status = 201, description = "The alias stands for the resource", body = ImportedReference),
        UnderWay, (status = 404, body = ErrorResponse), (status = 409, body = ErrorResponse)))]
async fn import_aws_resource(
    State(api): State<Arc<Api>>,
    path: CollectionPath,
    context: RequestContext,
    body: JsonObject,
) -> Result<Response, Problem> {
    let (scope, type_name) = (path.scope()?, path.type_name()?);
    let import = body.read_without_plan::<ImportRequest>().await?;
    let import = import.import(scope, type_name);
    if let Some(tracked_by) = &import.tracked_by {
        note(&context, tracked_by, &import.scope, &import.type_name);
    }
    match Box::pin(api.app.resources.import_resource(import, &context.caller)).await? {
        ImportOutcome::Imported(reference, warnings) => {
            let body = ImportedReference::new(*reference, warnings);
            Ok((StatusCode::CREATED, Json(body)).into_response())
        }
        ImportOutcome::Accepted(operation) => match operation.failure() {
            Some(failure) => Err(Problem::ended(failure.clone()).of(&operation)),
            None => Ok(context.accepted(&*operation)),
        },
    }
}

/// Reads the body of a put.
async fn declared(body: JsonObject) -> Result<ActionRequest, Problem> {
    let JsonObject(members, _) = &body;
    if members.is_empty() {
        return Err(Problem::bad_request(
            "The body declares nothing. Send {\"trackedBy\":…,\"properties\":{…}}.",
        ));
    }
    body.read().await
}

/// Notes for the audit which reference the body names, if it names one, and what it changes in AWS.
fn note(context: &RequestContext, tracked_by: &TrackedBy, scope: &Scope, type_name: &TypeName) {
    let of_group = |group: GroupId| {
        let alias = tracked_by.alias.as_deref()?;
        ReferenceId::new(group, type_name.clone(), alias).ok()
    };
    let reference = match tracked_by.id.parse::<GroupId>() {
        Ok(group) => of_group(group),
        Err(_) => tracked_by.id.parse().ok(),
    };
    if let Some(reference) = reference {
        context.noted.about(reference);
        context.noted.changes_type(scope, type_name);
    }
}
