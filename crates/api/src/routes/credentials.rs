use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use ucp_model::Credential;
use ucp_wire::ErrorResponse;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::changed_paths::{ChangedPaths, DEPTH};
use crate::context::RequestContext;
use crate::path::{AwsPlanePath, CredentialPath};
use crate::precondition::{Conditions, Tagged};
use crate::problem::Problem;
use crate::query::{ApiVersion, Page};
use crate::replies::Json;
use crate::router::{router, single};
use crate::state::Api;
use crate::validation::Payload;
use crate::wire::{CredentialBody, CredentialList, List, PutCredentialRequest, WarningBody};

/// Registers the handlers.
pub(crate) fn routes() -> OpenApiRouter<Arc<Api>> {
    router()
        .routes(routes!(list_credentials))
        .merge(single(routes!(
            get_credential,
            put_credential,
            delete_credential
        )))
}

/// Lists the credentials of a plane.
///
/// Secrets are never returned.
#[utoipa::path(get, path = "/planes/aws/{plane}/providers/System.AWS/credentials", tag = "Credentials",
    params(AwsPlanePath, ApiVersion, Page),
    responses((status = 200, body = CredentialList)))]
async fn list_credentials(
    State(api): State<Arc<Api>>,
    path: AwsPlanePath,
    _: ApiVersion,
    page: Page,
    context: RequestContext,
) -> Result<Json<CredentialList>, Problem> {
    let (plane, after) = (path.id()?, page.after()?);
    let credentials = api
        .app
        .planes
        .list_credentials(&plane, after.as_ref(), page.top);
    let credentials = credentials.await?;
    Ok(Json(List {
        next_link: page.next(&credentials, |credential| credential.id.clone(), &context),
        ..List::of(credentials.items)
    }))
}

/// Returns a credential.
///
/// Its secret is never returned.
#[utoipa::path(get, path = "/planes/aws/{plane}/providers/System.AWS/credentials/{credential}", tag = "Credentials",
    params(CredentialPath, ApiVersion),
    responses((status = 200, body = CredentialBody, headers(("ETag" = String))),
        (status = 404, body = ErrorResponse)))]
async fn get_credential(
    State(api): State<Arc<Api>>,
    path: CredentialPath,
    _: ApiVersion,
) -> Result<Tagged<CredentialBody>, Problem> {
    Ok(tagged(api.app.planes.get_credential(&path.id()?).await?))
}

/// Creates a credential, or replaces it completely.
///
/// This server uses it at once, and others as soon as they are notified, within 30 seconds; no restart is needed.
#[utoipa::path(put, path = "/planes/aws/{plane}/providers/System.AWS/credentials/{credential}", tag = "Credentials",
    params(CredentialPath, ApiVersion, Conditions),
    request_body = PutCredentialRequest,
    responses((status = 200, body = CredentialBody, headers(("ETag" = String))),
        (status = 412, body = ErrorResponse)))]
async fn put_credential(
    State(api): State<Arc<Api>>,
    path: CredentialPath,
    _: ApiVersion,
    conditions: Conditions,
    payload: Payload,
) -> Result<(Extension<ChangedPaths>, Tagged<CredentialBody>), Problem> {
    let (id, request) = payload.judge(path.id(), PutCredentialRequest::read)?;
    let put = api
        .app
        .planes
        .put_credential(request.put(id), &conditions.into())
        .await?;
    let before = put.written.before.map(CredentialBody::from);
    let mut after = tagged(put.written.after);
    let secret = put
        .is_secret_changed
        .then_some("/properties/secretAccessKey");
    let changed = ChangedPaths::between(before, &after.1, DEPTH, secret);
    after.1.warnings = WarningBody::all(&put.warnings);
    Ok((changed, after))
}

/// Deletes a credential and its secret.
///
/// Changes already sent to AWS continue.
#[utoipa::path(delete, path = "/planes/aws/{plane}/providers/System.AWS/credentials/{credential}", tag = "Credentials",
    params(CredentialPath, ApiVersion, Conditions),
    responses((status = 200, description = "Deleted"), (status = 204, description = "The credential did not exist"),
        (status = 412, body = ErrorResponse)))]
async fn delete_credential(
    State(api): State<Arc<Api>>,
    path: CredentialPath,
    _: ApiVersion,
    conditions: Conditions,
) -> Result<StatusCode, Problem> {
    let deleted = api
        .app
        .planes
        .delete_credential(&path.id()?, &conditions.into())
        .await?;
    Ok(if deleted {
        StatusCode::OK
    } else {
        StatusCode::NO_CONTENT
    })
}

fn tagged(credential: Credential) -> Tagged<CredentialBody> {
    Tagged(credential.etag(), credential.into())
}
