//! What Cloud Control says about a change, in the words the state machine understands.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Identifier, RequestToken, Timestamp};

/// What Cloud Control is asked to do to a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Action {
    /// `CreateResource`.
    Create,
    /// `UpdateResource`.
    Update,
    /// `DeleteResource`.
    Delete,
}

impl Action {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Create, Self::Update, Self::Delete];
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Action::Create => "create",
            Action::Update => "update",
            Action::Delete => "delete",
        })
    }
}

/// Cloud Control's report on one change in flight (`ProgressEvent`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The handle under which AWS keeps the request for seven days.
    pub request_token: RequestToken,
    /// How far it is.
    pub status: ProgressStatus,
    /// The primary identifier, as soon as AWS reveals it.
    pub identifier: Option<Identifier>,
    /// When AWS asks to be asked again.
    pub retry_after: Option<Timestamp>,
}

/// `OperationStatus` of a progress event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgressStatus {
    /// `PENDING`, `IN_PROGRESS` or `CANCEL_IN_PROGRESS`.
    Running,
    /// `SUCCESS`.
    Success,
    /// `FAILED`, with the HandlerErrorCode and AWS's text.
    Failed {
        /// Why, in a word.
        code: HandlerErrorCode,
        /// `StatusMessage`.
        message: String,
        /// The hooks that refused the change, and those that only warned of it.
        hooks: Vec<HookFailure>,
    },
    /// `CANCEL_COMPLETE`.
    Canceled,
}

/// Why the handler of a resource type failed, by what a caller would do differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HandlerErrorCode {
    /// Something has the identifier already.
    AlreadyExists,
    /// The resource does not exist.
    NotFound,
    /// Any other, in AWS's word.
    Other(String),
}

impl HandlerErrorCode {
    /// The code that AWS calls `word`.
    pub fn of(word: &str) -> Self {
        match word {
            "AlreadyExists" => Self::AlreadyExists,
            "NotFound" => Self::NotFound,
            other => Self::Other(other.to_owned()),
        }
    }

    /// AWS's word.
    pub fn as_str(&self) -> &str {
        match self {
            Self::AlreadyExists => "AlreadyExists",
            Self::NotFound => "NotFound",
            Self::Other(word) => word,
        }
    }
}

/// A CloudFormation Hook that did not succeed (`HookProgressEvent`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HookFailure {
    /// The hook's name, for example `MyCompany::Security::Encryption`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub type_name: Option<String>,
    /// Its ARN.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub type_arn: Option<String>,
    /// Which version of it was invoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub type_version_id: Option<String>,
    /// Before or after which call, for example `CREATE_PRE_PROVISION`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invocation_point: Option<String>,
    /// `HOOK_COMPLETE_FAILED` when it refused, `HOOK_FAILED` when it broke.
    pub status: String,
    /// `FAIL` when that fails the request too, `WARN` when it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_mode: Option<String>,
    /// `HookStatusMessage`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl HookFailure {
    /// The statuses of hooks that did not succeed.
    pub const STATUSES: [&str; 2] = ["HOOK_COMPLETE_FAILED", "HOOK_FAILED"];
}

/// One resource of a list (`ResourceDescription`).
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceDescription {
    /// AWS's name for it.
    pub identifier: Identifier,
    /// Its live properties, as far as the type's list handler tells them.
    pub properties: Value,
}

/// One page of a list of resources.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResourcePage {
    /// The resources, in AWS's order.
    pub resources: Vec<ResourceDescription>,
    /// What to ask for the next page with; none on the last one.
    pub next_token: Option<String>,
}

/// What a call to AWS came to instead of a reply, by what a caller would do differently.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// AWS asks to slow down; nothing happened. Wait, then send the same again.
    #[error("throttled: {message}")]
    Throttled {
        /// AWS's exception name.
        code: String,
        /// AWS's text.
        message: String,
        /// How long AWS asks to wait, when it says so.
        retry_after: Option<Duration>,
    },
    /// The call certainly had no effect, for a reason that passes (no connection, a read that broke off).
    #[error("{code}: {message}")]
    Transient {
        /// AWS's exception name or `NetworkFailure`.
        code: String,
        /// AWS's text or the transport's.
        message: String,
    },
    /// A mutation whose reply was lost: it may have happened. Never the same as "failed".
    #[error("outcome unknown: {message}")]
    OutcomeUnknown {
        /// What the transport said.
        message: String,
    },
    /// Another request for the same resource is in flight (`ConcurrentOperationException`). Wait, then look.
    #[error("{code}: {message}")]
    Concurrent {
        /// AWS's exception name.
        code: String,
        /// AWS's text.
        message: String,
    },
    /// The client token was used for another request (`ClientTokenConflictException`).
    #[error("{code}: {message}")]
    TokenConflict {
        /// AWS's exception name.
        code: String,
        /// AWS's text.
        message: String,
    },
    /// AWS no longer knows the request token (`RequestTokenNotFoundException`).
    #[error("{code}: {message}")]
    TokenUnknown {
        /// AWS's exception name.
        code: String,
        /// AWS's text.
        message: String,
    },
    /// Something has the identifier of what is to be created already (`AlreadyExistsException`).
    #[error("{code}: {message}")]
    AlreadyExists {
        /// AWS's exception name.
        code: String,
        /// AWS's text.
        message: String,
    },
    /// The resource does not exist (`ResourceNotFoundException`, or what a type says in its place).
    #[error("{code}: {message}")]
    Missing {
        /// AWS's exception name.
        code: String,
        /// AWS's text.
        message: String,
    },
    /// The credentials do not allow it, or are none.
    #[error("{code}: {message}")]
    Denied {
        /// AWS's exception name.
        code: String,
        /// AWS's text.
        message: String,
    },
    /// AWS refuses the request as it stands; sending it again changes nothing.
    #[error("{code}: {message}")]
    Rejected {
        /// AWS's exception name.
        code: String,
        /// AWS's text.
        message: String,
    },
}

/// What to do about a [`Fault`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryClass {
    /// The same call may succeed later.
    Later,
    /// It will not.
    Never,
}

impl Fault {
    /// Whether the same call may succeed later.
    pub fn retry_class(&self) -> RetryClass {
        match self {
            Fault::Throttled { .. }
            | Fault::Transient { .. }
            | Fault::OutcomeUnknown { .. }
            | Fault::Concurrent { .. } => RetryClass::Later,
            Fault::TokenConflict { .. }
            | Fault::TokenUnknown { .. }
            | Fault::AlreadyExists { .. }
            | Fault::Missing { .. }
            | Fault::Denied { .. }
            | Fault::Rejected { .. } => RetryClass::Never,
        }
    }

    /// The code to report: AWS's own, or `OutcomeUnknown`.
    pub fn code(&self) -> &str {
        match self {
            Fault::OutcomeUnknown { .. } => "OutcomeUnknown",
            Fault::Throttled { code, .. }
            | Fault::Transient { code, .. }
            | Fault::Concurrent { code, .. }
            | Fault::TokenConflict { code, .. }
            | Fault::TokenUnknown { code, .. }
            | Fault::AlreadyExists { code, .. }
            | Fault::Missing { code, .. }
            | Fault::Denied { code, .. }
            | Fault::Rejected { code, .. } => code,
        }
    }

    /// The text to report.
    pub fn message(&self) -> &str {
        match self {
            Fault::Throttled { message, .. }
            | Fault::Transient { message, .. }
            | Fault::OutcomeUnknown { message }
            | Fault::Concurrent { message, .. }
            | Fault::TokenConflict { message, .. }
            | Fault::TokenUnknown { message, .. }
            | Fault::AlreadyExists { message, .. }
            | Fault::Missing { message, .. }
            | Fault::Denied { message, .. }
            | Fault::Rejected { message, .. } => message,
        }
    }
}
