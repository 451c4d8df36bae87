use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use ucp_access::GrantChange;
use ucp_app::{PutRoleAssignment, RoleAssignment, RoleAssignmentPut};
use ucp_wire::ErrorResponse;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::audit_notes::CameOf;
use crate::context::RequestContext;
use crate::path::{RadiusPlanePath, RoleAssignmentPath};
use crate::precondition::{Conditions, Tagged};
use crate::problem::Problem;
use crate::query::{ApiVersion, Page};
use crate::replies::Json;
use crate::router::{router, single};
use crate::state::Api;
use crate::validation::Payload;
use crate::wire::{List, PutRoleAssignmentRequest, RoleAssignmentBody, RoleAssignmentList};

/// Registers the handlers.
pub(crate) fn routes() -> OpenApiRouter<Arc<Api>> {
    router()
        .routes(routes!(list_role_assignments))
        .merge(single(routes!(
            get_role_assignment,
            put_role_assignment,
            delete_role_assignment
        )))
}

/// Lists the role assignments of a plane.
///
/// Only those of which the caller owns all scopes. A page may have fewer than `top`, or none, although there are more: go on
/// while there is a `nextLink`.
#[utoipa::path(get, tag = "Role assignments",
    path = "/planes/radius/{plane}/providers/System.Resources/roleAssignments",
    params(RadiusPlanePath, ApiVersion, Page),
    responses((status = 200, body = RoleAssignmentList)))]
async fn list_role_assignments(
    State(api): State<Arc<Api>>,
    path: RadiusPlanePath,
    _: ApiVersion,
    page: Page,
    context: RequestContext,
) -> Result<Json<RoleAssignmentList>, Problem> {
    let (plane, after) = (path.id()?, page.after()?);
    let assignments =
        api.app
            .planes
            .list_role_assignments(&plane, after.as_ref(), page.top, &context.caller);
    let assignments = assignments.await?;
    Ok(Json(List {
        next_link: page.next(&assignments, |assignment| assignment.id.clone(), &context),
        ..List::of(assignments.items)
    }))
}

/// Returns a role assignment.
///
/// Only to an owner of all its scopes.
#[utoipa::path(get, tag = "Role assignments",
    path = "/planes/radius/{plane}/providers/System.Resources/roleAssignments/{assignment}",
    params(RoleAssignmentPath, ApiVersion),
    responses((status = 200, body = RoleAssignmentBody, headers(("ETag" = String))),
        (status = 404, body = ErrorResponse)))]
async fn get_role_assignment(
    State(api): State<Arc<Api>>,
    path: RoleAssignmentPath,
    _: ApiVersion,
    context: RequestContext,
) -> Result<Tagged<RoleAssignmentBody>, Problem> {
    let id = path.id()?;
    let assignment = api.app.planes.get_role_assignment(&id, &context.caller);
    Ok(tagged(assignment.await?))
}

/// Gives a user or a group a role, or replaces what the role assignment gives.
///
/// The caller must own all scopes, and all of what is replaced, and the plane must exist. This server uses it at once, and others within five seconds.
#[utoipa::path(put, tag = "Role assignments",
    path = "/planes/radius/{plane}/providers/System.Resources/roleAssignments/{assignment}",
    params(RoleAssignmentPath, ApiVersion, Conditions),
    request_body = PutRoleAssignmentRequest,
    responses((status = 200, description = "Replaced, or the same as before", body = RoleAssignmentBody,
            headers(("ETag" = String))),
        (status = 201, description = "Created", body = RoleAssignmentBody, headers(("ETag" = String))),
        (status = 404, description = "The plane does not exist", body = ErrorResponse),
        (status = 412, body = ErrorResponse)))]
async fn put_role_assignment(
    State(api): State<Arc<Api>>,
    path: RoleAssignmentPath,
    _: ApiVersion,
    conditions: Conditions,
    context: RequestContext,
    payload: Payload,
) -> Result<Response, Problem> {
    let (id, request) = payload.judge(path.id(), PutRoleAssignmentRequest::read)?;
    let (grant, condition) = (request.grant(), conditions.into());
    let put = PutRoleAssignment { id, grant };
    let put = api
        .app
        .planes
        .put_role_assignment(put, &condition, &context.caller);
    Ok(match put.await? {
        RoleAssignmentPut::Created(created) => {
            let change = change(None, Some(&created));
            (StatusCode::CREATED, change, tagged(created)).into_response()
        }
        RoleAssignmentPut::Replaced { before, after } => {
            (change(Some(&before), Some(&after)), tagged(after)).into_response()
        }
        RoleAssignmentPut::Unchanged(same) => {
            (Extension(CameOf::Unchanged), tagged(same)).into_response()
        }
    })
}

/// Takes away what a role assignment gives.
///
/// The caller must own all its scopes. This server forgets it at once, and others within five seconds.
#[utoipa::path(delete, tag = "Role assignments",
    path = "/planes/radius/{plane}/providers/System.Resources/roleAssignments/{assignment}",
    params(RoleAssignmentPath, ApiVersion, Conditions),
    responses((status = 200, description = "Deleted"),
        (status = 204, description = "The role assignment did not exist; only for callers who own everything"),
        (status = 404, body = ErrorResponse), (status = 412, body = ErrorResponse)))]
async fn delete_role_assignment(
    State(api): State<Arc<Api>>,
    path: RoleAssignmentPath,
    _: ApiVersion,
    conditions: Conditions,
    context: RequestContext,
) -> Result<Response, Problem> {
    let (id, condition) = (path.id()?, conditions.into());
    let deleted = api
        .app
        .planes
        .delete_role_assignment(&id, &condition, &context.caller);
    Ok(match deleted.await? {
        Some(deleted) => change(Some(&deleted), None).into_response(),
        None => StatusCode::NO_CONTENT.into_response(),
    })
}

/// Returns what the audit records of a change.
fn change(
    before: Option<&RoleAssignment>,
    after: Option<&RoleAssignment>,
) -> Extension<GrantChange> {
    let grant = |assignment: &RoleAssignment| assignment.body.grant.clone();
    Extension(GrantChange {
        before: before.map(grant),
        after: after.map(grant),
    })
}

fn tagged(assignment: RoleAssignment) -> Tagged<RoleAssignmentBody> {
    Tagged(assignment.etag(), assignment.into())
}
