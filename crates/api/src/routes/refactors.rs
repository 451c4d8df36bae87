use std::sync::Arc;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use ucp_app::{RefactorBase, RefactorMode, RefactorQuery, Refactored, Rejection};
use ucp_model::{GroupId, Refactor, RefactorContent, RefactorId, excerpt};
use ucp_wire::{ErrorResponse, RefactorBody};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::action::Effect;
use crate::context::RequestContext;
use crate::json::{JsonObject, LargeBody};
use crate::path::{GroupPath, RadiusPlanePath, RefactorPath};
use crate::problem::Problem;
use crate::query::{GroupQuery, Moment, Page};
use crate::rated;
use crate::replies::Json;
use crate::router::router;
use crate::state::Api;
use crate::wire::{List, RefactorList, RefactorRequest, SeenRefactor};

/// What tells of no more is written at once.
const QUICK_MAX: usize = 100;

/// Registers the handlers.
pub(crate) fn routes() -> OpenApiRouter<Arc<Api>> {
    router()
        .routes(routes!(refactor_plane))
        .routes(routes!(refactor_resource_group))
        .routes(routes!(list_refactors))
        .routes(routes!(get_refactor))
        .routes(routes!(apply_refactor))
        .routes(routes!(undo_refactor))
}

/// Tells which tracked resources are declared under another alias or in another group, or moves them.
///
/// The body says all that the named groups shall hold. With `plan` the record of what was found is kept; with `apply`
/// everything moves in one transaction, or nothing. AWS is neither read nor changed: no resource is created, replaced or deleted.
///
/// With `deploy` what changes is put then, each resource after those that it refers to. The reply is 202 with the record, unless
/// nothing changes. If a put fails, everything moves back.
#[utoipa::path(post, path = "/planes/radius/{plane}/:refactor", tag = "Refactors",
    params(RadiusPlanePath),
    request_body = RefactorRequest,
    responses((status = 200, body = RefactorBody),
        (status = 202, description = "Everything has moved, and what changes is put; poll the URLs in the headers", body = RefactorBody,
            headers(("Azure-AsyncOperation" = String), ("Location" = String), ("Retry-After" = u64))),
        (status = 409, description = "Something is ambiguous or cannot move, or another operation is under way", body = ErrorResponse),
        (status = 412, description = "It has another fingerprint", body = ErrorResponse),
        (status = 413, body = ErrorResponse)))]
async fn refactor_plane(
    State(api): State<Arc<Api>>,
    path: RadiusPlanePath,
    uri: Uri,
    context: RequestContext,
    body: LargeBody,
) -> Result<Response, Problem> {
    let plane = path.id()?.name;
    refactor(
        &api,
        &plane,
        RefactorBase::Plane(plane.clone()),
        (&context, uri.path()),
        body,
    )
    .await
}

/// Tells which tracked resources of a resource group are declared under another alias, or moves them.
///
/// Like `:refactor` of the plane, for one group, with `resources` instead of `groups`. The group must exist.
#[utoipa::path(post, path = "/planes/radius/{plane}/resourcegroups/{group}/:refactor", tag = "Refactors",
    params(GroupPath),
    request_body = RefactorRequest,
    responses((status = 200, body = RefactorBody),
        (status = 202, description = "Everything has moved, and what changes is put; poll the URLs in the headers", body = RefactorBody,
            headers(("Azure-AsyncOperation" = String), ("Location" = String), ("Retry-After" = u64))), (status = 404, body = ErrorResponse),
        (status = 409, description = "Something is ambiguous or cannot move, or another operation is under way", body = ErrorResponse),
        (status = 412, description = "It has another fingerprint", body = ErrorResponse),
        (status = 413, body = ErrorResponse)))]
async fn refactor_resource_group(
    State(api): State<Arc<Api>>,
    path: GroupPath,
    uri: Uri,
    context: RequestContext,
    body: LargeBody,
) -> Result<Response, Problem> {
    let group = path.id()?;
    let plane = group.plane.clone();
    refactor(
        &api,
        &plane,
        RefactorBase::Group(group),
        (&context, uri.path()),
        body,
    )
    .await
}

async fn refactor(
    api: &Api,
    plane: &str,
    base: RefactorBase,
    (context, path): (&RequestContext, &str),
    body: LargeBody,
) -> Result<Response, Problem> {
    let read = move |members| {
        let count = RefactorRequest::count(&members);
        RefactorRequest::read(members, base).map(|declared| (declared, count))
    };
    // Its place among the large ones is kept until the reply.
    let ((declared, count), _place) = body.read(api, read).await?;
    if declared.mode == RefactorMode::Plan {
        context.noted.changes_nothing();
    }
    rated::count_members(api, context, path, Effect::Write, count)?;
    let refactored = api.app.refactors.refactor(plane, declared, &context.caller);
    let Refactored { record, deployment } = Box::pin(refactored).await?;
    let Some(operation) = &deployment else {
        context.noted.about(RefactorBody::id_of(&record));
        return written(api, is_quick(&record), move || RefactorBody::from(record)).await;
    };
    let body = RefactorBody::from(record);
    context.noted.about(&body.id);
    context.noted.changes(operation);
    Ok(context.under_way(StatusCode::ACCEPTED, body, operation))
}

/// Lists the refactors of a plane, newest first, or only those that name a resource group.
///
/// A page may have fewer records than `top`, or none, although there are more: a record is shown to those who may read all groups
/// that it names. Go on while there is a `nextLink`.
#[utoipa::path(get, path = "/planes/radius/{plane}/providers/System.Resources/refactors", tag = "Refactors",
    params(RadiusPlanePath, GroupQuery, Page),
    responses((status = 200, body = RefactorList)))]
async fn list_refactors(
    State(api): State<Arc<Api>>,
    path: RadiusPlanePath,
    GroupQuery { group }: GroupQuery,
    page: Page,
    context: RequestContext,
) -> Result<Response, Problem> {
    let plane = path.id()?.name;
    let named = group.as_deref().map(|name| {
        if name.starts_with('/') {
            name.parse::<GroupId>()
        } else {
            GroupId::new(&plane, name)
        }
    });
    let query = RefactorQuery {
        plane,
        group: named
            .transpose()
            .map_err(|error| Problem::bad_request(format!("group: {error}.")).at("group"))?,
        after: page.after()?.map(|Moment(created_at, id)| (created_at, id)),
        top: page.top,
    };
    let (listed, next) = api
        .app
        .refactors
        .list_refactors(query, &context.caller)
        .await?;
    let next_link = next.map(|(created_at, id)| {
        let link = page.next_link_after(Moment(created_at, id), &context);
        match &group {
            Some(group) => GroupQuery::added(&link, group),
            None => link,
        }
    });
    let are_quick = listed.items.iter().all(is_quick);
    let list = move || List::<RefactorBody> {
        next_link,
        ..List::of(listed.items)
    };
    written(&api, are_quick, list).await
}

/// Returns the record of a refactor.
///
/// It is shown to those who may read all groups that it names.
#[utoipa::path(get, path = "/planes/radius/{plane}/providers/System.Resources/refactors/{refactor}", tag = "Refactors",
    params(RefactorPath),
    responses((status = 200, body = RefactorBody), (status = 404, body = ErrorResponse)))]
async fn get_refactor(
    State(api): State<Arc<Api>>,
    path: RefactorPath,
    context: RequestContext,
) -> Result<Response, Problem> {
    let id = refactor_id(&path)?;
    let record = api
        .app
        .refactors
        .get_refactor(&path.plane, id, &context.caller);
    let record = record.await?;
    written(&api, is_quick(&record), move || RefactorBody::from(record)).await
}

/// Returns whether a record tells of so little that it is written at once.
fn is_quick(record: &Refactor) -> bool {
    let RefactorContent {
        moves,
        ambiguities,
        refused,
        changes,
        ..
    } = &record.content;
    let ids = changes.create.len() + changes.update.len() + changes.undeclared.len();
    moves.len() + ambiguities.len() + refused.len() + ids <= QUICK_MAX
}

/// Writes a reply, by a thread that keeps nobody else waiting if it is long.
async fn written<T: Serialize + Send + 'static>(
    api: &Api,
    is_quick: bool,
    reply: impl FnOnce() -> T + Send + 'static,
) -> Result<Response, Problem> {
    let write = move || serde_json::to_vec(&reply());
    let text = api.app.judge_aside(is_quick, write).await?;
    let text = text.map_err(|error| Rejection::Internal(error.into()))?;
    Ok(([(CONTENT_TYPE, "application/json")], text).into_response())
}

/// Applies a refactor that was planned.
///
/// If what moves was written since, or a group has another history, nothing moves.
#[utoipa::path(post, path = "/planes/radius/{plane}/providers/System.Resources/refactors/{refactor}/:apply", tag = "Refactors",
    params(RefactorPath),
    request_body = Option<SeenRefactor>,
    responses((status = 200, body = RefactorBody), (status = 404, body = ErrorResponse),
        (status = 409, description = "It is applied already, or cannot be", body = ErrorResponse),
        (status = 412, description = "Something has changed since it was planned", body = ErrorResponse)))]
async fn apply_refactor(
    State(api): State<Arc<Api>>,
    path: RefactorPath,
    context: RequestContext,
    body: JsonObject,
) -> Result<Json<RefactorBody>, Problem> {
    let id = refactor_id(&path)?;
    let seen = body.read_without_plan::<SeenRefactor>().await?.fingerprint;
    let (plane, caller) = (&path.plane, &context.caller);
    let applied = api
        .app
        .refactors
        .apply_refactor(plane, id, seen.as_deref(), caller);
    Ok(Json(Box::pin(applied).await?.into()))
}

/// Takes a refactor back that was applied, if nothing that it moved was written since.
///
/// The reply is the record of a new refactor, which can be undone too.
#[utoipa::path(post, path = "/planes/radius/{plane}/providers/System.Resources/refactors/{refactor}/:undo", tag = "Refactors",
    params(RefactorPath),
    request_body = Option<SeenRefactor>,
    responses((status = 200, body = RefactorBody), (status = 404, body = ErrorResponse),
        (status = 409, description = "It is not applied", body = ErrorResponse),
        (status = 412, description = "Something has changed since it was applied", body = ErrorResponse)))]
async fn undo_refactor(
    State(api): State<Arc<Api>>,
    path: RefactorPath,
    context: RequestContext,
    body: JsonObject,
) -> Result<Json<RefactorBody>, Problem> {
    let id = refactor_id(&path)?;
    let seen = body.read_without_plan::<SeenRefactor>().await?.fingerprint;
    let (plane, caller) = (&path.plane, &context.caller);
    let undone = api
        .app
        .refactors
        .undo_refactor(plane, id, seen.as_deref(), caller);
    Ok(Json(Box::pin(undone).await?.into()))
}

fn refactor_id(path: &RefactorPath) -> Result<RefactorId, Problem> {
    path.refactor.parse().map_err(|_| {
        Problem::not_found(format!(
            "There is no refactor '{}'. Their names are UUIDs.",
            excerpt(&path.refactor)
        ))
    })
}
