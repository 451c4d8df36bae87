use serde::{Deserialize, Serialize};

use crate::{Action, Fault, HookFailure, Identifier, RequestToken, TypeName};

/// Why an operation or a request failed, in ARM's terms. Its texts reach the caller, so they never hold secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// ARM, Cloud Control or our own error code, for example `RequiresReplacement`.
    pub code: String,
    /// What happened, where, and what to do next.
    pub message: String,
    /// The id of what it is about, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// One entry per cause, where there is more than one or where it has a place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<Detail>,
    /// What a program may want to know beyond that: which request of AWS's failed, and which hooks refused it.
    #[serde(
        default,
        rename = "additionalInfo",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub additional_info: Vec<AdditionalInfo>,
}

/// One cause of a [`Failure`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Detail {
    /// The code of this cause.
    pub code: String,
    /// What is wrong.
    pub message: String,
    /// Where: a JSON Pointer into the request, a resource id or a URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

/// Facts about a [`Failure`], in ARM's form: `{"type", "info"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "info")]
pub enum AdditionalInfo {
    /// The request that failed.
    CloudControlRequest(CloudControlRequest),
    /// A CloudFormation Hook that refused it.
    CloudFormationHook(HookFailure),
}

/// A request as Cloud Control knows it, to be asked after with `GetResourceRequestStatus`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CloudControlRequest {
    /// The handle under which AWS keeps it for seven days.
    pub request_token: RequestToken,
    /// What it was to do.
    pub operation: Action,
    /// On a resource of which type.
    pub type_name: TypeName,
    /// On which one, as far as known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identifier: Option<Identifier>,
}

/// What the code of a [`Failure`] says about it, as far as anything is decided on that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The resource does not exist.
    NotFound,
    /// It passes by itself.
    Passing,
    /// It lasts until somebody does something about it.
    Lasting,
    /// Any other.
    Other,
}

impl Reason {
    /// Of a stored failure only the text is left, so this is where it is read.
    fn of(code: &str) -> Self {
        match code.trim_end_matches("Exception") {
            "NotFound" => Self::NotFound,
            "AccessDenied"
            | "AccountMismatch"
            | "ExpiredToken"
            | "IncompleteSignature"
            | "InvalidClientTokenId"
            | "InvalidCredentials"
            | "InvalidSignature"
            | "MissingAuthenticationToken"
            | "NotAuthorized"
            | "OptInRequired"
            | "OutcomeUnknown"
            | "RequestExpired"
            | "RequestTimeTooSkewed"
            | "SignatureDoesNotMatch"
            | "TypeNotFound"
            | "UnauthorizedTaggingOperation"
            | "UnrecognizedClient"
            | "UnsupportedAction" => Self::Lasting,
            "ConcurrentOperation"
            | "GeneralService"
            | "HandlerFailure"
            | "HandlerInternalFailure"
            | "InternalFailure"
            | "NetworkFailure"
            | "NotStabilized"
            | "ResourceConflict"
            | "ServiceInternalError"
            | "ServiceTimeout"
            | "ServiceUnavailable"
            | "Throttling" => Self::Passing,
            _ => Self::Other,
        }
    }
}

impl Failure {
    /// What its code says about it.
    pub fn reason(&self) -> Reason {
        Reason::of(&self.code)
    }

    /// A failure without details.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            target: None,
            details: Vec::new(),
            additional_info: Vec::new(),
        }
    }

    /// The same failure about `target`.
    #[must_use]
    pub fn with_target(mut self, target: impl Into<String>) -> Self {
        self.target = Some(target.into());
        self
    }

    /// The same failure with `details`.
    #[must_use]
    pub fn with_details(mut self, details: Vec<Detail>) -> Self {
        self.details = details;
        self
    }

    /// The same failure with `additional_info`.
    #[must_use]
    pub fn with_additional_info(mut self, additional_info: Vec<AdditionalInfo>) -> Self {
        self.additional_info = additional_info;
        self
    }
}

impl From<&Fault> for Failure {
    fn from(fault: &Fault) -> Self {
        Self::new(fault.code.as_str(), fault.message.as_str())
    }
}

impl Detail {
    /// A cause at `target`.
    pub fn at(
        code: impl Into<String>,
        message: impl Into<String>,
        target: impl Into<String>,
    ) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            target: Some(target.into()),
        }
    }
}

/// An error with all its causes on one line, for the log: what was attempted first, the root last.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
