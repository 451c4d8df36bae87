//! A refusal, in the shape of the Open Service Broker API.

use axum::Json;
use axum::extract::rejection::{BytesRejection, PathRejection, QueryRejection};
use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::json;
use ucp_app::{Rejection, ServiceRejection};
use ucp_model::Failure;

use crate::limits::BODY_MAX_BYTES;

/// A refusal. In the extensions of its reply, for the audit.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    body: Body,
    /// When it is worth trying again, in seconds.
    retry_after: Option<u64>,
}

#[derive(Clone, Debug, Default, Serialize)]
struct Body {
    #[serde(skip_serializing_if = "str::is_empty")]
    error: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    instance_usable: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    update_repeatable: Option<bool>,
}

impl Problem {
    pub(crate) fn new(
        status: StatusCode,
        error: impl Into<String>,
        description: impl Into<String>,
    ) -> Self {
        Self {
            status,
            body: Body {
                error: error.into(),
                description: description.into(),
                ..Body::default()
            },
            retry_after: None,
        }
    }

    pub(crate) fn bad_request(description: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BadRequest", description)
    }

    pub(crate) fn internal() -> Self {
        let description = "An internal error. The log of the server says more.";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "Internal", description)
    }

    /// Returns the error code.
    pub(crate) fn code(&self) -> &str {
        &self.body.error
    }

    /// Returns the refusal of an order. `status_of` tells the status of an ARM error code.
    pub(crate) fn of(rejection: ServiceRejection, status_of: fn(&str) -> StatusCode) -> Self {
        let unprocessable = |code: &str, description: String| {
            Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, description)
        };
        let said = rejection.to_string();
        match rejection {
            ServiceRejection::Invalid(_) => Self::bad_request(said),
            ServiceRejection::Missing(_) => Self::new(StatusCode::NOT_FOUND, "NotFound", said),
            ServiceRejection::Gone => Self::new(StatusCode::GONE, "", ""),
            ServiceRejection::AsyncRequired => unprocessable("AsyncRequired", sentence(&said)),
            ServiceRejection::RequiresApp => unprocessable("RequiresApp", sentence(&said)),
            ServiceRejection::MaintenanceInfoConflict(_) => {
                unprocessable("MaintenanceInfoConflict", said)
            }
            ServiceRejection::PlanChangeNotSupported(_) => {
                unprocessable("PlanChangeNotSupported", said).for_ever()
            }
            ServiceRejection::ParameterNotUpdatable(_) => {
                unprocessable("ParameterNotUpdatable", said).for_ever()
            }
            ServiceRejection::Conflict(_) => Self::new(StatusCode::CONFLICT, "Conflict", said),
            ServiceRejection::BindingsExist(_) => unprocessable("BindingsExist", said),
            ServiceRejection::Concurrency(_) => unprocessable("ConcurrencyError", said),
            ServiceRejection::Changed => unprocessable("ConcurrencyError", sentence(&said)),
            ServiceRejection::Failed {
                failure,
                instance_usable,
                is_update,
            } => {
                let repeatable = is_repeatable(&failure, status_of);
                let status = StatusCode::INTERNAL_SERVER_ERROR;
                let Failure { code, message, .. } = *failure;
                let mut problem = Self::new(status, code, message);
                problem.body.instance_usable = instance_usable;
                problem.body.update_repeatable = is_update.then_some(repeatable);
                problem
            }
            ServiceRejection::Timeout(_) | ServiceRejection::StillRuns(_) => Self::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "Timeout",
                sentence(&said),
            ),
            ServiceRejection::Other(rejection) => Self::of_arm(*rejection, status_of),
        }
    }

    /// The same of what is refused before there is an order.
    pub(crate) fn of_arm(rejection: Rejection, status_of: fn(&str) -> StatusCode) -> Self {
        let busy = |said: String| {
            Self::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "ConcurrencyError",
                sentence(&said),
            )
        };
        let said = rejection.to_string();
        match rejection {
            Rejection::Busy(_) => busy(said),
            Rejection::OwnedElsewhere(_) | Rejection::Shared(_) => {
                Self::new(StatusCode::CONFLICT, "Conflict", sentence(&said))
            }
            Rejection::Invalid(failure)
            | Rejection::Missing(failure)
            | Rejection::Hidden(failure)
            | Rejection::Conflict(failure)
            | Rejection::PreconditionFailed(failure)
            | Rejection::Refused(failure)
            | Rejection::Forbidden(failure)
            | Rejection::NotNow(failure)
            | Rejection::TooLarge(failure)
            | Rejection::QuotaExceeded(failure)
            | Rejection::TooMany(failure) => {
                Self::new(status_of(&failure.code), failure.code, failure.message)
            }
            Rejection::BeyondRate(beyond) => Self::new(
                StatusCode::TOO_MANY_REQUESTS,
                beyond.failure.code,
                beyond.failure.message,
            )
            .after(beyond.retry_after),
            Rejection::Aws(fault) => {
                let failure = Failure::from(&fault);
                Self::new(StatusCode::BAD_GATEWAY, failure.code, failure.message)
            }
            Rejection::Unavailable(error) => {
                tracing::warn!(error = %ucp_model::chain(&error), "the store is unavailable");
                let description = "The database cannot be reached now. Try again.";
                Self::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "ServiceUnavailable",
                    description,
                )
            }
            Rejection::Internal(error) => {
                tracing::error!(error = %ucp_model::chain(error.as_ref()), "internal error");
                Self::internal()
            }
        }
    }

    /// Notes when it is worth trying again, in seconds.
    pub(crate) fn after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// Notes that sending it again does not help.
    fn for_ever(mut self) -> Self {
        self.body.update_repeatable = Some(false);
        self
    }
}

/// Returns whether a change that failed so may be sent again as it is.
pub(crate) fn is_repeatable(failure: &Failure, status_of: fn(&str) -> StatusCode) -> bool {
    !matches!(
        status_of(&failure.code),
        StatusCode::BAD_REQUEST | StatusCode::FORBIDDEN
    )
}

/// Makes a sentence of an error.
fn sentence(said: &str) -> String {
    let mut letters = said.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = if self.body.error.is_empty() {
            json!({})
        } else {
            json!(self.body)
        };
        let mut response = (self.status, Json(body)).into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        response.extensions_mut().insert(self);
        response
    }
}

impl From<PathRejection> for Problem {
    fn from(rejection: PathRejection) -> Self {
        Self::bad_request(format!("The path cannot be read: {rejection}."))
    }
}

impl From<QueryRejection> for Problem {
    fn from(rejection: QueryRejection) -> Self {
        Self::bad_request(format!("The query cannot be read: {rejection}."))
    }
}

impl From<BytesRejection> for Problem {
    fn from(rejection: BytesRejection) -> Self {
        match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => Self::bad_request(format!(
                "The body has more than {BODY_MAX_BYTES} bytes. Send fewer parameters."
            )),
            _ => Self::bad_request(format!("The body cannot be read: {rejection}.")),
        }
    }
}
