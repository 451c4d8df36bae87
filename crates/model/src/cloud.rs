//! Cloud Control's replies, in the terms of the state machine.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Exception, HandlerErrorCode, Identifier, RequestToken, Timestamp, TypeName};

/// A mutation that Cloud Control performs on a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
    /// All actions.
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

/// Cloud Control's report on one request in progress (`ProgressEvent`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The request token, which AWS keeps for seven days.
    pub request_token: RequestToken,
    /// The current status.
    pub status: ProgressStatus,
    /// The type of the resource, if AWS names it.
    pub type_name: Option<TypeName>,
    /// What was requested, if AWS says so.
    pub action: Option<Action>,
    /// The primary identifier, once AWS reports it.
    pub identifier: Option<Identifier>,
    /// When AWS asks to be polled again (`RetryAfter`).
    pub retry_after: Option<Timestamp>,
}

/// `OperationStatus` of a progress event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgressStatus {
    /// `PENDING`, `IN_PROGRESS` or `CANCEL_IN_PROGRESS`.
    Running,
    /// `SUCCESS`.
    Success,
    /// `FAILED`, with the `HandlerErrorCode` and AWS's message.
    Failed {
        /// `ErrorCode`.
        code: HandlerErrorCode,
        /// `StatusMessage`.
        message: String,
        /// The hooks that failed, including those that only warn.
        hooks: Vec<HookFailure>,
    },
    /// `CANCEL_COMPLETE`.
    Canceled,
}

/// A CloudFormation Hook that did not succeed (`HookProgressEvent`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HookFailure {
    /// The hook's name, for example `MyCompany::Security::Encryption`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub type_name: Option<String>,
    /// The hook's ARN.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub type_arn: Option<String>,
    /// The version of the hook that was invoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub type_version_id: Option<String>,
    /// The point at which it was invoked, for example `CREATE_PRE_PROVISION`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invocation_point: Option<String>,
    /// `HOOK_COMPLETE_FAILED` if it refused the request, `HOOK_FAILED` if the hook itself failed.
    pub status: String,
    /// `FAIL` if this fails the request, `WARN` if it does not.
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

/// One resource in a reply of AWS (`ResourceDescription`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResourceDescription {
    /// The primary identifier, as AWS spells it.
    pub identifier: Identifier,
    /// The live properties; in a list, those that the type's list handler returns.
    pub properties: Value,
}

/// One page of a list of resources.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResourcePage {
    /// The resources, in AWS's order.
    pub resources: Vec<ResourceDescription>,
    /// The token for the next page. `None` on the last page.
    pub next_token: Option<String>,
}

/// One page of a list of requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestPage {
    /// The requests, in AWS's order.
    pub requests: Vec<Progress>,
    /// The token for the next page. `None` on the last page.
    pub next_token: Option<String>,
}

/// The code of a fault without an answer of AWS.
const OUTCOME_UNKNOWN: &str = "OutcomeUnknown";

/// A failed call to AWS.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "camelCase")]
#[error("{}: {message}", self.shown())]
pub struct Fault {
    /// The class, which determines the reaction.
    pub class: FaultClass,
    /// The code to report: AWS's code, `NetworkFailure`, or `OutcomeUnknown`.
    pub code: String,
    /// The message to report, from AWS or from the transport.
    pub message: String,
    /// How long AWS asks to wait, if it says so.
    pub retry_after: Option<Duration>,
}

/// The class of a [`Fault`], by the reaction it calls for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FaultClass {
    /// Throttled; the call had no effect. Wait, then send the same call again.
    Throttled,
    /// A transient failure of a call that certainly had no effect (no connection, an interrupted read).
    Transient,
    /// The reply to a mutation was lost: it may have taken effect. Never treated as a failure.
    OutcomeUnknown,
    /// The resource is in use, or another request for it is in progress (`ConcurrentOperationException`,
    /// `ResourceConflictException`). Wait, then try again.
    Concurrent,
    /// The client token was used for another request (`ClientTokenConflictException`).
    TokenConflict,
    /// AWS no longer knows the request token (`RequestTokenNotFoundException`).
    TokenUnknown,
    /// A resource with the identifier of the one to create already exists (`AlreadyExistsException`).
    AlreadyExists,
    /// The resource does not exist (`ResourceNotFoundException`, or the equivalent error of a type).
    Missing,
    /// The credentials are missing, invalid or lack the permission.
    Denied,
    /// AWS refuses the request; sending it again will not help.
    Rejected,
}

/// Whether to retry after a [`Fault`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryClass {
    /// The same call may succeed later.
    Later,
    /// The same call will not succeed.
    Never,
}

impl Fault {
    /// Creates a fault without a time to wait.
    pub fn new(class: FaultClass, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            class,
            code: code.into(),
            message: message.into(),
            retry_after: None,
        }
    }

    /// Creates the fault of a mutation whose reply was lost.
    pub fn outcome_unknown(message: impl Into<String>) -> Self {
        Self::new(FaultClass::OutcomeUnknown, OUTCOME_UNKNOWN, message)
    }

    /// Returns whether the same read may succeed later.
    pub fn retry_class(&self) -> RetryClass {
        // The handler did not come to an end.
        let has_not_ended = Exception::of(&self.code) == Exception::NotStabilizedException;
        if has_not_ended {
            RetryClass::Later
        } else {
            self.class.retry_class()
        }
    }

    /// Returns what is displayed before the message: the class where it says more than the code.
    fn shown(&self) -> Cow<'_, str> {
        match self.class.word() {
            Some(word)
                if self.class == FaultClass::OutcomeUnknown && self.code != OUTCOME_UNKNOWN =>
            {
                format!("{word}: {}", self.code).into()
            }
            Some(word) => word.into(),
            None => self.code.as_str().into(),
        }
    }
}

impl FaultClass {
    /// Returns whether the same call may succeed later.
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

    /// Returns the word that is displayed in place of the code.
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
