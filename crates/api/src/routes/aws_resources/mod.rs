//! AWS resources, by action and by name.

pub(crate) mod actions;
pub(crate) mod by_name;

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use ucp_app::{DeleteOutcome, DeleteResource, PutResource};
use ucp_model::operation::Verdict;

use crate::context::RequestContext;
use crate::problem::Problem;
use crate::state::Api;
use crate::wire::AwsResource;

/// Puts, and answers with the resource as far as it is known.
async fn put(api: &Api, put: PutResource, context: &RequestContext) -> Result<Response, Problem> {
    let outcome = api.app.put_resource(put, &context.caller).await?;
    let operation = &outcome.operation;
    let body = AwsResource::of(operation, outcome.properties);
    Ok(if operation.verdict() == Verdict::NothingToDo {
        Json(body.in_state("Succeeded")).into_response()
    } else {
        context.created(body.in_state("Provisioning"), operation)
    })
}

/// Deletes, and answers with where to ask for the outcome.
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
