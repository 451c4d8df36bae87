use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::Uri;
use axum::response::{IntoResponse, Response};
use ucp_app::ApplyOutcome;
use ucp_wire::ErrorResponse;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::action::Effect;
use crate::audit_notes::CameOf;
use crate::context::{Preference, RequestContext, UnderWay};
use crate::json::JsonObject;
use crate::path::GroupPath;
use crate::problem::Problem;
use crate::rated;
use crate::replies::Json;
use crate::router::router;
use crate::state::Api;
use crate::wire::{
    AppliedSet, SetRequest, Valid, WhatIfResult, WhatIfSetRequest, what_if_settings,
};

/// Registers the handlers.
pub(crate) fn routes() -> OpenApiRouter<Arc<Api>> {
    router()
        .routes(routes!(apply_resource_group))
        .routes(routes!(validate_resource_group))
        .routes(routes!(what_if_resource_group))
}

/// Makes the resources of a resource group as a set declares them.
///
/// Resources may refer to each other. Each is put after those that it refers to; deletes come last. If one fails, what
/// depends on it is skipped, and the rest goes on. Applying the set again goes on from what is there. All that is wrong
/// with a set is told at once, before anything is stored. In mode `Complete`, a reference moves if the set lists its resource
/// under another alias, and AWS is sent nothing for that.
#[utoipa::path(post, path = "/planes/radius/{plane}/resourcegroups/{group}/:apply", tag = "Resource groups",
    params(GroupPath, Preference),
    request_body = SetRequest,
    responses((status = 200, description = "Nothing to do", body = AppliedSet), UnderWay,
        (status = 404, body = ErrorResponse),
        (status = 409, description = "Another set is being applied to the group", body = ErrorResponse),
        (status = 412, description = "The plan must not be used", body = ErrorResponse)))]
async fn apply_resource_group(
    State(api): State<Arc<Api>>,
    path: GroupPath,
    uri: Uri,
    context: RequestContext,
    body: JsonObject,
) -> Result<Response, Problem> {
    let id = path.id()?;
    let aside = body.1.clone();
    let request = body.read::<SetRequest>().await?;
    rated::count_members(&api, &context, uri.path(), Effect::Write, request.count())?;
    let of = id.clone();
    let set = aside.run(move || request.apply(&of)).await??;
    let caller = &context.caller;
    let admit = |more| rated::count_more(&api, &caller.name, uri.path(), Effect::Write, more);
    Ok(
        match api.app.sets.apply_set(&id, set, caller, admit).await? {
            ApplyOutcome::Unchanged(work) => {
                let unchanged = Extension(CameOf::Unchanged);
                (unchanged, Json(AppliedSet::from(*work))).into_response()
            }
            ApplyOutcome::Accepted(operation) => {
                context.noted.changes(&operation);
                context.accepted(&*operation)
            }
        },
    )
}

/// Tells all that is wrong with a set, without a call to AWS.
///
/// Nothing is stored. Values that a reference stands for are not judged.
#[utoipa::path(post, path = "/planes/radius/{plane}/resourcegroups/{group}/:validate", tag = "Resource groups",
    params(GroupPath),
    request_body = SetRequest,
    responses((status = 200, description = "Nothing is wrong with it", body = Valid),
        (status = 404, body = ErrorResponse)))]
async fn validate_resource_group(
    State(api): State<Arc<Api>>,
    path: GroupPath,
    uri: Uri,
    context: RequestContext,
    body: JsonObject,
) -> Result<Json<Valid>, Problem> {
    let id = path.id()?;
    let aside = body.1.clone();
    let request = body.read_without_plan::<SetRequest>().await?;
    rated::count_members(&api, &context, uri.path(), Effect::AwsRead, request.count())?;
    let of = id.clone();
    let set = aside.run(move || request.set(&of)).await??;
    api.app.sets.validate_set(&id, set, &context.caller).await?;
    Ok(Json(Valid::SUCCEEDED))
}

/// Tells what an `:apply` of a set would do, and keeps the plan. AWS is only read.
///
/// A reference takes the planned value of what it refers to. References of the group that the set does not list are
/// `Ignore`, or `Delete` in mode `Complete` if the group owns them. Those whose resource the set then lists under another alias
/// `Move`. What an `:apply` refuses at once is refused alike.
#[utoipa::path(post, path = "/planes/radius/{plane}/resourcegroups/{group}/:whatIf", tag = "Resource groups",
    params(GroupPath),
    request_body = WhatIfSetRequest,
    responses((status = 200, body = WhatIfResult), (status = 404, body = ErrorResponse),
        (status = 409, body = ErrorResponse)))]
async fn what_if_resource_group(
    State(api): State<Arc<Api>>,
    path: GroupPath,
    uri: Uri,
    context: RequestContext,
    mut body: JsonObject,
) -> Result<Json<WhatIfResult>, Problem> {
    let id = path.id()?;
    let settings = what_if_settings(&mut body)?;
    let aside = body.1.clone();
    let request = body.read_without_plan::<SetRequest>().await?;
    rated::count_members(&api, &context, uri.path(), Effect::AwsRead, request.count())?;
    let of = id.clone();
    let set = aside.run(move || request.set(&of)).await??;
    let caller = &context.caller.name;
    let admit = |more| rated::count_more(&api, caller, uri.path(), Effect::AwsRead, more);
    let what_if = api
        .app
        .sets
        .what_if_set(&id, set, settings.lifetime(), &context.caller, admit);
    let what_if = what_if.await?;
    Ok(Json(WhatIfResult::new(what_if, settings)))
}
