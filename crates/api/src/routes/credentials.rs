use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use ucp_model::{CredentialId, PlaneId, PlaneKind};

use crate::Api;
use crate::context::RequestContext;
use crate::precondition::{Conditions, tagged};
use crate::problem::Problem;
use crate::query::Page;
use crate::routes::ApiVersion;
use crate::validation::{Payload, Violations, named};
use crate::wire::{CredentialBody, ErrorResponse, List, PutCredentialRequest};

/// What our skipTokens begin with.
const AFTER: &str = "after.";

/// Lists the credentials of a plane, without their secrets.
#[utoipa::path(get, path = "/planes/aws/{plane}/providers/System.AWS/credentials", tag = "Credentials",
    params(("plane" = String, Path, example = "aws"),
        ("api-version" = String, Query, example = "2023-10-01-preview"),
        ("top" = Option<u64>, Query, minimum = 5, maximum = 20, example = 10, description = "How many a page holds; 10 by default"),
        ("skipToken" = Option<String>, Query, description = "Part of `nextLink`")),
    responses((status = 200, body = List<CredentialBody>), (status = 400, body = ErrorResponse)))]
pub(crate) async fn list_credentials(
    State(api): State<Arc<Api>>,
    Path(plane): Path<String>,
    _: ApiVersion,
    page: Page,
    context: RequestContext,
) -> Result<Json<List<CredentialBody>>, Problem> {
    let plane = named(PlaneId::new(PlaneKind::Aws, &plane))?;
    let after = match &page.skip_token {
        Some(token) => Some(place(&plane, token)?),
        None => None,
    };
    let listed = api.app.list_credentials(&plane, after.as_ref(), page.top);
    let listed = listed
        .await
        .map_err(|rejection| Problem::of(rejection, &context))?;
    let next = listed.next.as_ref();
    Ok(Json(List {
        next_link: next.map(|id| page.next_link(&format!("{AFTER}{}", id.name), &context)),
        value: listed
            .credentials
            .into_iter()
            .map(CredentialBody::from)
            .collect(),
    }))
}

/// Answers one credential without its secret.
#[utoipa::path(get, path = "/planes/aws/{plane}/providers/System.AWS/credentials/{credential}", tag = "Credentials",
    params(("plane" = String, Path, example = "aws"), ("credential" = String, Path, example = "default"),
        ("api-version" = String, Query, example = "2023-10-01-preview")),
    responses((status = 200, body = CredentialBody, headers(("ETag" = String))),
        (status = 400, body = ErrorResponse), (status = 404, body = ErrorResponse)))]
pub(crate) async fn get_credential(
    State(api): State<Arc<Api>>,
    Path((plane, credential)): Path<(String, String)>,
    _: ApiVersion,
    context: RequestContext,
) -> Result<Response, Problem> {
    let id = named(CredentialId::new(&plane, &credential))?;
    let credential = api.app.get_credential(&id).await;
    let credential = credential.map_err(|rejection| Problem::of(rejection, &context))?;
    Ok(shown(credential))
}

/// Creates a credential, or replaces all that it had.
#[utoipa::path(put, path = "/planes/aws/{plane}/providers/System.AWS/credentials/{credential}", tag = "Credentials",
    params(("plane" = String, Path, example = "aws"), ("credential" = String, Path, example = "default"),
        ("api-version" = String, Query, example = "2023-10-01-preview"),
        ("If-Match" = Option<String>, Header, description = "Write only what has this ETag; `*` is any"),
        ("If-None-Match" = Option<String>, Header, description = "`*`: write only what does not exist yet")),
    request_body = PutCredentialRequest,
    responses((status = 200, body = CredentialBody, headers(("ETag" = String))),
        (status = 400, body = ErrorResponse), (status = 412, body = ErrorResponse)))]
pub(crate) async fn put_credential(
    State(api): State<Arc<Api>>,
    Path((plane, credential)): Path<(String, String)>,
    _: ApiVersion,
    Conditions(precondition): Conditions,
    context: RequestContext,
    payload: Payload,
) -> Result<Response, Problem> {
    let mut violations = Violations::default();
    let id = violations.name(CredentialId::new(&plane, &credential));
    let put = match violations.body(payload) {
        Some(body) => PutCredentialRequest::read(&body, &mut violations)?,
        None => None,
    };
    let (id, put) = violations.judge(id.zip(put))?;
    let credential = api.app.put_credential(put.put(id), &precondition).await;
    let credential = credential.map_err(|rejection| Problem::of(rejection, &context))?;
    Ok(shown(credential))
}

/// Removes a credential with its secret.
#[utoipa::path(delete, path = "/planes/aws/{plane}/providers/System.AWS/credentials/{credential}", tag = "Credentials",
    params(("plane" = String, Path, example = "aws"), ("credential" = String, Path, example = "default"),
        ("api-version" = String, Query, example = "2023-10-01-preview"),
        ("If-Match" = Option<String>, Header, description = "Delete only what has this ETag; `*` is any")),
    responses((status = 200, description = "Removed"), (status = 204, description = "There was none"),
        (status = 400, body = ErrorResponse), (status = 412, body = ErrorResponse)))]
pub(crate) async fn delete_credential(
    State(api): State<Arc<Api>>,
    Path((plane, credential)): Path<(String, String)>,
    _: ApiVersion,
    Conditions(precondition): Conditions,
    context: RequestContext,
) -> Result<Response, Problem> {
    let id = named(CredentialId::new(&plane, &credential))?;
    let was_there = api.app.delete_credential(&id, &precondition).await;
    match was_there.map_err(|rejection| Problem::of(rejection, &context))? {
        true => Ok(StatusCode::OK.into_response()),
        false => Ok(StatusCode::NO_CONTENT.into_response()),
    }
}

fn shown(credential: ucp_model::Credential) -> Response {
    tagged(&credential.etag(), Json(CredentialBody::from(credential)))
}

/// What a skipToken of ours says: after which credential the page begins.
fn place(plane: &PlaneId, token: &str) -> Result<CredentialId, Problem> {
    let name = token.strip_prefix(AFTER);
    let id = name.and_then(|name| CredentialId::new(&plane.name, name).ok());
    id.ok_or_else(|| {
        Problem::bad_request("skipToken is not one of ours. Follow nextLink as it is.")
    })
}
