//! The only place where a failure becomes a status and an ARM error body.

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::http::header::{ALLOW, CONTENT_LENGTH, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use ucp_app::{BeyondRate, Rejection};
use ucp_model::ids::InvalidId;
use ucp_model::operation::{Work, shared_elsewhere};
use ucp_model::{Detail, ErrorCode, Failure, Fault, FaultClass, Operation, OperationId};

use crate::error_code::status_of;
use crate::explained;
use crate::origin::BaseUrl;
use crate::polling_paths::PollingPaths;
use crate::replies::Json;
use crate::segments::Unreadable;

/// How much of a path a message repeats, in characters.
const PATH_SHOWN_CHARS: usize = 200;

/// Shortens a path for a message.
pub(crate) fn shown_path(path: &str) -> String {
    path.chars().take(PATH_SHOWN_CHARS).collect()
}

/// An error reply.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    failure: Box<Failure>,
    is_temporary: bool,
    /// The seconds after which to try again, if they are known.
    retry_after: Option<u64>,
    /// The operation that blocks the request.
    waits_for: Option<Box<PollingPaths>>,
    /// Whether it hides what the caller may not read.
    hides: bool,
    /// The operation that has failed, and may have changed something before.
    operation: Option<OperationId>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, failure: Failure) -> Self {
        Self {
            status,
            failure: Box::new(failure),
            is_temporary: status == StatusCode::TOO_MANY_REQUESTS
                || status == StatusCode::SERVICE_UNAVAILABLE,
            retry_after: None,
            waits_for: None,
            hides: false,
            operation: None,
        }
    }

    /// It is the failure of this operation, which may have changed something before.
    pub(crate) fn of(self, operation: &Operation) -> Self {
        Self {
            operation: Some(operation.header.id),
            ..self
        }
    }

    /// Returns the operation that has failed, if it may have changed something.
    pub(crate) fn operation(&self) -> Option<OperationId> {
        self.operation
    }

    /// 404 for what the caller may not read, whether it is there or not.
    pub(crate) fn hidden(message: impl Into<String>) -> Self {
        Self {
            hides: true,
            ..Self::not_found(message)
        }
    }

    /// Returns whether it hides what the caller may not read.
    pub(crate) fn hides(&self) -> bool {
        self.hides
    }

    /// Returns the error code.
    pub(crate) fn code(&self) -> &str {
        &self.failure.code
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(
            StatusCode::BAD_REQUEST,
            Failure::new(ErrorCode::BadRequest, message),
        )
    }

    /// 400 for a path that cannot be decoded.
    pub(crate) fn malformed_path() -> Self {
        Self::bad_request("The path is malformed.")
    }

    /// Sets the seconds after which to try again.
    pub(crate) fn again_after(self, seconds: u64) -> Self {
        Self {
            retry_after: Some(seconds),
            ..self
        }
    }

    /// Sets what the error is about.
    pub(crate) fn at(self, target: impl Into<String>) -> Self {
        Self {
            failure: Box::new(self.failure.with_target(target)),
            ..self
        }
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            Failure::new(ErrorCode::NotFound, message),
        )
    }

    /// The reply for an operation that ended with `failure`, as if it had been synchronous.
    pub(crate) fn ended(failure: Failure) -> Self {
        Self::new(status_of(&failure.code), failure)
    }

    /// 409: the request has to wait until `operation` ends.
    fn busy(operation: &Operation) -> Self {
        let since = operation.header.accepted_at;
        let what = match &operation.work {
            Work::Resource(work) => {
                let on = match (&work.reference, &work.identifier) {
                    (Some(reference), _) => format!("'{}' ({})", reference.alias, reference.group),
                    (None, Some(identifier)) => format!("'{identifier}'"),
                    (None, None) => "a resource that has no name yet".to_owned(),
                };
                let kind = work.kind;
                format!("Another operation, the {kind} of {on}, has been under way since {since}.")
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

    /// An internal error. The log has the cause.
    pub(crate) fn internal() -> Self {
        let message = "An internal error occurred. The log has the cause under the x-ms-request-id of this reply.";
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
            Rejection::Hidden(failure) => Self {
                hides: true,
                ..Self::new(StatusCode::NOT_FOUND, failure)
            },
            Rejection::Conflict(failure) => Self::new(StatusCode::CONFLICT, failure),
            Rejection::PreconditionFailed(failure) => {
                Self::new(StatusCode::PRECONDITION_FAILED, failure)
            }
            Rejection::Refused(failure) => Self::ended(failure),
            Rejection::Aws(fault) => fault.into(),
            Rejection::Forbidden(failure) => Self::new(StatusCode::FORBIDDEN, failure),
            Rejection::NotNow(failure) => Self::new(StatusCode::SERVICE_UNAVAILABLE, failure),
            Rejection::TooLarge(failure) => Self::new(StatusCode::PAYLOAD_TOO_LARGE, failure),
            Rejection::QuotaExceeded(failure) => Self::new(StatusCode::FORBIDDEN, failure),
            Rejection::TooMany(failure) => Self::new(StatusCode::TOO_MANY_REQUESTS, failure),
            Rejection::BeyondRate(BeyondRate {
                failure,
                retry_after,
            }) => Self::new(StatusCode::TOO_MANY_REQUESTS, *failure).again_after(retry_after),
            Rejection::Busy(operation) => Self::busy(&operation),
            Rejection::OwnedElsewhere(owner) => {
                let message = format!(
                    "The resource is owned by {owner}, and only one reference can own it. Leave ownedResource out."
                );
                let detail = Detail::at("OwnedElsewhere", "owns the resource", owner.to_string());
                let failure = Failure::new(ErrorCode::Conflict, message);
                Self::new(StatusCode::CONFLICT, failure.with_details(vec![detail]))
            }
            Rejection::Shared(others) => {
                let failure = shared_elsewhere(&others, |_| false);
                Self::new(StatusCode::CONFLICT, failure)
            }
            Rejection::Unavailable(_) => {
                tracing::warn!(
                    error = %ucp_model::chain(&rejection),
                    "the store is unavailable"
                );
                let message = "The store is unavailable. Try again.";
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

/// A failed read from AWS.
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
            // A plane that does not exist.
            FaultClass::Denied if failure.code == ErrorCode::NotFound.as_str() => {
                StatusCode::NOT_FOUND
            }
            FaultClass::Denied => StatusCode::FORBIDDEN,
            FaultClass::Transient | FaultClass::OutcomeUnknown => StatusCode::INTERNAL_SERVER_ERROR,
            FaultClass::TokenConflict
            | FaultClass::TokenUnknown
            | FaultClass::AlreadyExists
            | FaultClass::Rejected => status_of(&failure.code),
        };
        let problem = Self::new(status, failure);
        match fault.retry_after {
            Some(pause) => problem.again_after(ucp_rates::seconds(pause)),
            None => problem,
        }
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
        Self::malformed_path()
    }
}

impl From<QueryRejection> for Problem {
    fn from(_: QueryRejection) -> Self {
        Self::bad_request("The query is malformed.")
    }
}

/// The body is added by [`rendered`].
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// The code of a refusal, for the log.
#[derive(Clone, Debug)]
pub(crate) struct RefusalCode(pub(crate) String);

/// Adds the body to an error response, with its URLs and the link to the page about its code. Others are unchanged.
pub(crate) fn rendered(mut response: Response, base_url: &BaseUrl, retry_after: u64) -> Response {
    let Some(problem) = response.extensions_mut().remove::<Problem>() else {
        return response;
    };
    let mut failure = *problem.failure;
    let code = RefusalCode(failure.code.clone());
    response.extensions_mut().insert(code);
    if let Some(operation) = problem.waits_for {
        let url = format!("{base_url}{}", operation.status);
        failure.message += &format!(" Wait until the operation at {url} ends, then try again.");
        let detail = Detail::at(
            "OperationInProgress",
            "status of the running operation",
            url,
        );
        failure.details = vec![detail];
    }
    if let Some(allowed) = response
        .headers()
        .get(ALLOW)
        .and_then(|allowed| allowed.to_str().ok())
    {
        failure.message += &format!(" It supports {}.", allowed.replace(',', ", "));
    }
    if problem.is_temporary {
        let seconds = HeaderValue::from(problem.retry_after.unwrap_or(retry_after));
        response.headers_mut().insert(RETRY_AFTER, seconds);
    }
    let (head, body) = Json(explained::response(failure, base_url))
        .into_response()
        .into_parts();
    response.headers_mut().remove(CONTENT_LENGTH);
    response.headers_mut().extend(head.headers);
    *response.body_mut() = body;
    response
}
