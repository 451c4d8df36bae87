//! The one place where a failure becomes a status and an ARM error body.

use axum::extract::Request;
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use ucp_app::Rejection;
use ucp_model::{Detail, Failure, Fault};

use crate::context::RequestContext;
use crate::error_code::status_of;
use crate::origin::BaseUrl;
use crate::wire::ErrorResponse;

/// A refusal on its way to the client.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    failure: Box<Failure>,
    retry_after: Option<u64>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, failure: Failure) -> Self {
        Self {
            status,
            failure: Box::new(failure),
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
            Rejection::Refused(failure) => Self::of_ended(&failure, context),
            Rejection::Aws(fault) => Self::of_read(&fault, context),
            Rejection::Forbidden(failure) => Self::new(StatusCode::FORBIDDEN, failure),
            Rejection::NotNow(failure) => Self {
                retry_after: Some(context.retry_after()),
                ..Self::new(StatusCode::SERVICE_UNAVAILABLE, failure)
            },
            Rejection::TooLarge(failure) => Self::new(StatusCode::PAYLOAD_TOO_LARGE, failure),
            Rejection::Busy(operation) => {
                let on = match (&operation.reference, &operation.identifier) {
                    (Some(reference), _) => format!("'{}' ({})", reference.alias, reference.group),
                    (None, Some(identifier)) => format!("'{identifier}'"),
                    (None, None) => "a resource without a name yet".to_owned(),
                };
                let what = format!(
                    "Another operation, the {} of {on}, is under way since {}.",
                    operation.kind, operation.accepted_at
                );
                Self::busy(&what, context.status_url(&operation), context)
            }
            Rejection::GroupBusy(operation) => {
                let (url, _) = context.group_urls(&operation);
                let what = format!(
                    "The {} has been under way since {}.",
                    operation.task, operation.accepted_at
                );
                Self::busy(&what, url, context)
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

    /// Something else is under way, whose status is at `url`.
    fn busy(what: &str, url: String, context: &RequestContext) -> Self {
        let message = format!("{what} Wait until {url} is terminal, then try again.");
        let detail = Detail::at("OperationInProgress", "the running operation's status", url);
        let failure = Failure::new("Conflict", message).with_details(vec![detail]);
        Self {
            retry_after: Some(context.retry_after()),
            ..Self::new(StatusCode::CONFLICT, failure)
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

    /// What AWS said to a read in place of an answer.
    fn of_read(fault: &Fault, context: &RequestContext) -> Self {
        tracing::warn!(%fault, "AWS did not answer a read");
        let failure = match fault {
            Fault::Transient { code, message } if code == "NetworkFailure" => Failure::new(
                "Internal",
                format!("AWS could not be reached: {message}. Try again."),
            ),
            fault => Failure::new(fault.code(), fault.message()),
        };
        let status = match fault {
            Fault::Throttled { .. } => StatusCode::TOO_MANY_REQUESTS,
            Fault::Concurrent { .. } => StatusCode::CONFLICT,
            Fault::Missing { .. } => StatusCode::NOT_FOUND,
            Fault::Denied { .. } => StatusCode::FORBIDDEN,
            Fault::Transient { .. } | Fault::OutcomeUnknown { .. } => {
                StatusCode::INTERNAL_SERVER_ERROR
            }
            Fault::TokenConflict { .. }
            | Fault::TokenUnknown { .. }
            | Fault::AlreadyExists { .. }
            | Fault::Rejected { .. } => status_of(&failure.code),
        };
        Self::with_retry(status, failure, context)
    }

    /// How an operation that ended without success would have answered had it been synchronous.
    pub(crate) fn of_ended(failure: &Failure, context: &RequestContext) -> Self {
        Self::with_retry(status_of(&failure.code), failure.clone(), context)
    }

    fn with_retry(status: StatusCode, failure: Failure, context: &RequestContext) -> Self {
        let retry_after = (status == StatusCode::TOO_MANY_REQUESTS).then(|| context.retry_after());
        Self {
            retry_after,
            ..Self::new(status, failure)
        }
    }
}

/// Writes into each refusal where its code is explained.
pub(crate) async fn explain(
    Extension(base_url): Extension<BaseUrl>,
    request: Request,
    next: Next,
) -> Response {
    explained(next.run(request).await, &base_url)
}

/// `response` with the link, if it is a refusal.
pub(crate) fn explained(mut response: Response, base_url: &BaseUrl) -> Response {
    if let Some(failure) = response.extensions_mut().remove::<Failure>() {
        let body = ErrorResponse::from(failure).explained(base_url);
        *response.body_mut() = Json(body).into_response().into_body();
    }
    response
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = Json(ErrorResponse::from((*self.failure).clone()));
        let mut response = (self.status, body).into_response();
        response.extensions_mut().insert(*self.failure);
        if let Some(seconds) = self.retry_after {
            response
                .headers_mut()
                .insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
