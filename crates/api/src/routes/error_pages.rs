use axum::extract::Path;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use ucp_model::Failure;

use crate::error_code::{ErrorCode, INDEX};
use crate::problem::Problem;
use crate::wire::ErrorResponse;

const MARKDOWN: &str = "text/markdown; charset=utf-8";

/// Explains an error code: what happened, what ucp did, and what to do. `README` is the index.
#[utoipa::path(get, path = "/docs/errors/{code}", tag = "Errors",
    params(("code" = String, Path, example = "AlreadyExists",
        description = "The code, with or without `.md` at its end, by which the pages link to each other")),
    responses((status = 200, description = "The page", body = String, content_type = "text/markdown"),
        (status = 404, body = ErrorResponse)))]
pub(crate) async fn get_error_page(Path(code): Path<String>) -> Result<Response, Problem> {
    let name = code.strip_suffix(".md").unwrap_or(&code);
    let page = match name {
        "README" => Some(INDEX),
        name => ErrorCode::find(name).map(|known| known.page),
    };
    match page {
        Some(page) => Ok(([(CONTENT_TYPE, MARKDOWN)], page).into_response()),
        None => {
            let message = "There is no page about this error code. /docs/errors/README.md lists those that there are.";
            let failure = Failure::new("NotFound", message);
            Err(Problem::new(StatusCode::NOT_FOUND, failure))
        }
    }
}
