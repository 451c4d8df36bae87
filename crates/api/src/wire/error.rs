use serde::Serialize;
use serde_json::{Value, json};
use ucp_model::ids::is_misleading;
use ucp_model::{AdditionalInfo, Detail, Failure};
use utoipa::ToSchema;

use crate::error_code::ErrorCode;
use crate::origin::BaseUrl;

/// ARM's error envelope.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ErrorResponse {
    /// The error.
    error: ErrorBody,
}

/// An error: what went wrong, where, and what to do next.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ErrorBody {
    /// The error code: ARM's, Cloud Control's or one of ucp.
    #[schema(example = "Conflict")]
    code: String,
    /// A human-readable message.
    message: String,
    /// What the error is about, usually an id.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    /// The causes, one entry each, and a link to the page about the code.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    details: Vec<ErrorDetail>,
    /// Machine-readable facts: the Cloud Control request that failed, and the hooks that refused it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    additional_info: Vec<ErrorAdditionalInfo>,
}

/// One cause of an error.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ErrorDetail {
    /// The kind of cause.
    #[schema(example = "OperationInProgress")]
    code: String,
    /// A human-readable message.
    message: String,
    /// A JSON Pointer into the request, a resource id or a URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
}

impl From<Failure> for ErrorBody {
    fn from(failure: Failure) -> Self {
        let Failure {
            code,
            message,
            target,
            details,
            additional_info,
        } = failure;
        let detail = |Detail {
                          code,
                          message,
                          target,
                      }| ErrorDetail {
            code,
            message: readable(message),
            target,
        };
        Self {
            code,
            message: readable(message),
            target,
            details: details.into_iter().map(detail).collect(),
            additional_info: additional_info.into_iter().map(Into::into).collect(),
        }
    }
}

/// Escapes the letters that would change how a message is shown: messages repeat names that clients sent. A target
/// stays exact, since it is for programs.
fn readable(message: String) -> String {
    let changes = |letter: char| is_misleading(letter) && !matches!(letter, '\n' | '\t');
    if !message.contains(changes) {
        return message;
    }
    let mut readable = String::with_capacity(message.len());
    for letter in message.chars() {
        match changes(letter) {
            true => readable.extend(letter.escape_default()),
            false => readable.push(letter),
        }
    }
    readable
}

impl ErrorBody {
    /// Appends a link to the page about the code to the details, unless the contract reserves them for a list of places
    /// in the request or of resources (section 9, D14, D35, D36).
    pub(crate) fn explained(mut self, base_url: &BaseUrl) -> Self {
        let has_list = match self.code.as_str() {
            "BadRequest"
            | "HttpRequestPayloadAPISpecValidationFailed"
            | "InvalidRequest"
            | "RequiresReplacement"
            | "ResourceGroupDeletionBlocked" => !self.details.is_empty(),
            _ => false,
        };
        if !has_list && ErrorCode::find(&self.code).is_some() {
            self.details.push(ErrorDetail {
                code: "Help".to_owned(),
                message: "What the code means, and what to do.".to_owned(),
                target: Some(format!("{base_url}/docs/errors/{}", self.code)),
            });
        }
        self
    }
}

impl ErrorResponse {
    /// The envelope of `failure`, with a link to the page about its code.
    pub(crate) fn of(failure: Failure, base_url: &BaseUrl) -> Self {
        Self {
            error: ErrorBody::from(failure).explained(base_url),
        }
    }
}

/// Machine-readable facts about an error.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ErrorAdditionalInfo {
    /// The kind of facts.
    r#type: AdditionalInfoType,
    /// The facts.
    #[schema(value_type = Object)]
    info: Value,
}

/// The kinds of facts about an error.
#[derive(Debug, Serialize, ToSchema)]
enum AdditionalInfoType {
    /// The Cloud Control request that failed.
    CloudControlRequest,
    /// A CloudFormation hook that refused the request.
    CloudFormationHook,
}

impl From<AdditionalInfo> for ErrorAdditionalInfo {
    fn from(info: AdditionalInfo) -> Self {
        match info {
            AdditionalInfo::CloudControlRequest(request) => Self {
                r#type: AdditionalInfoType::CloudControlRequest,
                info: json!(request),
            },
            AdditionalInfo::CloudFormationHook(hook) => Self {
                r#type: AdditionalInfoType::CloudFormationHook,
                info: json!(hook),
            },
        }
    }
}
