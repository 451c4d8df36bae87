//! AWS resources by action and by name.

mod actions;
mod by_name;
mod outcome;

use std::sync::Arc;

use utoipa_axum::router::OpenApiRouter;

use crate::router::router;
use crate::state::Api;

/// The routes by name and by action.
pub(crate) fn routes() -> OpenApiRouter<Arc<Api>> {
    router().merge(by_name::routes()).merge(actions::routes())
}
