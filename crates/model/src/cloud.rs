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

/// What a call to AWS came to instead of a reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}", class.word().unwrap_or(code))]
pub struct Fault {
    /// What a caller would do about it.
    pub class: FaultClass,
    /// The code to report: AWS's own, `NetworkFailure`, or `OutcomeUnknown`.
    pub code: String,
    /// The text to report: AWS's own, or the transport's.
    pub message: String,
    /// How long AWS asks to wait, when it says so.
    pub retry_after: Option<Duration>,
}

/// What a [`Fault`] means, by what a caller would do differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultClass {
    /// AWS asks to slow down; nothing happened. Wait, then send the same again.
    Throttled,
    /// The call certainly had no effect, for a reason that passes (no connection, a read that broke off).
    Transient,
    /// A mutation whose reply was lost: it may have happened. Never the same as "failed".
    OutcomeUnknown,
    /// Another request for the same resource is in flight (`ConcurrentOperationException`). Wait, then look.
    Concurrent,
    /// The client token was used for another request (`ClientTokenConflictException`).
    TokenConflict,
    /// AWS no longer knows the request token (`RequestTokenNotFoundException`).
    TokenUnknown,
    /// Something has the identifier of what is to be created already (`AlreadyExistsException`).
    AlreadyExists,
    /// The resource does not exist (`ResourceNotFoundException`, or what a type says in its place).
    Missing,
    /// The credentials do not allow it, or are none.
    Denied,
    /// AWS refuses the request as it stands; sending it again changes nothing.
    Rejected,
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
    /// A fault that does not say how long to wait.
    pub fn new(class: FaultClass, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            class,
            code: code.into(),
            message: message.into(),
            retry_after: None,
        }
    }

    /// A mutation whose reply was lost, as `message` says.
    pub fn outcome_unknown(message: impl Into<String>) -> Self {
        Self::new(FaultClass::OutcomeUnknown, "OutcomeUnknown", message)
    }

    /// Whether the same call may succeed later.
    pub fn retry_class(&self) -> RetryClass {
        self.class.retry_class()
    }
}

impl FaultClass {
    /// Whether the same call may succeed later.
    pub fn retry_class(self) -> RetryClass {
        match self {
            FaultClass::Throttled
            | FaultClass::Transient
            | FaultClass::OutcomeUnknown
            | FaultClass::Concurrent => RetryClass::Later,
            FaultClass::TokenConflict
            | FaultClass::TokenUnknown
            | FaultClass::AlreadyExists
            | FaultClass::Missing
            | FaultClass::Denied
            | FaultClass::Rejected => RetryClass::Never,
        }
    }

    /// What it is called in place of its code.
    fn word(self) -> Option<&'static str> {
        match self {
            FaultClass::Throttled => Some("throttled"),
            FaultClass::OutcomeUnknown => Some("outcome unknown"),
            FaultClass::Transient
            | FaultClass::Concurrent
            | FaultClass::TokenConflict
            | FaultClass::TokenUnknown
            | FaultClass::AlreadyExists
            | FaultClass::Missing
            | FaultClass::Denied
            | FaultClass::Rejected => None,
        }
    }
}
