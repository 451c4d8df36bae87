use serde::Serialize;
use serde_json::{Value, json};
use ucp_model::{AdditionalInfo, Detail, Failure};
use utoipa::ToSchema;

use crate::error_code::ErrorCode;
use crate::origin::BaseUrl;

/// ARM's error envelope.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ErrorResponse {
    /// What went wrong.
    error: ErrorBody,
}

/// What went wrong, where, and what to do next.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ErrorBody {
    /// ARM, Cloud Control or ucp error code.
    #[schema(example = "Conflict")]
    code: String,
    /// For a person.
    message: String,
    /// The id of what it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    /// One entry per cause.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    details: Vec<ErrorDetail>,
    /// For programs: the request of AWS's that failed, and the hooks that refused it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    additional_info: Vec<ErrorAdditionalInfo>,
}

/// One cause of an error.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ErrorDetail {
    /// What kind of cause it is.
    #[schema(example = "OperationInProgress")]
    code: String,
    /// For a person.
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
            message,
            target,
        };
        Self {
            code,
            message,
            target,
            details: details.into_iter().map(detail).collect(),
            additional_info: additional_info.into_iter().map(Into::into).collect(),
        }
    }
}

impl ErrorBody {
    /// The same with a link to the page about its code at the end of its details. Where the contract has a list there,
    /// of places in the request or of resources, the list holds nothing else (section 9, D14, D35, D36).
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
    /// `failure`, with a link to the page about its code.
    pub(crate) fn of(failure: Failure, base_url: &BaseUrl) -> Self {
        Self {
            error: ErrorBody::from(failure).explained(base_url),
        }
    }
}

/// Facts about an error.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ErrorAdditionalInfo {
    /// What the facts are about.
    r#type: AdditionalInfoType,
    /// The facts.
    #[schema(value_type = Object)]
    info: Value,
}

/// What facts about an error may be about.
#[derive(Debug, Serialize, ToSchema)]
enum AdditionalInfoType {
    /// The request of AWS's that failed.
    CloudControlRequest,
    /// The hook that refused it.
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
