//! May the caller do this? Judged on the canonical path alone, before the handler of a route runs. What only the body or
//! the store says is judged in the app.

mod need;
mod table;

use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::ALLOW;
use axum::http::{Extensions, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use ucp_access::{Principal, Right, Rights, Source};
use ucp_app::Rejection;

use crate::problem::{self, Problem};
use crate::rights::need::{Action, Need, Place};
use crate::rights::table::Entry;
use crate::state::Api;
use crate::unserved::method_not_allowed;

/// Refuses what the caller may not do. Adds what the caller may do to the request.
pub(crate) async fn judged(
    State(api): State<Arc<Api>>,
    mut request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let Some(route) = request.extensions().get::<MatchedPath>() else {
        // Nothing is served here.
        return Ok(next.run(request).await);
    };
    let route = route.as_str();
    let need = match table::find(route, request.method(), &api.settings.path_base) {
        Entry::Needs(need) => need,
        Entry::OtherMethods(allowed) => {
            let (method, uri) = (request.method().clone(), request.uri().clone());
            let refused = method_not_allowed(method, uri).await;
            let allowed = HeaderValue::from_str(&allowed).map_err(|_| Problem::internal())?;
            return Ok(([(ALLOW, allowed)], refused).into_response());
        }
        Entry::Missing => {
            tracing::error!(http.route = route, "no right is declared for this route");
            return Err(Problem::internal());
        }
    };
    let rights = match need {
        Need::Public => return Ok(next.run(request).await),
        Need::Authenticated => rights(&api, request.extensions()).await?,
        Need::Somewhere(right, action) => {
            let rights = rights(&api, request.extensions()).await?;
            if !rights.permits_somewhere(right) {
                judge(&rights, right, Place::Plane, action, request.uri().path())?;
            }
            rights
        }
        Need::Over(right, place, action) => {
            let rights = rights(&api, request.extensions()).await?;
            judge(&rights, right, place, action, request.uri().path())?;
            rights
        }
    };
    request.extensions_mut().insert(rights);
    Ok(next.run(request).await)
}

/// Returns what the caller may do.
async fn rights(api: &Api, extensions: &Extensions) -> Result<Rights, Problem> {
    match named(api, extensions)? {
        Some(principal) => Ok(api.app.permissions.rights(principal).await?),
        None => Ok(api.app.permissions.rights_of_everybody()),
    }
}

/// Returns the caller, unless nobody is asked who they are.
pub(crate) fn named<'a>(
    api: &Api,
    extensions: &'a Extensions,
) -> Result<Option<&'a Arc<Principal>>, Problem> {
    let principal = extensions.get::<Arc<Principal>>();
    let principal = principal.ok_or_else(Problem::internal)?;
    Ok(match (principal.source, api.authenticator.is_required()) {
        (Source::Anonymous, false) => None,
        (Source::Anonymous, true)
        | (
            Source::Token | Source::Oidc | Source::Certificate | Source::RequestHeader,
            true | false,
        ) => Some(principal),
    })
}

/// Refuses an action without the right over what the path names. What may not be read looks as if it were not there.
fn judge(
    rights: &Rights,
    right: Right,
    place: Place,
    action: Action,
    path: &str,
) -> Result<(), Problem> {
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    let scope = match place.of(&segments) {
        Ok(scope) => scope,
        // The handler says what is wrong with the path.
        Err(_) if rights.are_unlimited() => return Ok(()),
        Err(invalid) => {
            crate::path::judge_plane_type(path)?;
            return Err(Problem::bad_request(invalid.to_string()));
        }
    };
    let right = match (right, place, &segments[..]) {
        // The settings of an aws plane say whether the identity of the process signs for it.
        (Right::Write, Place::Plane, [_, "aws", ..]) => Right::ManageCredentials,
        (right, ..) => right,
    };
    let refusal = match rights.judge(right, &action.on(&segments), &scope) {
        Ok(()) => return Ok(()),
        Err(refusal) => refusal,
    };
    match right {
        Right::Read => Err(Problem::hidden(format!(
            "{} does not exist, or the client '{}' may not read it.",
            problem::shown_path(path),
            refusal.client
        ))),
        Right::Write | Right::Approve | Right::ManageCredentials | Right::ManageAccess => {
            Err(Rejection::from(refusal).into())
        }
    }
}
