//! Why there is no answer that could be used.

use std::time::Duration;

use hyper::StatusCode;

use crate::refusal::Refusal;
use crate::url::BaseUrl;

/// Why there is no answer that could be used.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The server refuses the request.
    #[error(transparent)]
    Refused(#[from] Box<Refusal>),
    /// The server cannot be reached. Nothing is known of the request.
    #[error("cannot reach the server at {base}; does it run, and is this its URL?")]
    Unreachable {
        /// The URL of the server.
        base: BaseUrl,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// There is no reply in time.
    #[error("the server at {base} has not answered within {}", humantime::format_duration(*.timeout))]
    Late {
        /// The URL of the server.
        base: BaseUrl,
        /// How long it had.
        timeout: Duration,
    },
    /// The reply is not one of `ucp`.
    #[error("{url} answers {status} with something that is not JSON; is this the URL of a ucp?")]
    Strange {
        /// What was asked.
        url: String,
        /// The status of the reply.
        status: StatusCode,
    },
    /// The request cannot be sent.
    #[error("{url} is not a URL")]
    NoUrl {
        /// What was to be asked.
        url: String,
        /// Why.
        #[source]
        source: hyper::http::Error,
    },
    /// The token has characters that no token has.
    #[error("the token has characters that no token has")]
    NoToken,
    /// It is not known whom to trust.
    #[error(transparent)]
    NoAuthorities(ucp_https::NoAuthorities),
    /// An operation could not be asked for any more. It may be going on.
    #[error("the operation {operation} may be going on")]
    Lost {
        /// The name of the operation.
        operation: String,
        /// Why it could not be asked for.
        #[source]
        source: Box<Failure>,
    },
    /// The reply is none of an operation.
    #[error("{url} tells no status")]
    NoStatus {
        /// What was asked.
        url: String,
    },
    /// A page leads to itself.
    #[error("the page {url} leads to itself")]
    Circular {
        /// The page.
        url: String,
    },
    /// A list has no end.
    #[error("the list has more than {pages} pages, the last is {url}")]
    Endless {
        /// How many were read.
        pages: usize,
        /// The last one.
        url: String,
    },
}

impl Failure {
    /// Returns the refusal, if it has this status.
    pub fn refusal(&self, status: StatusCode) -> Option<&Refusal> {
        match self {
            Failure::Refused(refusal) if refusal.status == Some(status) => Some(refusal),
            Failure::Refused(_)
            | Failure::Unreachable { .. }
            | Failure::Late { .. }
            | Failure::Strange { .. }
            | Failure::NoUrl { .. }
            | Failure::NoToken
            | Failure::NoAuthorities(_)
            | Failure::Lost { .. }
            | Failure::NoStatus { .. }
            | Failure::Circular { .. }
            | Failure::Endless { .. } => None,
        }
    }

    /// Whether the same request may have another answer soon.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Failure::Refused(refusal) => refusal
                .status
                .is_some_and(|status| status.is_server_error()),
            Failure::Unreachable { .. } | Failure::Late { .. } | Failure::Strange { .. } => true,
            Failure::NoUrl { .. }
            | Failure::NoToken
            | Failure::NoAuthorities(_)
            | Failure::Lost { .. }
            | Failure::NoStatus { .. }
            | Failure::Circular { .. }
            | Failure::Endless { .. } => false,
        }
    }
}
