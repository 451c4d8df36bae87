use std::sync::Arc;

use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use ucp_wire::ErrorResponse;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::error_code::{ErrorCode, INDEX, RETRY_CLASSES};
use crate::path::ErrorCodePath;
use crate::problem::Problem;
use crate::router::router;
use crate::state::Api;

/// Registers the handlers.
pub(crate) fn routes() -> OpenApiRouter<Arc<Api>> {
    router().routes(routes!(get_error_page))
}

const MARKDOWN: &str = "text/markdown; charset=utf-8";

/// Returns the documentation of an error code: what happened, what ucp did, and what to do.
///
/// `README` returns the index, and `retry-classes` how operations go on after each error of AWS.
#[utoipa::path(get, path = "/docs/errors/{code}", tag = "Errors",
    params(ErrorCodePath),
    responses((status = 200, description = "The page", body = String, content_type = "text/markdown"),
        (status = 404, body = ErrorResponse)))]
async fn get_error_page(path: ErrorCodePath) -> Result<impl IntoResponse, Problem> {
    let page = match path.code.strip_suffix(".md").unwrap_or(&path.code) {
        "README" => Some(INDEX),
        "retry-classes" => Some(RETRY_CLASSES),
        name => ErrorCode::find(name).map(|known| known.page),
    };
    page.map(|page| ([(CONTENT_TYPE, MARKDOWN)], page))
        .ok_or_else(|| {
            Problem::not_found(
                "No page exists for this error code. /docs/errors/README.md lists all pages.",
            )
        })
}
