//! The credentials of Azure planes, which `rad credential list` asks for. There are none.

use std::sync::Arc;

use axum::http::StatusCode;
use ucp_model::{ErrorCode, Failure, excerpt};
use ucp_wire::ErrorResponse;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::path::{AzureCredentialPath, AzureCredentialsPath};
use crate::problem::Problem;
use crate::query::ApiVersion;
use crate::replies::Json;
use crate::router::router;
use crate::state::Api;
use crate::wire::{CredentialList, List};

/// Registers the handlers.
pub(crate) fn routes() -> OpenApiRouter<Arc<Api>> {
    router()
        .routes(routes!(list_azure_credentials))
        .routes(routes!(get_azure_credential))
}

/// Lists the credentials of an Azure plane.
///
/// The list is always empty, since ucp manages AWS resources only.
#[utoipa::path(get, path = "/planes/azure/{plane}/providers/System.Azure/credentials", tag = "Credentials",
    params(AzureCredentialsPath, ApiVersion),
    responses((status = 200, body = CredentialList)))]
async fn list_azure_credentials(
    _: AzureCredentialsPath,
    _: ApiVersion,
) -> Result<Json<CredentialList>, Problem> {
    Ok(Json(List {
        value: Vec::new(),
        next_link: None,
    }))
}

/// Returns a credential of an Azure plane.
///
/// The reply is always 404, since ucp manages AWS resources only.
#[utoipa::path(get, path = "/planes/azure/{plane}/providers/System.Azure/credentials/{credential}", tag = "Credentials",
    params(AzureCredentialPath, ApiVersion),
    responses((status = 404, body = ErrorResponse)))]
async fn get_azure_credential(path: AzureCredentialPath, _: ApiVersion) -> Result<(), Problem> {
    let shown = excerpt(&path.credential);
    let message = format!(
        "There is no Azure credential '{shown}'. ucp manages AWS resources; their credentials are at /planes/aws/aws/providers/System.AWS/credentials."
    );
    let failure = Failure::new(ErrorCode::NotFound, message);
    Err(Problem::new(StatusCode::NOT_FOUND, failure))
}
