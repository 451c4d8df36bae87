//! What resource types there are, and what a type has.

use std::sync::Arc;

use axum::extract::State;
use ucp_wire::ErrorResponse;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::context::RequestContext;
use crate::path::{AwsResourceProviderPath, AwsResourceProvidersPath, CollectionPath};
use crate::problem::Problem;
use crate::query::Page;
use crate::replies::Json;
use crate::router::router;
use crate::state::Api;
use crate::wire::{List, ResourceProviderList, ResourceProviderSummary, ResourceTypeBody};

/// Registers the handlers.
pub(crate) fn routes() -> OpenApiRouter<Arc<Api>> {
    router()
        .routes(routes!(list_aws_resource_providers))
        .routes(routes!(get_aws_resource_provider))
        .routes(routes!(get_aws_resource_type))
}

/// Lists the AWS services with their resource types.
///
/// Private types are not listed.
#[utoipa::path(get, tag = "Resource types",
    path = "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers",
    params(AwsResourceProvidersPath, Page),
    responses((status = 200, body = ResourceProviderList)))]
async fn list_aws_resource_providers(
    State(api): State<Arc<Api>>,
    path: AwsResourceProvidersPath,
    page: Page,
    context: RequestContext,
) -> Result<Json<ResourceProviderList>, Problem> {
    let scope = path.scope()?;
    let after: Option<String> = page.after()?;
    let providers = api
        .app
        .types
        .list_resource_providers(&scope, after.as_deref(), page.top)?;
    let summary = |provider| ResourceProviderSummary::of(&provider, &scope);
    Ok(Json(List {
        next_link: page.next(&providers, |provider| provider.namespace.clone(), &context),
        ..List::of(providers.items.into_iter().map(summary))
    }))
}

/// Returns an AWS service with its resource types.
///
/// Private types are not listed.
#[utoipa::path(get, tag = "Resource types",
    path = "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}",
    params(AwsResourceProviderPath),
    responses((status = 200, body = ResourceProviderSummary), (status = 404, body = ErrorResponse)))]
async fn get_aws_resource_provider(
    State(api): State<Arc<Api>>,
    path: AwsResourceProviderPath,
) -> Result<Json<ResourceProviderSummary>, Problem> {
    let scope = path.scope()?;
    let provider = api
        .app
        .types
        .get_resource_provider(&scope, &path.namespace)?;
    Ok(Json(ResourceProviderSummary::of(&provider, &scope)))
}

/// Describes a resource type: its properties, its identifier, and what can be done with its resources.
///
/// Private types are described too. The built-in schemas have no descriptions of properties.
#[utoipa::path(get, tag = "Resource types",
    path = "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/resourceTypes/{type}",
    params(CollectionPath),
    responses((status = 200, body = ResourceTypeBody), (status = 404, body = ErrorResponse)))]
async fn get_aws_resource_type(
    State(api): State<Arc<Api>>,
    path: CollectionPath,
) -> Result<Json<ResourceTypeBody>, Problem> {
    let (scope, type_name) = (path.scope()?, path.type_name()?);
    let schema = api.app.types.get_resource_type(&scope, &type_name).await?;
    Ok(Json(ResourceTypeBody::of(&schema, &scope)))
}
