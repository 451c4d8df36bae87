//! Refuses requests beyond the rate.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use ucp_access::Principal;
use ucp_app::{BeyondRate, Rejection};
use ucp_model::{ErrorCode, Failure};
use ucp_rates::{Counted, scope, seconds};

use crate::action::Effect;
use crate::audit_notes::Noted;
use crate::context::RequestContext;
use crate::problem::Problem;
use crate::state::Api;

/// Refuses requests of a caller in a scope beyond the rate.
pub(crate) async fn count(State(api): State<Arc<Api>>, request: Request, next: Next) -> Response {
    let extensions = request.extensions();
    let effect = extensions.get::<Noted>().and_then(Noted::effect);
    let principal = extensions.get::<Arc<Principal>>();
    let (Some(effect), Some(principal)) = (effect, principal) else {
        return next.run(request).await;
    };
    let path = request.uri().path();
    let Some(counted) = counted(effect) else {
        return next.run(request).await;
    };
    match api.limits.count(counted, &principal.name, path) {
        Ok(()) => next.run(request).await,
        Err(wait) => too_many(effect, &principal.name, path, wait).into_response(),
    }
}

/// Counts the members of a set, of which the request itself counts as the first. One that could never pass counts as all
/// that may be at once.
pub(crate) fn count_members(
    api: &Api,
    context: &RequestContext,
    path: &str,
    effect: Effect,
    members: usize,
) -> Result<(), Problem> {
    let caller = &context.caller.name;
    let more = members.saturating_sub(1);
    let counted = count_more(api, caller, path, effect, more);
    counted.map_err(|beyond| Rejection::BeyondRate(beyond).into())
}

/// Counts more of what a request does that is counted already.
pub(crate) fn count_more(
    api: &Api,
    caller: &str,
    path: &str,
    effect: Effect,
    more: usize,
) -> Result<(), BeyondRate> {
    let Some(counted) = counted(effect) else {
        return Ok(());
    };
    let counted = api.limits.count_more(counted, caller, path, more);
    counted.map_err(|wait| beyond(effect, caller, path, wait))
}

fn counted(effect: Effect) -> Option<Counted> {
    match effect {
        Effect::Write => Some(Counted::Write),
        Effect::AwsRead => Some(Counted::AwsRead),
        Effect::Read => None,
    }
}

fn too_many(effect: Effect, caller: &str, path: &str, wait: Duration) -> Problem {
    Rejection::BeyondRate(beyond(effect, caller, path, wait)).into()
}

fn beyond(effect: Effect, caller: &str, path: &str, wait: Duration) -> BeyondRate {
    let (scope, seconds) = (scope(path), seconds(wait));
    let what = match effect {
        Effect::Write => "changes",
        Effect::Read | Effect::AwsRead => "reads from AWS, or validations,",
    };
    let message = format!(
        "The client '{caller}' sends too many {what} in /{scope}. Nothing was done. Try again in {seconds} s."
    );
    BeyondRate {
        failure: Box::new(Failure::new(ErrorCode::TooManyRequests, message)),
        retry_after: seconds,
    }
}
