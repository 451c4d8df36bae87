//! The handlers.

pub(crate) mod bindings;
pub(crate) mod catalog;
pub(crate) mod instances;

use std::sync::Arc;
use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde_json::json;
use ucp_app::{
    Caller, LastOperation, Ordered, Progress, Recipient, Room, ServiceRejection, ServiceRequest,
};
use ucp_model::{CorrelationId, OperationId};

use crate::answered::CameOf;
use crate::broker::Broker;
use crate::headers::Person;
use crate::platforms::PlatformAccount;
use crate::problem::{Problem, is_repeatable};

/// Who calls, and for whom.
pub(crate) struct Context {
    broker: Arc<Broker>,
    account: Arc<PlatformAccount>,
    caller: Caller,
    person: Person,
}

impl FromRequestParts<Arc<Broker>> for Context {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, broker: &Arc<Broker>) -> Result<Self, Problem> {
        let account = parts.extensions.get::<Arc<PlatformAccount>>();
        let account = account.ok_or_else(Problem::internal)?;
        let correlation_id = parts.extensions.get::<CorrelationId>();
        Ok(Self {
            broker: Arc::clone(broker),
            caller: Caller {
                name: account.platform.caller(),
                rights: broker.parts.app.permissions.rights_of_everybody(),
                principal: None,
                correlation_id: correlation_id.cloned().ok_or_else(Problem::internal)?,
                verdict_wait: Duration::ZERO,
                group_delete_wait: Duration::ZERO,
                recipient: Recipient::default(),
                room: parts.extensions.get::<Room>().cloned().unwrap_or_default(),
            },
            account: Arc::clone(account),
            person: parts
                .extensions
                .get::<Person>()
                .cloned()
                .unwrap_or(Person(None)),
        })
    }
}

impl Context {
    fn request(&self, accepts_incomplete: bool) -> ServiceRequest<'_> {
        ServiceRequest {
            platform: &self.account.platform,
            offerings: &self.broker.settings.offerings,
            caller: &self.caller,
            originator: self.person.0.clone(),
            accepts_incomplete,
            sync_wait: self.broker.settings.sync_wait,
        }
    }

    fn refused(&self, rejection: ServiceRejection) -> Problem {
        Problem::of(rejection, self.broker.parts.status_of)
    }

    /// Returns the reply to an order. What was done at once has the status `done`.
    fn ordered(&self, ordered: Ordered, done: StatusCode) -> Response {
        match ordered {
            Ordered::UnderWay(operation) => self.under_way(operation),
            Ordered::Done(None) => (done, Json(json!({}))).into_response(),
            // The API lets replies have more members than it names.
            Ordered::Done(Some(said)) => {
                (done, Json(json!({ "description": said }))).into_response()
            }
            Ordered::Unchanged => (Extension(CameOf::Unchanged), Json(json!({}))).into_response(),
        }
    }

    fn under_way(&self, operation: OperationId) -> Response {
        let body = Json(json!({ "operation": operation.to_string() }));
        let again = [(RETRY_AFTER, self.broker.retry_after().to_string())];
        let accepted = Extension(CameOf::Accepted(operation));
        (StatusCode::ACCEPTED, accepted, again, body).into_response()
    }

    fn last_operation(&self, last: LastOperation) -> Response {
        let state = match last.progress {
            Progress::UnderWay => "in progress",
            Progress::Succeeded => "succeeded",
            Progress::Failed => "failed",
        };
        let mut body = json!({ "state": state });
        if let Some(description) = last.description {
            body["description"] = json!(description);
        }
        if let Some(usable) = last.instance_usable {
            body["instance_usable"] = json!(usable);
        }
        if let (true, Some(failure)) = (last.is_update, &last.failure) {
            body["update_repeatable"] = json!(is_repeatable(failure, self.broker.parts.status_of));
        }
        match last.progress {
            Progress::UnderWay => {
                let again = [(RETRY_AFTER, self.broker.retry_after().to_string())];
                (again, Json(body)).into_response()
            }
            Progress::Succeeded | Progress::Failed => Json(body).into_response(),
        }
    }
}

/// Reads the id of an operation. What is none is as one that is not known.
fn operation(given: Option<&str>) -> Option<OperationId> {
    given?.parse().ok()
}
