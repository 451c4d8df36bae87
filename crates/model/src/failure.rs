use serde::{Deserialize, Serialize};

use crate::operation::resource::{Class, Problem, retry_class};
use crate::{Action, Exception, Fault, HookFailure, Identifier, RequestToken, TypeName};

/// The maximum number of details of a failure. Those beyond are only counted.
pub const MAX_DETAILS: usize = 100;

/// Why an operation or a request failed, in ARM's terms. Its messages reach the caller, so they never contain secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// An error code of ARM, Cloud Control or `ucp`, for example `RequiresReplacement`.
    pub code: String,
    /// What happened, where, and what to do next.
    pub message: String,
    /// The id of the subject, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// One entry per cause, if there are several causes or a cause has a location.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<Detail>,
    /// Further facts for programs: which Cloud Control request failed, and which hooks refused it.
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
    /// The location: a JSON Pointer into the request, a resource id or a URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

/// Further facts about a [`Failure`], in ARM's format: `{"type", "info"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "info")]
pub enum AdditionalInfo {
    /// The request that failed.
    CloudControlRequest(CloudControlRequest),
    /// A CloudFormation Hook that refused the request.
    CloudFormationHook(HookFailure),
}

/// A Cloud Control request, as `GetResourceRequestStatus` identifies it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CloudControlRequest {
    /// The request token, which AWS keeps for seven days.
    pub request_token: RequestToken,
    /// The operation it requested.
    pub operation: Action,
    /// The type of the resource.
    pub type_name: TypeName,
    /// The resource's primary identifier, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identifier: Option<Identifier>,
}

/// The classification of a [`Failure`] by its code, as far as decisions depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The resource does not exist.
    NotFound,
    /// Transient: it passes by itself.
    Passing,
    /// Permanent until someone fixes the cause.
    Lasting,
    /// Any other reason.
    Other,
}

impl Reason {
    /// Classifies the text of a code, which is all that a stored failure keeps.
    fn of(code: &str) -> Self {
        let problem = Problem::coded(code);
        match (retry_class(&problem, Action::Delete), problem) {
            (Class::Absent, _) => Self::NotFound,
            (
                Class::Again
                | Class::LookThenAgain
                | Class::Queue
                | Class::Unknown
                | Class::KeepWatching
                | Class::Overdue,
                _,
            ) => Self::Passing,
            (Class::Soon | Class::Permission, _) => Self::Lasting,
            (
                Class::MayLeave | Class::Terminal | Class::Prove | Class::Follow,
                Problem::Refused(
                    Exception::IncompleteSignature
                    | Exception::InvalidClientTokenId
                    | Exception::InvalidSignatureException
                    | Exception::MissingAuthenticationToken
                    | Exception::OptInRequired
                    | Exception::RequestExpired
                    | Exception::RequestTimeTooSkewed
                    | Exception::SignatureDoesNotMatch
                    | Exception::TypeNotFoundException
                    | Exception::UnrecognizedClientException
                    | Exception::UnsupportedActionException,
                ),
            ) => Self::Lasting,
            (
                Class::MayLeave | Class::Terminal | Class::Prove | Class::Follow,
                Problem::Refused(Exception::Other(code)),
            ) => match code.as_str() {
                "AccountMismatch" | "OutcomeUnknown" => Self::Lasting,
                _ => Self::Other,
            },
            (Class::MayLeave | Class::Terminal | Class::Prove | Class::Follow, _) => Self::Other,
        }
    }
}

impl Failure {
    /// Classifies the failure by its code.
    pub fn reason(&self) -> Reason {
        Reason::of(&self.code)
    }

    /// Returns the resource that AWS named when it refused the request.
    pub(crate) fn refused_for(&self) -> Option<&Identifier> {
        self.additional_info.iter().find_map(|info| match info {
            AdditionalInfo::CloudControlRequest(request) => request.identifier.as_ref(),
            AdditionalInfo::CloudFormationHook(_) => None,
        })
    }

    /// Creates a failure without details.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            target: None,
            details: Vec::new(),
            additional_info: Vec::new(),
        }
    }

    /// Sets the target.
    #[must_use]
    pub fn with_target(mut self, target: impl Into<String>) -> Self {
        self.target = Some(target.into());
        self
    }

    /// Sets the details. If there are more than [`MAX_DETAILS`], the last one says how many more there are.
    #[must_use]
    pub fn with_details(mut self, mut details: Vec<Detail>) -> Self {
        let more = details.len().saturating_sub(MAX_DETAILS);
        details.truncate(MAX_DETAILS);
        if more > 0 {
            details.push(Detail::more(more));
        }
        self.details = details;
        self
    }

    /// Sets the additional info.
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
    /// Creates the last detail of a failure with `more` causes than it lists.
    pub fn more(more: usize) -> Self {
        Self {
            code: "More".to_owned(),
            message: format!("and {more} more"),
            target: None,
        }
    }

    /// Creates a cause located at `target`.
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

/// Formats an error and all its sources on one line for the log, the root cause last.
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
