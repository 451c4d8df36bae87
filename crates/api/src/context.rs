//! The context of a request beyond path and body, and the headers of every reply.

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::header::{LOCATION, RETRY_AFTER};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{AppendHeaders, IntoResponse, IntoResponseParts, Response};
use serde::Serialize;
use serde_json::json;
use tokio::time::Instant;
use tracing::Instrument;
use tracing::field::Empty;
use ucp_access::{Principal, Rights};
use ucp_app::{Caller, Recipient};
use ucp_model::CorrelationId;
use utoipa::{IntoParams, IntoResponses};

use crate::audit_notes::{CameOf, Noted, RequestId};
use crate::logged;
use crate::origin::BaseUrl;
use crate::polling_paths::PollingPaths;
use crate::problem::{Problem, RefusalCode};
use crate::replies::Json;
use crate::rights::named;
use crate::routes::health;
use crate::state::Api;
use crate::weighed::Weight;

const AZURE_ASYNC_OPERATION: HeaderName = HeaderName::from_static("azure-asyncoperation");
const CORRELATION_ID: HeaderName = HeaderName::from_static("x-ms-correlation-request-id");
const CLIENT_REQUEST_ID: HeaderName = HeaderName::from_static("x-ms-client-request-id");
const RETURN_CLIENT_REQUEST_ID: HeaderName =
    HeaderName::from_static("x-ms-return-client-request-id");
const REQUEST_ID: HeaderName = HeaderName::from_static("x-ms-request-id");

/// The maximum length of the ids that a client gives to a request, in bytes.
pub(crate) const REQUEST_ID_MAX_BYTES: usize = 128;

/// The context of a request.
#[derive(Clone, Debug)]
pub(crate) struct RequestContext {
    pub(crate) caller: Caller,
    pub(crate) base_url: BaseUrl,
    /// What the audit learns of the request.
    pub(crate) noted: Noted,
    retry_after: u64,
}

impl RequestContext {
    /// Returns the absolute URL of a path of this server.
    pub(crate) fn absolute(&self, path: &str) -> String {
        format!("{}{path}", self.base_url)
    }

    /// 202 with the headers for polling `operation`.
    pub(crate) fn accepted(&self, operation: impl Into<PollingPaths>) -> Response {
        self.under_way(StatusCode::ACCEPTED, json!({}), operation)
    }

    /// 201 or 202 with `body`, and the headers for polling `operation`.
    pub(crate) fn under_way(
        &self,
        status: StatusCode,
        body: impl Serialize,
        operation: impl Into<PollingPaths>,
    ) -> Response {
        let operation = operation.into();
        let accepted = Extension(CameOf::Accepted(operation.operation));
        (status, accepted, self.polling(operation), Json(body)).into_response()
    }

    /// 202: the result at `path` is not available yet.
    pub(crate) fn not_yet(&self, path: &str) -> Response {
        let headers = [(LOCATION, self.absolute(path))];
        (StatusCode::ACCEPTED, self.again(), headers).into_response()
    }

    /// The `Retry-After` header.
    pub(crate) fn again(&self) -> [(HeaderName, String); 1] {
        [(RETRY_AFTER, self.retry_after.to_string())]
    }

    fn polling(&self, operation: PollingPaths) -> impl IntoResponseParts {
        let urls = [
            (AZURE_ASYNC_OPERATION, self.absolute(&operation.status)),
            (LOCATION, self.absolute(&operation.result)),
        ];
        (AppendHeaders(urls), self.again())
    }
}

impl FromRequestParts<Arc<Api>> for RequestContext {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, Problem> {
        let correlation_id = parts.extensions.get::<CorrelationId>().cloned();
        let base_url = parts.extensions.get::<BaseUrl>();
        let principal = parts.extensions.get::<Arc<Principal>>();
        let rights = parts.extensions.get::<Rights>();
        let recipient = parts.extensions.get::<Recipient>();
        let weight = parts.extensions.get::<Weight>();
        let prefers_async = prefers_async(&parts.headers);
        let patience = |wait| if prefers_async { Duration::ZERO } else { wait };
        Ok(Self {
            caller: Caller {
                name: principal.ok_or_else(Problem::internal)?.name.clone(),
                rights: rights.cloned().ok_or_else(Problem::internal)?,
                principal: named(api, &parts.extensions)?.cloned(),
                correlation_id: correlation_id.ok_or_else(Problem::internal)?,
                verdict_wait: patience(api.settings.verdict_wait),
                group_delete_wait: patience(api.settings.group_delete_wait),
                recipient: recipient.cloned().unwrap_or_default(),
                room: weight.map(|weight| weight.work.clone()).unwrap_or_default(),
            },
            base_url: base_url.cloned().ok_or_else(Problem::internal)?,
            noted: parts.extensions.get::<Noted>().cloned().unwrap_or_default(),
            retry_after: api.settings.retry_after_seconds(),
        })
    }
}

/// 202: the reply to a request that continues in the background.
#[derive(IntoResponses)]
#[response(
    status = 202,
    description = "Accepted; poll the URLs in the headers",
    headers(("Azure-AsyncOperation" = String), ("Location" = String), ("Retry-After" = u64))
)]
pub(crate) struct UnderWay;

/// The `Prefer` header; evaluated in [`RequestContext`].
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "describes the header")]
pub(crate) struct Preference {
    /// `respond-async` requests an immediate reply instead of waiting for the outcome.
    #[param(rename = "Prefer")]
    prefer: Option<String>,
}

/// Whether the request has `Prefer: respond-async` (RFC 7240).
fn prefers_async(headers: &HeaderMap) -> bool {
    let preferences = headers
        .get_all("prefer")
        .iter()
        .filter_map(|value| value.to_str().ok());
    preferences
        .flat_map(|value| value.split([',', ';']))
        .any(|preference| preference.trim().eq_ignore_ascii_case("respond-async"))
}

/// Opens the span of the request, and sets the ids of the request and the reply.
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
        http.method = logged::shown(request.method().as_str()),
        http.path = logged::shown(request.uri().path()),
        request.id = request_id,
        correlation.id = correlation_text,
        client.request.id = client_request
            .as_ref()
            .and_then(|value| value.to_str().ok()),
        caller.name = Empty,
        traceparent = logged::traceparent(headers),
    );
    let correlation_id = CorrelationId::new(correlation_text);
    request.extensions_mut().insert(correlation_id);
    let given = RequestId(request_id.clone());
    request.extensions_mut().insert(given);
    let is_probe = health::is_probe(request.uri().path());
    let started = Instant::now();
    let mut response = next.run(request).instrument(span.clone()).await;
    let status = response.status().as_u16();
    let code = response.extensions_mut().remove::<RefusalCode>();
    let code = code.map(|RefusalCode(code)| code);
    let duration = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    span.in_scope(|| {
        if is_probe {
            tracing::debug!(
                http.status = status,
                http.duration_ms = duration,
                code,
                "answered"
            )
        } else {
            tracing::info!(
                http.status = status,
                http.duration_ms = duration,
                code,
                "answered"
            )
        }
    });
    let headers = response.headers_mut();
    headers.insert(CORRELATION_ID, correlation);
    headers.insert(REQUEST_ID, header(&request_id));
    if let Some(client_request) = client_request.filter(|_| returned) {
        headers.insert(CLIENT_REQUEST_ID, client_request);
    }
    response
}

/// Whether a client's id is short and visible. Any other is replaced, not echoed.
fn is_id(value: &HeaderValue) -> bool {
    (1..=REQUEST_ID_MAX_BYTES).contains(&value.len())
        && value.as_bytes().iter().all(u8::is_ascii_graphic)
}

fn header(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap_or_else(|_| HeaderValue::from_static("unknown"))
}
