//! The catalog.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::header::{CONTENT_TYPE, ETAG};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

use crate::broker::Broker;
use crate::platforms::PlatformAccount;
use crate::problem::Problem;

pub(crate) async fn get(
    State(broker): State<Arc<Broker>>,
    Extension(account): Extension<Arc<PlatformAccount>>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let catalog = broker.catalog(&account.platform);
    let catalog = catalog.ok_or_else(Problem::internal)?;
    let etag = [(ETAG, catalog.etag.clone())];
    if catalog.is_named_by(&headers) {
        return Ok((StatusCode::NOT_MODIFIED, etag).into_response());
    }
    let json = [(CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    Ok((etag, json, catalog.body.clone()).into_response())
}
