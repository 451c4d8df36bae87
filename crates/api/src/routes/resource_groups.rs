use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use ucp_app::{DeleteGroupOutcome, Precondition, Written};
use ucp_model::operation::OnShared;
use ucp_model::{GroupId, ResourceGroup, Warning};
use ucp_wire::ErrorResponse;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::action::Effect;
use crate::changed_paths::{ChangedPaths, DEPTH};
use crate::context::{Preference, RequestContext, UnderWay};
use crate::json::JsonObject;
use crate::path::{GroupPath, RadiusPlanePath};
use crate::precondition::{Conditions, Tagged};
use crate::problem::Problem;
use crate::query::{ApiVersion, Page};
use crate::rated;
use crate::replies::Json;
use crate::router::{router, single};
use crate::state::Api;
use crate::validation::Payload;
use crate::wire::{
    DeleteGroup, DeletedGroup, ImportGroupRequest, List, PutResourceGroupRequest, ReferenceList,
    ResourceGroupBody, ResourceGroupList, UpdateResourceGroup,
};

/// Registers the handlers.
pub(crate) fn routes() -> OpenApiRouter<Arc<Api>> {
    router()
        .routes(routes!(list_resource_groups))
        .merge(single(routes!(
            put_resource_group,
            get_resource_group,
            update_resource_group,
            delete_resource_group
        )))
        .routes(routes!(delete_resource_group_as_said))
        .routes(routes!(list_resource_group_resources))
        .routes(routes!(import_resource_group_resources))
}

/// The reply to a write of a resource group, and what the audit learns of it.
type GroupWritten = (Extension<ChangedPaths>, Tagged<ResourceGroupBody>);

fn group_written(written: Written<ResourceGroup>) -> GroupWritten {
    let before = written.before.map(ResourceGroupBody::from);
    let (etag, after) = (written.after.etag(), ResourceGroupBody::from(written.after));
    let changed = ChangedPaths::between(before, &after, DEPTH, []);
    (changed, Tagged(etag, after))
}

/// Creates a resource group, or replaces its location, tags and settings.
///
/// Its references are not changed. A `planPolicy` that is left out stays as it is.
#[utoipa::path(put, path = "/planes/radius/{plane}/resourcegroups/{group}", tag = "Resource groups",
    params(GroupPath, ApiVersion, Conditions),
    request_body = PutResourceGroupRequest,
    responses((status = 200, body = ResourceGroupBody, headers(("ETag" = String))),
        (status = 409, body = ErrorResponse), (status = 412, body = ErrorResponse)))]
async fn put_resource_group(
    State(api): State<Arc<Api>>,
    path: GroupPath,
    _: ApiVersion,
    conditions: Conditions,
    context: RequestContext,
    payload: Payload,
) -> Result<GroupWritten, Problem> {
    let (id, request) = payload.judge(path.id(), PutResourceGroupRequest::read)?;
    let written = api
        .app
        .groups
        .put_resource_group(request.put(id), conditions.into(), &context.caller)
        .await?;
    Ok(group_written(written))
}

/// Changes the tags and settings of a resource group.
///
/// The body is a JSON Merge Patch: members that it does not name stay, and `null` removes a member.
#[utoipa::path(patch, path = "/planes/radius/{plane}/resourcegroups/{group}", tag = "Resource groups",
    params(GroupPath, ApiVersion, Conditions),
    request_body = UpdateResourceGroup,
    responses((status = 200, body = ResourceGroupBody, headers(("ETag" = String))),
        (status = 404, body = ErrorResponse), (status = 409, body = ErrorResponse),
        (status = 412, body = ErrorResponse)))]
async fn update_resource_group(
    State(api): State<Arc<Api>>,
    path: GroupPath,
    _: ApiVersion,
    conditions: Conditions,
    context: RequestContext,
    payload: Payload,
) -> Result<GroupWritten, Problem> {
    let (id, request) = payload.judge(path.id(), UpdateResourceGroup::read)?;
    let written = api
        .app
        .groups
        .update_resource_group(&id, request.update(), conditions.into(), &context.caller)
        .await?;
    Ok(group_written(written))
}

/// Returns a resource group with its references.
///
/// The properties of the references are those last observed; AWS is not called. The first `top` references are
/// included.
#[utoipa::path(get, path = "/planes/radius/{plane}/resourcegroups/{group}", tag = "Resource groups",
    params(GroupPath, ApiVersion, Page),
    responses((status = 200, body = ResourceGroupBody, headers(("ETag" = String))),
        (status = 404, body = ErrorResponse)))]
async fn get_resource_group(
    State(api): State<Arc<Api>>,
    path: GroupPath,
    _: ApiVersion,
    page: Page,
    context: RequestContext,
) -> Result<Tagged<ResourceGroupBody>, Problem> {
    let (id, after) = (path.id()?, page.after()?);
    let view =
        api.app
            .groups
            .get_resource_group(&id, after.as_ref(), page.top, &context.caller.room);
    let view = view.await?;
    let page = page.of_list_below("/resources");
    let next_link = page.next(&view.references, |reference| reference.id.clone(), &context);
    let etag = view.group.etag();
    Ok(Tagged(
        etag,
        ResourceGroupBody::with_resources(view, next_link),
    ))
}

/// Deletes a resource group and the AWS resources that it owns.
///
/// Other resources are kept; only their references are deleted. If a resource cannot be deleted, the group remains,
/// with the references that are left.
#[utoipa::path(delete, path = "/planes/radius/{plane}/resourcegroups/{group}", tag = "Resource groups",
    params(GroupPath, ApiVersion, Conditions, Preference),
    responses((status = 200, description = "Deleted"), UnderWay,
        (status = 204, description = "The group did not exist"),
        (status = 409, description = "An operation in the group is in progress, or some of its resources cannot be deleted",
            body = ErrorResponse),
        (status = 412, body = ErrorResponse)))]
async fn delete_resource_group(
    State(api): State<Arc<Api>>,
    path: GroupPath,
    _: ApiVersion,
    conditions: Conditions,
    context: RequestContext,
) -> Result<Response, Problem> {
    let (id, condition) = (path.id()?, conditions.into());
    let reply = |_: &[Warning]| StatusCode::OK.into_response();
    deleted(&api, &id, &condition, OnShared::Refuse, &context, reply).await
}

/// Deletes a resource group, as DELETE does, and says what becomes of what other groups stand for.
///
/// With `onShared` `release`, what references of other groups stand for is left alone. One of them that was put, in a group that the
/// caller may change, owns it then, or nobody: `warnings` of the reply, or of the operation's status, tell it.
#[utoipa::path(post, path = "/planes/radius/{plane}/resourcegroups/{group}/:delete", tag = "Resource groups",
    params(GroupPath, ApiVersion, Conditions, Preference),
    request_body = Option<DeleteGroup>,
    responses((status = 200, description = "Deleted", body = DeletedGroup), UnderWay,
        (status = 204, description = "The group did not exist"),
        (status = 409, description = "An operation in the group is in progress, or some of its resources cannot be deleted",
            body = ErrorResponse),
        (status = 412, body = ErrorResponse)))]
async fn delete_resource_group_as_said(
    State(api): State<Arc<Api>>,
    path: GroupPath,
    _: ApiVersion,
    conditions: Conditions,
    context: RequestContext,
    body: JsonObject,
) -> Result<Response, Problem> {
    let (id, condition) = (path.id()?, conditions.into());
    let on_shared = body.read_without_plan::<DeleteGroup>().await?.on_shared();
    let reply = |given_up: &[Warning]| Json(DeletedGroup::of(given_up)).into_response();
    deleted(&api, &id, &condition, on_shared, &context, reply).await
}

async fn deleted(
    api: &Api,
    id: &GroupId,
    condition: &Precondition,
    on_shared: OnShared,
    context: &RequestContext,
    reply: impl FnOnce(&[Warning]) -> Response,
) -> Result<Response, Problem> {
    let outcome = api
        .app
        .groups
        .delete_resource_group(id, condition, on_shared, &context.caller);
    match outcome.await? {
        DeleteGroupOutcome::AlreadyGone => Ok(StatusCode::NO_CONTENT.into_response()),
        DeleteGroupOutcome::Deleted(given_up) => Ok(reply(&given_up)),
        DeleteGroupOutcome::Accepted(operation) => match operation.failure() {
            Some(failure) => Err(Problem::ended(failure.clone()).of(&operation)),
            None => Ok(context.accepted(&*operation)),
        },
    }
}

/// Imports existing AWS resources into a resource group.
///
/// The result of the operation lists the outcome of each resource.
#[utoipa::path(post, path = "/planes/radius/{plane}/resourcegroups/{group}/:import", tag = "Resource groups",
    params(GroupPath),
    request_body = ImportGroupRequest,
    responses(UnderWay, (status = 404, body = ErrorResponse), (status = 409, body = ErrorResponse)))]
async fn import_resource_group_resources(
    State(api): State<Arc<Api>>,
    path: GroupPath,
    uri: Uri,
    context: RequestContext,
    body: JsonObject,
) -> Result<Response, Problem> {
    let id = path.id()?;
    let items = body
        .read_without_plan::<ImportGroupRequest>()
        .await?
        .items(&id);
    rated::count_members(&api, &context, uri.path(), Effect::Write, items.len())?;
    let operation = api
        .app
        .groups
        .import_into_group(&id, items, &context.caller)
        .await?;
    context.noted.changes(&operation);
    Ok(context.accepted(&operation))
}

/// Lists the resource groups of a plane.
///
/// Their references are omitted.
#[utoipa::path(get, path = "/planes/radius/{plane}/resourcegroups", tag = "Resource groups",
    params(RadiusPlanePath, ApiVersion, Page),
    responses((status = 200, body = ResourceGroupList)))]
async fn list_resource_groups(
    State(api): State<Arc<Api>>,
    path: RadiusPlanePath,
    _: ApiVersion,
    page: Page,
    context: RequestContext,
) -> Result<Json<ResourceGroupList>, Problem> {
    let (plane, after) = (path.id()?, page.after()?);
    let groups =
        api.app
            .groups
            .list_resource_groups(&plane, after.as_ref(), page.top, &context.caller);
    let groups = groups.await?;
    Ok(Json(List {
        next_link: page.next(&groups, |group| group.id.clone(), &context),
        ..List::of(groups.items)
    }))
}

/// Lists the references of a resource group.
///
/// Their properties are those last observed; AWS is not called.
#[utoipa::path(get, path = "/planes/radius/{plane}/resourcegroups/{group}/resources", tag = "Resource groups",
    params(GroupPath, ApiVersion, Page),
    responses((status = 200, body = ReferenceList), (status = 404, body = ErrorResponse)))]
async fn list_resource_group_resources(
    State(api): State<Arc<Api>>,
    path: GroupPath,
    _: ApiVersion,
    page: Page,
    context: RequestContext,
) -> Result<Json<ReferenceList>, Problem> {
    let (group, after) = (path.id()?, page.after()?);
    let references = api.app.groups.list_references(
        &group,
        None,
        after.as_ref(),
        page.top,
        &context.caller.room,
    );
    let references = references.await?;
    Ok(Json(List {
        next_link: page.next(&references, |reference| reference.id.clone(), &context),
        ..List::of(references.items)
    }))
}
