//! The handlers, a file per noun: extract, one call of the app, and each outcome as a response.

pub(crate) mod aws_resources;
pub(crate) mod credentials;
pub(crate) mod discovery;
pub(crate) mod error_pages;
pub(crate) mod health;
pub(crate) mod named_resources;
pub(crate) mod operations;
pub(crate) mod planes;
pub(crate) mod references;
pub(crate) mod resource_groups;

use axum::Json;
use axum::extract::FromRequestParts;
use axum::http::header::{LOCATION, RETRY_AFTER};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use ucp_model::{Failure, Operation};

use crate::context::RequestContext;
use crate::problem::Problem;
use crate::query::Parameters;

const AZURE_ASYNC_OPERATION: HeaderName = HeaderName::from_static("azure-asyncoperation");
/// The version of ARM's API that planes, groups and credentials are served in.
pub(crate) const API_VERSION: &str = "2023-10-01-preview";

/// Extracted when the query's api-version is one that we speak.
#[derive(Debug)]
pub(crate) struct ApiVersion;

impl<S: Send + Sync> FromRequestParts<S> for ApiVersion {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let parameters = Parameters::of(&parts.uri)?;
        let given = parameters.get(&["api-version"]).unwrap_or_default();
        if given.eq_ignore_ascii_case(API_VERSION) {
            return Ok(Self);
        }
        let shown: String = given
            .chars()
            .take(60)
            .flat_map(char::escape_debug)
            .collect();
        let message =
            format!("The api-version '{shown}' is not supported. Use ?api-version={API_VERSION}.");
        let failure = Failure::new("InvalidApiVersionParameter", message);
        Err(Problem::new(StatusCode::BAD_REQUEST, failure))
    }
}

/// A reply with polling headers.
fn accepted(
    status: StatusCode,
    body: impl Serialize,
    urls: (String, String),
    context: &RequestContext,
) -> Response {
    let mut response = (status, Json(body)).into_response();
    let (status_url, result_url) = urls;
    let headers = response.headers_mut();
    for (name, url) in [(AZURE_ASYNC_OPERATION, status_url), (LOCATION, result_url)] {
        if let Ok(value) = HeaderValue::from_str(&url) {
            headers.insert(name, value);
        }
    }
    headers.insert(RETRY_AFTER, HeaderValue::from(context.retry_after()));
    response
}

fn polling_urls(operation: &Operation, context: &RequestContext) -> (String, String) {
    (context.status_url(operation), context.result_url(operation))
}
