//! The routers that routes are registered on.

use std::sync::Arc;

use axum::Router;
use utoipa_axum::router::OpenApiRouter;

use crate::state::Api;

/// A router that accepts literal segments such as `:put`, which axum otherwise refuses as captures in the syntax of 0.7.
pub(crate) fn router() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::from(Router::new().without_v07_checks())
}
