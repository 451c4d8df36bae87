//! The one place where a failure becomes a status and an ARM error body.

use axum::Json;
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use ucp_app::Rejection;
use ucp_model::{Detail, Failure};

use crate::context::RequestContext;
use crate::wire::ErrorResponse;

/// A refusal on its way to the client.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    failure: Failure,
    retry_after: Option<u64>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, failure: Failure) -> Self {
        Self {
            status,
            failure,
            retry_after: None,
        }
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, Failure::new("BadRequest", message))
    }

    /// What a use case refused.
    pub(crate) fn of(rejection: Rejection, context: &RequestContext) -> Self {
        match rejection {
            Rejection::Invalid(failure) => Self::new(StatusCode::BAD_REQUEST, failure),
            Rejection::Missing(failure) => Self::new(StatusCode::NOT_FOUND, failure),
            Rejection::Conflict(failure) => Self::new(StatusCode::CONFLICT, failure),
            Rejection::PreconditionFailed(failure) => {
                Self::new(StatusCode::PRECONDITION_FAILED, failure)
            }
            Rejection::TooLarge(failure) => Self::new(StatusCode::PAYLOAD_TOO_LARGE, failure),
            Rejection::Busy(operation) => {
                let url = context.status_url(&operation);
                let message = format!(
                    "Another operation ({}) on the same resource is under way since {}. Wait until {url} is terminal, then try again.",
                    operation.kind, operation.accepted_at
                );
                let detail =
                    Detail::at("OperationInProgress", "the running operation's status", url);
                let failure = Failure::new("Conflict", message).with_details(vec![detail]);
                Self {
                    retry_after: Some(context.retry_after()),
                    ..Self::new(StatusCode::CONFLICT, failure)
                }
            }
            Rejection::Unavailable(_) => {
                tracing::warn!(
                    error = %ucp_model::chain(&rejection),
                    "the store is unavailable"
                );
                let failure = Failure::new(
                    "ServiceUnavailable",
                    "The store cannot be reached now. Try again.",
                );
                let status = StatusCode::SERVICE_UNAVAILABLE;
                Self {
                    retry_after: Some(context.retry_after()),
                    ..Self::new(status, failure)
                }
            }
            Rejection::Internal(_) => {
                tracing::error!(
                    error = %ucp_model::chain(&rejection),
                    "a request failed"
                );
                Self::internal()
            }
        }
    }

    /// A defect. The log says more.
    pub(crate) fn internal() -> Self {
        let message = "The request failed inside ucp. The log has the cause under this reply's x-ms-request-id.";
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            Failure::new("Internal", message),
        )
    }

    /// How an operation that ended without success would have answered had it been synchronous.
    pub(crate) fn of_ended(failure: &Failure, context: &RequestContext) -> Self {
        let status = match failure.code.as_str() {
            "AlreadyExists"
            | "Canceled"
            | "ConcurrentOperationException"
            | "Conflict"
            | "PartiallyApplied"
            | "RequiresReplacement"
            | "ResourceConflict" => StatusCode::CONFLICT,
            "Throttling" | "ThrottlingException" => StatusCode::TOO_MANY_REQUESTS,
            "AccessDenied"
            | "AccessDeniedException"
            | "InvalidCredentials"
            | "UnauthorizedTaggingOperation" => StatusCode::FORBIDDEN,
            "NotFound" => StatusCode::NOT_FOUND,
            "GeneralServiceException"
            | "InternalFailure"
            | "NetworkFailure"
            | "NotStabilized"
            | "OutcomeUnknown"
            | "ServiceInternalError"
            | "ServiceTimeout" => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::BAD_REQUEST,
        };
        let retry_after = (status == StatusCode::TOO_MANY_REQUESTS).then(|| context.retry_after());
        Self {
            retry_after,
            ..Self::new(status, failure.clone())
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(ErrorResponse::from(self.failure))).into_response();
        if let Some(seconds) = self.retry_after {
            response
                .headers_mut()
                .insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
