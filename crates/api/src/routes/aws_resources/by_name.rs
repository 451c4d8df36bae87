use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use ucp_app::{DeleteResource, ReadResource, Selector};
use ucp_wire::ErrorResponse;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::outcome::{delete, put};
use crate::context::{Preference, RequestContext, UnderWay};
use crate::json::JsonObject;
use crate::members;
use crate::path::{CollectionPath, ResourcePath};
use crate::problem::Problem;
use crate::query::{AwsPage, PlanQuery};
use crate::replies::Json;
use crate::router::{router, single};
use crate::state::Api;
use crate::wire::{
    ActionRequest, AwsResource, AwsResourceList, List, WhatIfRequest, WhatIfResult,
    what_if_settings,
};

/// Registers the handlers.
pub(crate) fn routes() -> OpenApiRouter<Arc<Api>> {
    router()
        .routes(routes!(list_aws_resources))
        .routes(routes!(what_if_named_aws_resource))
        .merge(single(routes!(
            get_named_aws_resource,
            put_named_aws_resource,
            update_named_aws_resource,
            delete_named_aws_resource
        )))
}

/// Lists the resources of a type in AWS, with the properties that AWS includes in lists.
///
/// Resources without a reference are included.
#[utoipa::path(get, tag = "AWS resources",
    path = "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/{type}",
    params(CollectionPath, AwsPage),
    responses((status = 200, body = AwsResourceList), (status = 404, body = ErrorResponse),
        (status = 409, body = ErrorResponse)))]
async fn list_aws_resources(
    State(api): State<Arc<Api>>,
    path: CollectionPath,
    context: RequestContext,
    AwsPage { page }: AwsPage,
) -> Result<Json<AwsResourceList>, Problem> {
    let (scope, type_name) = (path.scope()?, path.type_name()?);
    let skip_token = page.skip_token.as_deref();
    let listed = api
        .app
        .resources
        .list_resources(&scope, &type_name, skip_token, &context.caller.room)
        .await?;
    let next_token = listed.next_token.as_deref();
    Ok(Json(List {
        next_link: next_token.map(|token| page.next_link(token, &context)),
        ..List::of(listed.resources)
    }))
}

/// Reads a resource from AWS.
///
/// AWS is called while the request waits.
#[utoipa::path(get, tag = "AWS resources",
    path = "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/{type}/{identifier}",
    params(ResourcePath),
    responses((status = 200, body = AwsResource), (status = 404, body = ErrorResponse),
        (status = 409, body = ErrorResponse)))]
async fn get_named_aws_resource(
    State(api): State<Arc<Api>>,
    path: ResourcePath,
    context: RequestContext,
) -> Result<Json<AwsResource>, Problem> {
    let read = ReadResource {
        scope: path.scope()?,
        type_name: path.type_name()?,
        resource: Selector::Name(path.identifier),
    };
    let resource = api
        .app
        .resources
        .get_resource(read, &context.caller)
        .await?;
    Ok(Json(resource.into()))
}

/// Creates or updates the named resource to match the declaration.
///
/// Nothing is changed if the resource already matches. References to it are not changed.
#[utoipa::path(put, tag = "AWS resources",
    path = "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/{type}/{identifier}",
    params(ResourcePath, PlanQuery, Preference),
    request_body = ActionRequest,
    responses((status = 200, description = "Nothing to do", body = AwsResource),
        (status = 201, description = "Accepted; poll the URLs in the headers", body = AwsResource,
            headers(("Azure-AsyncOperation" = String), ("Location" = String), ("Retry-After" = u64))),
        (status = 404, description = "The resource does not exist, and AWS assigns the identifiers of its type", body = ErrorResponse),
        (status = 409, body = ErrorResponse),
        (status = 412, description = "The plan must not be used", body = ErrorResponse)))]
async fn put_named_aws_resource(
    State(api): State<Arc<Api>>,
    path: ResourcePath,
    query: PlanQuery,
    context: RequestContext,
    body: Option<JsonObject>,
) -> Result<Response, Problem> {
    let (scope, type_name) = (path.scope()?, path.type_name()?);
    let mut request = match (&body, query.plan) {
        (None, Some(_)) => ActionRequest::default(),
        _ => untracked(body).await?,
    };
    if query.plan.is_some() && request.plan_id.is_some_and(|plan| query.plan != Some(plan)) {
        let message = "/planId: differs from the planId of the query. Send only one of them.";
        return Err(Problem::bad_request(message).at("/planId"));
    }
    request.plan_id = query.plan.or(request.plan_id);
    let declared = request.put(scope, type_name, Some(path.identifier));
    put(api, declared, StatusCode::CREATED, &context).await
}

/// Tells what a PUT of the named resource would do, and keeps the plan. AWS is only read.
///
/// What the PUT refuses at once is refused alike. What only the look at the resource shows is told with the changes.
#[utoipa::path(post, tag = "AWS resources",
    path = "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/{type}/{identifier}/:whatIf",
    params(ResourcePath),
    request_body = WhatIfRequest,
    responses((status = 200, body = WhatIfResult), (status = 404, body = ErrorResponse),
        (status = 409, body = ErrorResponse)))]
async fn what_if_named_aws_resource(
    State(api): State<Arc<Api>>,
    path: ResourcePath,
    context: RequestContext,
    mut body: Option<JsonObject>,
) -> Result<Json<WhatIfResult>, Problem> {
    let (scope, type_name) = (path.scope()?, path.type_name()?);
    let settings = body.as_mut().map(what_if_settings).transpose()?;
    let settings = settings.unwrap_or_default();
    let put = without_plan(body)
        .await?
        .put(scope, type_name, Some(path.identifier));
    let what_if = api
        .app
        .resources
        .what_if_put(put, settings.lifetime(), &context.caller);
    Ok(Json(WhatIfResult::new(what_if.await?, settings)))
}

/// Updates the named resource to match the declaration, and keeps its other properties.
///
/// The same as a PUT in merge mode, except that it creates nothing. References to the resource are not changed.
#[utoipa::path(patch, tag = "AWS resources",
    path = "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/{type}/{identifier}",
    params(ResourcePath, Preference),
    request_body = ActionRequest,
    responses((status = 200, description = "Nothing to do", body = AwsResource),
        (status = 202, description = "Accepted; poll the URLs in the headers", body = AwsResource,
            headers(("Azure-AsyncOperation" = String), ("Location" = String), ("Retry-After" = u64))),
        (status = 404, description = "The resource does not exist", body = ErrorResponse),
        (status = 409, body = ErrorResponse)))]
async fn update_named_aws_resource(
    State(api): State<Arc<Api>>,
    path: ResourcePath,
    context: RequestContext,
    body: Option<JsonObject>,
) -> Result<Response, Problem> {
    let (scope, type_name) = (path.scope()?, path.type_name()?);
    let declared = without_plan(body)
        .await?
        .patch(scope, type_name, path.identifier)?;
    put(api, declared, StatusCode::ACCEPTED, &context).await
}

/// Reads the body of a request by name that carries out no plan.
async fn without_plan(body: Option<JsonObject>) -> Result<ActionRequest, Problem> {
    if let Some(JsonObject(body, _)) = &body {
        members::without_plan(body)?;
    }
    untracked(body).await
}

/// Reads the body of a request by name, which is not tracked.
async fn untracked(body: Option<JsonObject>) -> Result<ActionRequest, Problem> {
    let body = body.ok_or_else(|| {
        Problem::bad_request(
            "The body is empty. Send {\"properties\":{…}}; {} declares only the name.",
        )
    })?;
    let request: ActionRequest = body.read().await?;
    if request.tracked_by.is_some() {
        return Err(Problem::bad_request(
            "/trackedBy: a put by name is not tracked. Use :put, or omit it.",
        ));
    }
    Ok(request)
}

/// Deletes the named resource.
///
/// All references to it are deleted too.
#[utoipa::path(delete, tag = "AWS resources",
    path = "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/{type}/{identifier}",
    params(ResourcePath, PlanQuery),
    responses(UnderWay, (status = 204, description = "Already gone"),
        (status = 404, body = ErrorResponse), (status = 409, body = ErrorResponse),
        (status = 412, description = "The plan must not be used", body = ErrorResponse)))]
async fn delete_named_aws_resource(
    State(api): State<Arc<Api>>,
    path: ResourcePath,
    query: PlanQuery,
    context: RequestContext,
) -> Result<Response, Problem> {
    let meant = DeleteResource {
        scope: path.scope()?,
        type_name: path.type_name()?,
        resource: Selector::Name(path.identifier),
        plan: query.plan,
    };
    delete(api, meant, &context).await
}
