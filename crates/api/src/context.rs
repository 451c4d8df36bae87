//! What a handler knows of its request beyond path and body, and the headers that every reply carries.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use tracing::Instrument;
use ucp_app::Caller;
use ucp_model::{CorrelationId, GroupOperation, Operation, OperationId, PlaneId};

use crate::origin::BaseUrl;
use crate::problem::Problem;
use crate::{Api, Settings};

const CORRELATION_ID: HeaderName = HeaderName::from_static("x-ms-correlation-request-id");
const CLIENT_REQUEST_ID: HeaderName = HeaderName::from_static("x-ms-client-request-id");
const RETURN_CLIENT_REQUEST_ID: HeaderName =
    HeaderName::from_static("x-ms-return-client-request-id");
const REQUEST_ID: HeaderName = HeaderName::from_static("x-ms-request-id");

/// Ids of one request, drawn or taken over before it is routed.
#[derive(Clone, Debug)]
struct RequestIds {
    correlation: CorrelationId,
}

/// What a handler knows of its request.
#[derive(Clone, Debug)]
pub(crate) struct RequestContext {
    pub(crate) caller: Caller,
    pub(crate) base_url: BaseUrl,
    retry_after: Duration,
}

impl RequestContext {
    /// `Retry-After`, in whole seconds.
    pub(crate) fn retry_after(&self) -> u64 {
        self.retry_after.as_secs().max(1)
    }

    /// Where an operation's status is read.
    pub(crate) fn status_url(&self, operation: &Operation) -> String {
        format!("{}{}", self.base_url, status_path(operation))
    }

    /// Where an operation's result is read.
    pub(crate) fn result_url(&self, operation: &Operation) -> String {
        format!(
            "{}{}",
            self.base_url,
            operation_path(operation, "operationResults")
        )
    }

    /// The same below a radius plane, for operations on references.
    pub(crate) fn plane_urls(&self, plane: &PlaneId, id: OperationId) -> (String, String) {
        let url = |collection| self.absolute(&plane_path(plane, id, collection));
        (url("operationStatuses"), url("operationResults"))
    }

    /// The same for an operation on a group.
    pub(crate) fn group_urls(&self, operation: &GroupOperation) -> (String, String) {
        self.plane_urls(&operation.group.plane_id(), operation.id)
    }

    /// The absolute form of a path of ours.
    pub(crate) fn absolute(&self, path: &str) -> String {
        format!("{}{path}", self.base_url)
    }
}

/// The id of the status of an operation on a group.
pub(crate) fn group_status_path(operation: &GroupOperation) -> String {
    let plane = operation.group.plane_id();
    plane_path(&plane, operation.id, "operationStatuses")
}

fn plane_path(plane: &PlaneId, id: OperationId, collection: &str) -> String {
    format!("{plane}/providers/System.Resources/locations/global/{collection}/{id}")
}

/// The id of an operation's status.
pub(crate) fn status_path(operation: &Operation) -> String {
    operation_path(operation, "operationStatuses")
}

fn operation_path(operation: &Operation, collection: &str) -> String {
    let Operation {
        id,
        scope,
        type_name,
        ..
    } = operation;
    format!(
        "{scope}/providers/{}/locations/global/{collection}/{id}",
        type_name.namespace()
    )
}

impl FromRequestParts<Arc<Api>> for RequestContext {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, Problem> {
        let Settings {
            verdict_wait,
            group_delete_wait,
            retry_after,
            ..
        } = api.settings;
        let ids = parts.extensions.get::<RequestIds>().cloned();
        let correlation_id = match ids {
            Some(ids) => ids.correlation,
            None => CorrelationId::new(api.app.fresh_id()),
        };
        let base_url = parts.extensions.get::<BaseUrl>();
        let base_url = base_url.cloned().ok_or_else(Problem::internal)?;
        let prefers_async = prefers_async(&parts.headers);
        let patience = |wait| if prefers_async { Duration::ZERO } else { wait };
        let caller = Caller {
            name: "anonymous".to_owned(),
            correlation_id,
            verdict_wait: patience(verdict_wait),
            group_delete_wait: patience(group_delete_wait),
        };
        Ok(Self {
            caller,
            base_url,
            retry_after,
        })
    }
}

/// `Prefer: respond-async` (RFC 7240).
fn prefers_async(headers: &HeaderMap) -> bool {
    let preferences = headers
        .get_all("prefer")
        .iter()
        .filter_map(|value| value.to_str().ok());
    preferences
        .flat_map(|value| value.split([',', ';']))
        .any(|preference| preference.trim().eq_ignore_ascii_case("respond-async"))
}

/// Opens the request's span, and puts the ids on the request and the reply.
pub(crate) async fn identify(
    State(api): State<Arc<Api>>,
    mut request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    let taken_over = headers
        .get(CORRELATION_ID)
        .filter(|value| is_id(value))
        .cloned();
    let correlation = taken_over.unwrap_or_else(|| header(&api.app.fresh_id()));
    let returned = headers
        .get(RETURN_CLIENT_REQUEST_ID)
        .is_some_and(|value| value == "true");
    let client_request = headers
        .get(CLIENT_REQUEST_ID)
        .filter(|value| is_id(value))
        .cloned();
    let request_id = api.app.fresh_id();
    let correlation_text = correlation.to_str().unwrap_or_default().to_owned();
    let span = tracing::info_span!(
        "request",
        http.method = %request.method(),
        http.path = request.uri().path(),
        request.id = request_id,
        correlation.id = correlation_text,
        client.request.id = client_request.as_ref().and_then(|value| value.to_str().ok()),
        traceparent = headers.get("traceparent").and_then(|value| value.to_str().ok()),
    );
    request.extensions_mut().insert(RequestIds {
        correlation: CorrelationId::new(correlation_text),
    });
    let mut response = next.run(request).instrument(span.clone()).await;
    span.in_scope(|| tracing::debug!(http.status = response.status().as_u16(), "answered"));
    let headers = response.headers_mut();
    headers.insert(CORRELATION_ID, correlation);
    headers.insert(REQUEST_ID, header(&request_id));
    if let Some(client_request) = client_request.filter(|_| returned) {
        headers.insert(CLIENT_REQUEST_ID, client_request);
    }
    response
}

/// Something short and visible; anything else is replaced, not echoed.
fn is_id(value: &HeaderValue) -> bool {
    (1..=128).contains(&value.len()) && value.as_bytes().iter().all(u8::is_ascii_graphic)
}

fn header(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap_or_else(|_| HeaderValue::from_static("unknown"))
}
