//! The handlers, a file per noun: extract, one call of the app, and each outcome as a response.

mod aws_resources;
mod credentials;
pub(crate) mod discovery;
mod error_pages;
mod health;
mod operations;
mod planes;
mod references;
mod resource_groups;

use std::sync::Arc;

use axum::Router;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::aws_resources::{actions, by_name};
use crate::state::Api;

/// A router that takes literal segments such as `:put`, which axum otherwise takes for captures of its version 0.7.
fn unchecked() -> Router<Arc<Api>> {
    Router::new().without_v07_checks()
}

/// The routes of the API.
pub(crate) fn described() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::from(unchecked())
        .routes(routes!(error_pages::get_error_page))
        .routes(routes!(planes::list_planes))
        .routes(routes!(planes::list_planes_of_type))
        .routes(routes!(
            planes::get_plane,
            planes::put_plane,
            planes::delete_plane
        ))
        .routes(routes!(planes::list_resource_providers))
        .routes(routes!(planes::get_resource_provider))
        .routes(routes!(resource_groups::list_resource_groups))
        .routes(routes!(
            resource_groups::put_resource_group,
            resource_groups::get_resource_group,
            resource_groups::delete_resource_group
        ))
        .routes(routes!(resource_groups::list_resource_group_resources))
        .routes(routes!(resource_groups::import_resource_group_resources))
        .routes(routes!(operations::list_resource_group_operations))
        .routes(routes!(references::list_references))
        .routes(routes!(
            references::get_reference,
            references::update_reference,
            references::delete_reference
        ))
        .routes(routes!(by_name::list_aws_resources))
        .routes(routes!(
            by_name::get_named_aws_resource,
            by_name::put_named_aws_resource,
            by_name::delete_named_aws_resource
        ))
        .routes(routes!(credentials::list_credentials))
        .routes(routes!(
            credentials::get_credential,
            credentials::put_credential,
            credentials::delete_credential
        ))
        .routes(routes!(actions::import_aws_resource))
        .routes(routes!(actions::put_aws_resource))
        .routes(routes!(actions::get_aws_resource))
        .routes(routes!(actions::delete_aws_resource))
        .routes(routes!(operations::get_operation_status))
        .routes(routes!(operations::cancel_operation))
        .routes(routes!(operations::get_operation_result))
        .routes(routes!(operations::get_plane_operation_status))
        .routes(routes!(operations::cancel_plane_operation))
        .routes(routes!(operations::get_plane_operation_result))
}

/// What an orchestrator asks, whatever Host it does so by.
pub(crate) fn probes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::from(unchecked())
        .routes(routes!(health::get_health))
        .routes(routes!(health::get_readiness))
}
