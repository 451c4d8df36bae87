//! The guides, so that `/docs` can link to them: the pages of the project's `docs` for users.

use std::sync::Arc;

use axum::Router;
use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::get;

use crate::problem::Problem;
use crate::state::Api;

const MARKDOWN: &str = "text/markdown; charset=utf-8";

/// The name of each page of `docs/how-to`, and its text.
macro_rules! guides {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../docs/how-to/", $name)))),+]
    };
}

const GUIDES: &[(&str, &str)] = guides![
    "README.md",
    "access.md",
    "adopt.md",
    "audit.md",
    "authentication.md",
    "backup.md",
    "behind-a-proxy.md",
    "broker.md",
    "ci.md",
    "command-line.md",
    "iam-policy.md",
    "plans.md",
    "postgres.md",
    "refactor.md",
    "rename.md",
    "replace.md",
    "sets.md",
    "several-accounts.md",
    "upgrade.md",
    "what-if.md",
];
const LIMITS: &str = include_str!("../../../../docs/limits.md");
const CONCEPTS: &str = include_str!("../../../../docs/concepts.md");
const OFFERINGS: &str = include_str!("../../../../docs/offerings.md");
const SIMULATOR: &str = include_str!("../../../../docs/simulator.md");

/// Registers the handlers. They are not part of the API, so its document does not describe them.
pub(crate) fn routes() -> Router<Arc<Api>> {
    // What it is merged with has paths such as `/:put`.
    Router::new()
        .without_v07_checks()
        .route("/docs/limits.md", get(async || markdown(LIMITS)))
        .route("/docs/concepts.md", get(async || markdown(CONCEPTS)))
        .route("/docs/offerings.md", get(async || markdown(OFFERINGS)))
        .route("/docs/simulator.md", get(async || markdown(SIMULATOR)))
        .route("/docs/how-to/{page}", get(get_guide))
}

async fn get_guide(
    page: Result<Path<String>, PathRejection>,
) -> Result<impl IntoResponse, Problem> {
    let Path(page) = page?;
    let guide = GUIDES.iter().find(|(name, _)| *name == page);
    let (_, text) = guide.ok_or_else(|| {
        Problem::not_found("No guide has this name. /docs/how-to/README.md lists all guides.")
    })?;
    Ok(markdown(text))
}

fn markdown(text: &'static str) -> impl IntoResponse {
    ([(CONTENT_TYPE, MARKDOWN)], text)
}
