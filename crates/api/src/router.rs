//! The routers that routes are registered on.

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use crate::existence;
use crate::state::Api;

/// A router that accepts literal segments such as `:put`, which axum otherwise refuses as captures in the syntax of 0.7.
pub(crate) fn router() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::from(Router::new().without_v07_checks())
}

/// The routes of a single resource. They answer HEAD with 204 if it exists.
pub(crate) fn single(routes: UtoipaMethodRouter<Arc<Api>>) -> OpenApiRouter<Arc<Api>> {
    router().routes(routes).layer(from_fn(existence::checked))
}
