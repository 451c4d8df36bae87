//! AWS resources by action and by name.

mod actions;
mod by_name;

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use ucp_app::{DeleteOutcome, DeleteResource, PutResource};
use ucp_model::operation::ResourceWork;

use crate::context::RequestContext;
use crate::problem::Problem;
use crate::routes::unchecked;
use crate::state::Api;
use crate::wire::AwsResource;
use std::sync::Arc;
use utoipa_axum::router::OpenApiRouter;

/// The routes by name and by action.
pub(crate) fn routes() -> OpenApiRouter<Arc<Api>> {
    unchecked()
        .merge(by_name::routes())
        .merge(actions::routes())
}

/// Puts a resource, and replies with what is known of it.
async fn put(api: &Api, put: PutResource, context: &RequestContext) -> Result<Response, Problem> {
    let outcome = api.app.put_resource(put, &context.caller).await?;
    let is_unchanged = outcome.is_unchanged();
    let work = outcome.operation.work.resource();
    let target = work.and_then(ResourceWork::target);
    let body = AwsResource::of(&outcome.type_name, target, outcome.properties);
    Ok(if is_unchanged {
        Json(body.in_state("Succeeded")).into_response()
    } else {
        context.created(body.in_state("Provisioning"), &outcome.operation)
    })
}

/// Deletes a resource, and replies with the URLs to poll.
async fn delete(
    api: &Api,
    delete: DeleteResource,
    context: &RequestContext,
) -> Result<Response, Problem> {
    Ok(
        match api.app.delete_resource(delete, &context.caller).await? {
            DeleteOutcome::Accepted(operation) => context.accepted(&*operation),
            DeleteOutcome::Forgotten | DeleteOutcome::AlreadyGone => {
                StatusCode::NO_CONTENT.into_response()
            }
        },
    )
}
