//! The one place where a failure becomes a status and an ARM error body.

use axum::Json;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::http::header::{CONTENT_LENGTH, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use ucp_app::Rejection;
use ucp_model::ids::InvalidId;
use ucp_model::operation::Work;
use ucp_model::{Detail, ErrorCode, Failure, Fault, FaultClass, Operation};

use crate::error_code::status_of;
use crate::origin::BaseUrl;
use crate::polling_paths::PollingPaths;
use crate::segments::Unreadable;
use crate::wire::ErrorResponse;

/// A refusal on its way to the client.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    failure: Box<Failure>,
    is_temporary: bool,
    /// The operation that is in the way.
    waits_for: Option<Box<PollingPaths>>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, failure: Failure) -> Self {
        Self {
            status,
            failure: Box::new(failure),
            is_temporary: status == StatusCode::TOO_MANY_REQUESTS
                || status == StatusCode::SERVICE_UNAVAILABLE,
            waits_for: None,
        }
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(
            StatusCode::BAD_REQUEST,
            Failure::new(ErrorCode::BadRequest, message),
        )
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            Failure::new(ErrorCode::NotFound, message),
        )
    }

    /// What an operation that ended with `failure` would have answered had it been synchronous.
    pub(crate) fn ended(failure: Failure) -> Self {
        Self::new(status_of(&failure.code), failure)
    }

    /// Whoever comes while `operation` is under way has to wait for it.
    fn busy(operation: &Operation) -> Self {
        let since = operation.header.accepted_at;
        let what = match &operation.work {
            Work::Resource(work) => {
                let on = match (&work.reference, &work.identifier) {
                    (Some(reference), _) => format!("'{}' ({})", reference.alias, reference.group),
                    (None, Some(identifier)) => format!("'{identifier}'"),
                    (None, None) => "a resource without a name yet".to_owned(),
                };
                let kind = work.kind;
                format!("Another operation, the {kind} of {on}, is under way since {since}.")
            }
            Work::Group(work) => format!("The {} has been under way since {since}.", work.task),
        };
        Self {
            is_temporary: true,
            waits_for: Some(Box::new(operation.into())),
            ..Self::new(
                StatusCode::CONFLICT,
                Failure::new(ErrorCode::Conflict, what),
            )
        }
    }

    /// A defect. The log says more.
    pub(crate) fn internal() -> Self {
        let message = "The request failed inside ucp. The log has the cause under this reply's x-ms-request-id.";
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            Failure::new(ErrorCode::Internal, message),
        )
    }
}

impl From<Rejection> for Problem {
    fn from(rejection: Rejection) -> Self {
        match rejection {
            Rejection::Invalid(failure) => Self::new(StatusCode::BAD_REQUEST, failure),
            Rejection::Missing(failure) => Self::new(StatusCode::NOT_FOUND, failure),
            Rejection::Conflict(failure) => Self::new(StatusCode::CONFLICT, failure),
            Rejection::PreconditionFailed(failure) => {
                Self::new(StatusCode::PRECONDITION_FAILED, failure)
            }
            Rejection::Refused(failure) => Self::ended(failure),
            Rejection::Aws(fault) => fault.into(),
            Rejection::Forbidden(failure) => Self::new(StatusCode::FORBIDDEN, failure),
            Rejection::NotNow(failure) => Self::new(StatusCode::SERVICE_UNAVAILABLE, failure),
            Rejection::TooLarge(failure) => Self::new(StatusCode::PAYLOAD_TOO_LARGE, failure),
            Rejection::Busy(operation) => Self::busy(&operation),
            Rejection::Unavailable(_) => {
                tracing::warn!(
                    error = %ucp_model::chain(&rejection),
                    "the store is unavailable"
                );
                let message = "The store cannot be reached now. Try again.";
                let failure = Failure::new(ErrorCode::ServiceUnavailable, message);
                Self::new(StatusCode::SERVICE_UNAVAILABLE, failure)
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
}

/// What AWS said to a read in place of an answer.
impl From<Fault> for Problem {
    fn from(fault: Fault) -> Self {
        tracing::warn!(%fault, "AWS did not answer a read");
        let failure = match (fault.class, fault.code.as_str()) {
            (FaultClass::Transient, "NetworkFailure") => Failure::new(
                ErrorCode::Internal,
                format!("AWS could not be reached: {}. Try again.", fault.message),
            ),
            _ => Failure::from(&fault),
        };
        let status = match fault.class {
            FaultClass::Throttled => StatusCode::TOO_MANY_REQUESTS,
            FaultClass::Concurrent => StatusCode::CONFLICT,
            FaultClass::Missing => StatusCode::NOT_FOUND,
            FaultClass::Denied => StatusCode::FORBIDDEN,
            FaultClass::Transient | FaultClass::OutcomeUnknown => StatusCode::INTERNAL_SERVER_ERROR,
            FaultClass::TokenConflict
            | FaultClass::TokenUnknown
            | FaultClass::AlreadyExists
            | FaultClass::Rejected => status_of(&failure.code),
        };
        Self::new(status, failure)
    }
}

impl From<InvalidId> for Problem {
    fn from(error: InvalidId) -> Self {
        Self::bad_request(error.to_string())
    }
}

impl From<Unreadable> for Problem {
    fn from(error: Unreadable) -> Self {
        Self::bad_request(error.to_string())
    }
}

impl From<PathRejection> for Problem {
    fn from(_: PathRejection) -> Self {
        Self::bad_request("The path cannot be read.")
    }
}

impl From<QueryRejection> for Problem {
    fn from(_: QueryRejection) -> Self {
        Self::bad_request("The query cannot be read.")
    }
}

/// Leaves the body to [`rendered`].
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// `response`, and if it is a refusal, with its body: the URLs in it, and where its code is explained.
pub(crate) fn rendered(mut response: Response, base_url: &BaseUrl, retry_after: u64) -> Response {
    let Some(problem) = response.extensions_mut().remove::<Problem>() else {
        return response;
    };
    let mut failure = *problem.failure;
    if let Some(operation) = problem.waits_for {
        let url = format!("{base_url}{}", operation.status);
        failure.message += &format!(" Wait until {url} is terminal, then try again.");
        let detail = Detail::at("OperationInProgress", "the running operation's status", url);
        failure.details = vec![detail];
    }
    if problem.is_temporary {
        let seconds = HeaderValue::from(retry_after);
        response.headers_mut().insert(RETRY_AFTER, seconds);
    }
    let (head, body) = Json(ErrorResponse::of(failure, base_url))
        .into_response()
        .into_parts();
    response.headers_mut().remove(CONTENT_LENGTH);
    response.headers_mut().extend(head.headers);
    *response.body_mut() = body;
    response
}
