//! Every request that changes something, and every refusal, is recorded.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::future::join_all;
use ucp_access::{ANONYMOUS, GrantChange, Principal};
use ucp_audit::{AuditEvent, AuditOutcome, NotRecorded};
use ucp_listen::Peer;
use ucp_model::{CorrelationId, ErrorCode, Failure};

use crate::action::{self, Effect, action};
use crate::audit_notes::{CameOf, Noted, OneOfMany, RequestId};
use crate::changed_paths::ChangedPaths;
use crate::logged;
use crate::problem::Problem;
use crate::state::Api;

/// In the extensions of every request: what the audit says of it, once it is known what came of it.
pub(crate) struct Asked {
    api: Arc<Api>,
    noted: Noted,
    method: Method,
    peer: Option<Peer>,
    /// The canonical path.
    path: String,
    correlation_id: CorrelationId,
    request_id: String,
}

impl Asked {
    /// Returns the event of a reply, if it is one. Reads that are answered are none.
    fn answered(&self, response: &Response) -> Option<AuditEvent> {
        let status = response.status();
        let problem = response.extensions().get::<Problem>();
        let code = problem.map(Problem::code);
        let came_of = response.extensions().get::<CameOf>();
        let (is_write, is_known) = {
            let effect = self.effect();
            // There is nothing that a method which is not served could change.
            let is_served = status != StatusCode::METHOD_NOT_ALLOWED;
            let is_write = effect == Some(Effect::Write) && is_served;
            (is_write, self.noted.notes().caller.is_some())
        };
        let is_refused = match status {
            StatusCode::UNAUTHORIZED => true,
            // Not those of AWS.
            StatusCode::TOO_MANY_REQUESTS if is_known => {
                code == Some(ErrorCode::TooManyRequests.as_str())
            }
            StatusCode::TOO_MANY_REQUESTS => true,
            _ if problem.is_some_and(Problem::hides) => true,
            _ => code == Some(ErrorCode::AuthorizationFailed.as_str()),
        };
        if !is_write && !is_refused {
            return None;
        }
        let outcome = match came_of {
            _ if is_refused => AuditOutcome::Refused,
            _ if problem.is_some() || status.is_client_error() || status.is_server_error() => {
                AuditOutcome::Failed
            }
            Some(CameOf::Unchanged) => AuditOutcome::Unchanged,
            Some(CameOf::Accepted(_)) | None => AuditOutcome::Allowed,
        };
        let operation = match came_of {
            Some(CameOf::Accepted(id)) => Some(*id),
            Some(CameOf::Unchanged) | None => problem.and_then(Problem::operation),
        };
        let change = response.extensions().get::<GrantChange>();
        let paths = response.extensions().get::<ChangedPaths>();
        Some(AuditEvent {
            change: change.cloned(),
            paths: paths
                .map(|ChangedPaths(paths)| paths.clone())
                .unwrap_or_default(),
            status: Some(status.as_u16()),
            code: code.map(str::to_owned),
            operation,
            ..self.event(outcome)
        })
    }

    /// Returns what the request does, once that is known.
    pub(crate) fn effect(&self) -> Option<Effect> {
        self.noted.effect()
    }

    /// Records that the time of the request is over, if it may have changed something. When it has ended, another event says
    /// what came of it.
    pub(crate) async fn given_up(&self, status: StatusCode, code: ErrorCode) {
        if let Some(event) = self.unanswered() {
            let event = AuditEvent {
                status: Some(status.as_u16()),
                code: Some(code.as_str().to_owned()),
                ..event
            };
            // The reply says already that the server cannot do it.
            let _ = self.record(event).await;
        }
    }

    async fn record(&self, event: AuditEvent) -> Result<(), NotRecorded> {
        // All of them are on their way before the first is waited for.
        let events = self.under_each_id(event).into_iter();
        let recorded = events.map(|event| self.api.auditor.record(event));
        join_all(recorded).await.into_iter().collect()
    }

    /// Returns the event of a request, after one under each AWS type whose resources it changes by an alias: who owns the
    /// accounts need not own the group.
    fn under_each_id(&self, event: AuditEvent) -> Vec<AuditEvent> {
        let changes = match event.outcome {
            AuditOutcome::Unchanged => BTreeSet::new(),
            AuditOutcome::Allowed
            | AuditOutcome::Refused
            | AuditOutcome::Failed
            | AuditOutcome::Unanswered => self.noted.notes().changes.clone(),
        };
        let under = |id| AuditEvent {
            id,
            ..event.clone()
        };
        let mut events: Vec<_> = changes.into_iter().map(under).collect();
        events.push(event);
        events
    }

    /// Returns the event of a login that failed, if the request is one.
    fn failed_login(&self) -> Option<AuditEvent> {
        let has_failed = self.noted.notes().login_failed;
        has_failed.then(|| AuditEvent {
            status: Some(StatusCode::UNAUTHORIZED.as_u16()),
            code: Some(ErrorCode::AuthenticationFailed.as_str().to_owned()),
            ..self.event(AuditOutcome::Refused)
        })
    }

    /// Returns the event of a request of which it is not known what came of it, if it may have changed something.
    fn unanswered(&self) -> Option<AuditEvent> {
        (self.effect() == Some(Effect::Write)).then(|| self.event(AuditOutcome::Unanswered))
    }

    fn event(&self, outcome: AuditOutcome) -> AuditEvent {
        let notes = self.noted.notes();
        let action = notes.action.as_ref().map(|action| action.name.clone());
        let id = match (&notes.id, &notes.action) {
            (Some(id), _) => id.clone(),
            (None, Some(_)) => action::id(&self.path).to_owned(),
            // Whatever a stranger has sent.
            (None, None) => logged::shown(&self.path),
        };
        AuditEvent {
            at: self.api.app.time(),
            caller: notes.caller.clone().unwrap_or_else(|| ANONYMOUS.to_owned()),
            peer: self
                .peer
                .map(|Peer(address)| address.ip().to_canonical().to_string()),
            action: action.unwrap_or_else(|| logged::shown(self.method.as_str())),
            id,
            outcome,
            status: None,
            code: None,
            correlation_id: self.correlation_id.clone(),
            request_id: self.request_id.clone(),
            operation: None,
            change: None,
            paths: Vec::new(),
            suppressed: 0,
        }
    }
}

/// Records the request when it is dropped, since nobody learns what came of it then.
struct Unanswered(Option<Arc<Asked>>);

impl Drop for Unanswered {
    fn drop(&mut self) {
        let Some(asked) = &self.0 else { return };
        // Whoever does not wait for the refusal is refused all the same.
        if let Some(event) = asked.failed_login().or_else(|| asked.unanswered()) {
            for event in asked.under_each_id(event) {
                asked.api.auditor.note(event);
            }
        }
    }
}

/// Adds the [`Asked`] to the extensions of a request.
pub(crate) async fn identify(
    State(api): State<Arc<Api>>,
    mut request: Request,
    next: Next,
) -> Response {
    let noted = Noted::default();
    let extensions = request.extensions();
    let correlation_id = extensions.get::<CorrelationId>().cloned();
    let request_id = extensions.get::<RequestId>().cloned();
    let (Some(correlation_id), Some(RequestId(request_id))) = (correlation_id, request_id) else {
        return Problem::internal().into_response();
    };
    let asked = Asked {
        api,
        noted: noted.clone(),
        method: request.method().clone(),
        peer: extensions.get::<Peer>().copied(),
        path: request.uri().path().to_owned(),
        correlation_id,
        request_id,
    };
    request.extensions_mut().insert(noted);
    request.extensions_mut().insert(Arc::new(asked));
    next.run(request).await
}

/// Records what came of the request. What must be recorded and cannot is not answered.
pub(crate) async fn record_outcome(request: Request, next: Next) -> Response {
    let Some(asked) = request.extensions().get::<Arc<Asked>>().cloned() else {
        return Problem::internal().into_response();
    };
    let mut unanswered = Unanswered(Some(Arc::clone(&asked)));
    let response = next.run(request).await;
    unanswered.0 = None;
    let recorded = match response.extensions().get::<OneOfMany>() {
        Some(OneOfMany) => {
            asked.api.auditor.leave_out();
            Ok(())
        }
        None => match asked.answered(&response) {
            Some(event) => asked.record(event).await,
            None => Ok(()),
        },
    };
    match recorded {
        Ok(()) => response,
        // It says already that the server cannot do it.
        Err(_) if response.status() == StatusCode::SERVICE_UNAVAILABLE => response,
        Err(_) => not_recorded(
            "The audit, which this server requires, could not record this request. What it asked for may have been done: \
             read what it concerns before you send it again.",
        ),
    }
}

/// Notes who sends a request and what it asks for. Nothing is changed that could not be recorded.
pub(crate) async fn note_caller(
    State(api): State<Arc<Api>>,
    request: Request,
    next: Next,
) -> Response {
    let extensions = request.extensions();
    let principal = extensions.get::<Arc<Principal>>();
    let Some(noted) = extensions.get::<Noted>() else {
        return Problem::internal().into_response();
    };
    let Some(matched) = extensions.get::<MatchedPath>() else {
        noted.notes().caller = principal.map(|principal| principal.name.clone());
        return next.run(request).await;
    };
    let action = action(request.method(), matched.as_str(), request.uri().path());
    let effect = action.effect;
    {
        let mut notes = noted.notes();
        notes.caller = principal.map(|principal| principal.name.clone());
        notes.action = Some(action);
    }
    if effect == Effect::Write && !api.auditor.is_able() {
        return not_recorded(
            "The audit, which this server requires, cannot record requests at the moment. Nothing was done. Try again later.",
        );
    }
    next.run(request).await
}

fn not_recorded(message: &str) -> Response {
    let failure = Failure::new(ErrorCode::ServiceUnavailable, message);
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, failure).into_response()
}
