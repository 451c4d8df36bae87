use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use ucp_app::DeleteOutcome;
use ucp_wire::ErrorResponse;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::context::{RequestContext, UnderWay};
use crate::json::JsonObject;
use crate::path::{ReferencePath, ReferencesPath};
use crate::polling_paths::PollingPaths;
use crate::problem::Problem;
use crate::query::{Page, PlanQuery};
use crate::replies::Json;
use crate::router::{router, single};
use crate::state::Api;
use crate::wire::{List, ReferenceBody, ReferenceList, ReleasedBody, UpdateReference};

/// Registers the handlers.
pub(crate) fn routes() -> OpenApiRouter<Arc<Api>> {
    router()
        .routes(routes!(list_references))
        .merge(single(routes!(
            get_reference,
            update_reference,
            delete_reference
        )))
        .routes(routes!(release_reference))
}

/// Returns a reference.
///
/// Its properties are those last observed; AWS is not called.
#[utoipa::path(get, tag = "References",
    path = "/planes/radius/{plane}/resourcegroups/{group}/providers/{namespace}/{type}/{alias}",
    params(ReferencePath),
    responses((status = 200, body = ReferenceBody), (status = 404, body = ErrorResponse)))]
async fn get_reference(
    State(api): State<Arc<Api>>,
    path: ReferencePath,
) -> Result<Json<ReferenceBody>, Problem> {
    Ok(Json(
        api.app.groups.get_reference(&path.id()?).await?.into(),
    ))
}

/// Lists the references of a resource type in a group.
///
/// Their properties are those last observed; AWS is not called.
#[utoipa::path(get, tag = "References",
    path = "/planes/radius/{plane}/resourcegroups/{group}/providers/{namespace}/{type}",
    params(ReferencesPath, Page),
    responses((status = 200, body = ReferenceList), (status = 404, body = ErrorResponse)))]
async fn list_references(
    State(api): State<Arc<Api>>,
    path: ReferencesPath,
    page: Page,
    context: RequestContext,
) -> Result<Json<ReferenceList>, Problem> {
    let (type_name, group, after) = (path.type_name()?, path.group()?, page.after()?);
    let references = api
        .app
        .groups
        .list_references(
            &group,
            Some(&type_name),
            after.as_ref(),
            page.top,
            &context.caller.room,
        )
        .await?;
    Ok(Json(List {
        next_link: page.next(&references, |reference| reference.id.clone(), &context),
        ..List::of(references.items)
    }))
}

/// Updates the ownership or the tags of a reference.
///
/// The AWS resource is not changed.
#[utoipa::path(patch, tag = "References",
    path = "/planes/radius/{plane}/resourcegroups/{group}/providers/{namespace}/{type}/{alias}",
    params(ReferencePath),
    request_body = UpdateReference,
    responses((status = 200, body = ReferenceBody), (status = 404, body = ErrorResponse),
        (status = 409, body = ErrorResponse)))]
async fn update_reference(
    State(api): State<Arc<Api>>,
    path: ReferencePath,
    context: RequestContext,
    body: JsonObject,
) -> Result<Json<ReferenceBody>, Problem> {
    let id = path.id()?;
    let update = body.read::<UpdateReference>().await?.update()?;
    let reference = api
        .app
        .groups
        .update_reference(&id, update, &context.caller);
    Ok(Json(reference.await?.into()))
}

/// Gives a reference up: it is removed, and its AWS resource is left alone, also one that it owns.
///
/// Another reference that was put, and whose group the caller may change, comes to own the resource.
#[utoipa::path(post, tag = "References",
    path = "/planes/radius/{plane}/resourcegroups/{group}/providers/{namespace}/{type}/{alias}/:release",
    params(ReferencePath),
    responses((status = 200, body = ReleasedBody), (status = 404, body = ErrorResponse),
        (status = 409, body = ErrorResponse)))]
async fn release_reference(
    State(api): State<Arc<Api>>,
    path: ReferencePath,
    context: RequestContext,
) -> Result<Json<ReleasedBody>, Problem> {
    let id = path.id()?;
    let released = api.app.groups.release_reference(&id, &context.caller);
    Ok(Json(released.await?.into()))
}

/// Deletes a reference.
///
/// If the reference owns its AWS resource, the resource is deleted too; otherwise it is kept. With a plan that deletes the
/// resource, it is deleted, owned or not.
#[utoipa::path(delete, tag = "References",
    path = "/planes/radius/{plane}/resourcegroups/{group}/providers/{namespace}/{type}/{alias}",
    params(ReferencePath, PlanQuery),
    responses((status = 200, description = "The reference is deleted; the AWS resource is kept"),
        UnderWay, (status = 204, description = "The reference did not exist"),
        (status = 404, body = ErrorResponse), (status = 409, body = ErrorResponse),
        (status = 412, description = "The plan must not be used", body = ErrorResponse)))]
async fn delete_reference(
    State(api): State<Arc<Api>>,
    path: ReferencePath,
    query: PlanQuery,
    context: RequestContext,
) -> Result<Response, Problem> {
    let id = path.id()?;
    let plane = id.group.plane_id();
    let caller = &context.caller;
    let outcome = match query.plan {
        Some(plan) => {
            api.app
                .resources
                .delete_planned_reference(&id, plan, caller)
                .await
        }
        None => api.app.resources.delete_reference(&id, caller).await,
    };
    Ok(match outcome? {
        DeleteOutcome::Accepted(operation) => {
            context.noted.changes(&operation);
            context.accepted(PollingPaths::below(&plane, operation.header.id))
        }
        DeleteOutcome::Forgotten => StatusCode::OK.into_response(),
        DeleteOutcome::AlreadyGone => StatusCode::NO_CONTENT.into_response(),
    })
}
