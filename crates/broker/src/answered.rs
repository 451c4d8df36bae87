//! What every request and every reply passes: ids, the log, and the audit.

use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderName, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::time::{Instant, timeout};
use tracing::Instrument;
use ucp_audit::{AuditEvent, AuditOutcome};
use ucp_listen::{Peer, Place};
use ucp_model::{CorrelationId, OperationId, excerpt};

use crate::broker::Broker;
use crate::platforms::PlatformAccount;
use crate::problem::Problem;

const REQUEST_IDENTITY: HeaderName = HeaderName::from_static("x-broker-api-request-identity");
/// The maximum length of the identity of a request, in bytes.
const IDENTITY_MAX_BYTES: usize = 128;
/// Who is not known.
const NOBODY: &str = "anonymous";

/// In the extensions of a reply: there are too many like it, so that the audit only counts it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OneOfMany;

/// In the extensions of a reply: what came of the request, as far as the status does not say it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CameOf {
    /// The operation goes on.
    Accepted(OperationId),
    /// There was nothing to do.
    Unchanged,
}

/// Gives a request its id, and records what came of it. What must be recorded and cannot is not answered.
pub(crate) async fn answered(
    State(broker): State<Arc<Broker>>,
    mut request: Request,
    next: Next,
) -> Response {
    let identity = request.headers().get(REQUEST_IDENTITY).cloned();
    let id = broker.parts.app.fresh_id();
    let correlation_id = identity
        .as_ref()
        .filter(|value| value.len() <= IDENTITY_MAX_BYTES)
        .and_then(|value| value.to_str().ok())
        .map_or_else(|| CorrelationId::new(id.clone()), CorrelationId::new);
    request.extensions_mut().insert(correlation_id.clone());
    let began = Instant::now();
    let method = request.method().clone();
    let matched = request.extensions().get::<MatchedPath>().cloned();
    let route = matched.as_ref().and_then(|matched| route(matched.as_str()));
    let asked = Asked {
        action: action(&method, route),
        is_write: is_write(&method),
        path: excerpt(request.uri().path()),
        peer: request.extensions().get::<Peer>().copied(),
        correlation_id,
        id,
    };
    let span = tracing::info_span!(
        "request",
        http.method = %method,
        http.path = asked.path,
        request.id = asked.id,
        correlation.id = %asked.correlation_id,
        caller.name = tracing::field::Empty,
    );
    let mut response = if asked.is_write && !broker.parts.auditor.is_able() {
        not_recorded(
            "The audit, which this server requires, cannot record requests at the moment. Nothing was done. Try again later.",
        )
    } else {
        let is_write = asked.is_write;
        // What goes on without its client keeps its place among the connections.
        let place = request.extensions().get::<Place>().cloned();
        let replying = {
            let broker = Arc::clone(&broker);
            async move {
                let _place = place;
                let reply = timeout(broker.settings.deadline(), next.run(request)).await;
                let response = reply.unwrap_or_else(|_| not_in_time());
                record(&broker, &asked, response).await
            }
            .instrument(span.clone())
        };
        if is_write {
            // It is recorded although its client hangs up.
            tokio::spawn(replying)
                .await
                .unwrap_or_else(|_| Problem::internal().into_response())
        } else {
            replying.await
        }
    };
    let (status, took) = (response.status().as_u16(), began.elapsed());
    let metrics = &broker.parts.metrics;
    metrics.answered(route, method.as_str(), status, took);
    span.in_scope(|| tracing::debug!(http.status = response.status().as_u16(), "answered"));
    if let Some(identity) = identity {
        response.headers_mut().insert(REQUEST_IDENTITY, identity);
    }
    response
}

/// Returns the template of the route that a path matches, if one of this API does. Where this router is beside that of ARM, the
/// route that leads here is before it.
fn route(matched: &str) -> Option<&str> {
    let own = matched.strip_prefix("/v2/{*path}").unwrap_or(matched);
    own.starts_with("/v2/").then_some(own)
}

/// Returns whether a request changes something.
pub(crate) fn is_write(method: &Method) -> bool {
    matches!(*method, Method::PUT | Method::PATCH | Method::DELETE)
}

/// What the audit says of a request.
struct Asked {
    action: String,
    is_write: bool,
    path: String,
    peer: Option<Peer>,
    correlation_id: CorrelationId,
    id: String,
}

async fn record(broker: &Broker, asked: &Asked, response: Response) -> Response {
    let auditor = &broker.parts.auditor;
    if response.extensions().get::<OneOfMany>().is_some() {
        auditor.leave_out();
        return response;
    }
    let status = response.status();
    let is_refused = matches!(
        status,
        StatusCode::UNAUTHORIZED | StatusCode::TOO_MANY_REQUESTS
    );
    if !asked.is_write && !is_refused {
        return response;
    }
    let extensions = response.extensions();
    let account = extensions.get::<Arc<PlatformAccount>>();
    let came_of = extensions.get::<CameOf>();
    let code = extensions
        .get::<Problem>()
        .map(Problem::code)
        .filter(|code| !code.is_empty());
    let outcome = match came_of {
        _ if is_refused => AuditOutcome::Refused,
        _ if status.is_client_error() || status.is_server_error() => AuditOutcome::Failed,
        Some(CameOf::Unchanged) => AuditOutcome::Unchanged,
        Some(CameOf::Accepted(_)) | None => AuditOutcome::Allowed,
    };
    let event = AuditEvent {
        at: broker.parts.app.time(),
        caller: account.map_or_else(|| NOBODY.to_owned(), |account| account.platform.caller()),
        peer: asked
            .peer
            .map(|Peer(address)| address.ip().to_canonical().to_string()),
        action: asked.action.clone(),
        id: asked.path.clone(),
        outcome,
        status: Some(status.as_u16()),
        code: code.map(str::to_owned),
        correlation_id: asked.correlation_id.clone(),
        request_id: asked.id.clone(),
        operation: match came_of {
            Some(CameOf::Accepted(operation)) => Some(*operation),
            Some(CameOf::Unchanged) | None => None,
        },
        change: None,
        paths: Vec::new(),
        suppressed: 0,
    };
    match auditor.record(event).await {
        Ok(()) => response,
        Err(_) => not_recorded(
            "The audit, which this server requires, could not record this request. What it asked for may have been done: poll last_operation before you send it again.",
        ),
    }
}

fn not_in_time() -> Response {
    let description = "The request was not answered in time. What it asked for may have been done: poll last_operation before you send it again.";
    Problem::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "ServiceUnavailable",
        description,
    )
    .into_response()
}

fn not_recorded(description: &str) -> Response {
    Problem::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "ServiceUnavailable",
        description,
    )
    .into_response()
}

/// Returns the name of what is asked for, such as `broker/serviceInstances/write`.
fn action(method: &Method, matched: Option<&str>) -> String {
    let Some(matched) = matched else {
        return method.to_string();
    };
    let kind = match matched {
        _ if matched.contains("/service_bindings/") => "serviceBindings",
        _ if matched.contains("/service_instances/") => "serviceInstances",
        _ => "catalog",
    };
    let verb = match *method {
        Method::PUT | Method::PATCH => "write",
        Method::DELETE => "delete",
        _ => "read",
    };
    format!("broker/{kind}/{verb}")
}
