//! The handlers, one file per noun. Each makes one call to the app and turns the outcome into a response.

mod audit_events;
mod aws_resources;
mod azure_credentials;
mod credentials;
pub(crate) mod discovery;
mod error_pages;
pub(crate) mod guides;
pub(crate) mod health;
mod leftovers;
pub(crate) mod metrics;
mod operations;
mod planes;
mod plans;
mod predictions;
mod refactors;
mod references;
mod resource_groups;
mod resource_types;
mod role_assignments;
mod sets;
mod version;

use std::sync::Arc;

use utoipa_axum::router::OpenApiRouter;

use crate::router::router;
use crate::state::Api;

/// The routes of the API.
pub(crate) fn described() -> OpenApiRouter<Arc<Api>> {
    router()
        .merge(error_pages::routes())
        .merge(planes::routes())
        .merge(resource_groups::routes())
        .merge(sets::routes())
        .merge(refactors::routes())
        .merge(references::routes())
        .merge(leftovers::routes())
        .merge(aws_resources::routes())
        .merge(resource_types::routes())
        .merge(credentials::routes())
        .merge(azure_credentials::routes())
        .merge(operations::routes())
        .merge(plans::routes())
        .merge(predictions::routes())
        .merge(role_assignments::routes())
        .merge(audit_events::routes())
        .merge(version::routes())
        .merge(metrics::routes())
}

/// The routes of the health probes, which accept any `Host`.
pub(crate) fn probes() -> OpenApiRouter<Arc<Api>> {
    health::routes()
}
