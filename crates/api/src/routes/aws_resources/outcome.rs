//! The replies to puts and deletes, by action or by name.

use std::sync::Arc;

use axum::Extension;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use ucp_app::{DeleteOutcome, DeleteResource, PutResource};

use ucp_model::Target;

use crate::audit_notes::CameOf;
use crate::context::RequestContext;
use crate::problem::Problem;
use crate::replies::Json;
use crate::state::Api;
use crate::wire::AwsResource;

/// Puts a resource, and replies with what is known of it; with the status `accepted` if something has to be done.
pub(super) async fn put(
    api: Arc<Api>,
    put: PutResource,
    accepted: StatusCode,
    context: &RequestContext,
) -> Result<Response, Problem> {
    let outcome = api.app.resources.put_resource(put, &context.caller).await?;
    let target = outcome.identifier.as_ref().map(|identifier| Target {
        scope: &outcome.scope,
        type_name: &outcome.type_name,
        identifier,
    });
    let body = AwsResource::of(&outcome.type_name, target, outcome.properties)
        .with_warnings(outcome.warnings);
    Ok(match &outcome.operation {
        None => {
            let unchanged = outcome.is_unchanged.then_some(Extension(CameOf::Unchanged));
            (unchanged, Json(body.in_state("Succeeded"))).into_response()
        }
        Some(operation) => context.under_way(accepted, body.in_state("Provisioning"), operation),
    })
}

/// Deletes a resource, and replies with the URLs to poll.
pub(super) async fn delete(
    api: Arc<Api>,
    delete: DeleteResource,
    context: &RequestContext,
) -> Result<Response, Problem> {
    let outcome = api
        .app
        .resources
        .delete_resource(delete, &context.caller)
        .await?;
    Ok(match outcome {
        DeleteOutcome::Accepted(operation) => context.accepted(&*operation),
        DeleteOutcome::Forgotten | DeleteOutcome::AlreadyGone => {
            StatusCode::NO_CONTENT.into_response()
        }
    })
}
