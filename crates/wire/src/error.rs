//! Errors.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use ucp_model::ids::is_misleading;
use ucp_model::{AdditionalInfo, Detail, Failure};
use utoipa::ToSchema;

/// ARM's error envelope.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ErrorResponse {
    /// The error.
    pub error: ErrorBody,
}

/// An error: what went wrong, where, and what to do next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErrorBody {
    /// The error code: ARM's, Cloud Control's or one of ucp.
    #[schema(example = "Conflict")]
    pub code: String,
    /// A human-readable message.
    pub message: String,
    /// What the error is about, usually an id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The causes, one entry each, and a link to the page about the code.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<ErrorDetail>,
    /// Machine-readable facts: the Cloud Control request that failed, and the hooks that refused it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub additional_info: Vec<ErrorAdditionalInfo>,
}

/// One cause of an error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ErrorDetail {
    /// The kind of cause.
    #[schema(example = "OperationInProgress")]
    pub code: String,
    /// A human-readable message.
    pub message: String,
    /// A JSON Pointer into the request, a resource id or a URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

impl From<Detail> for ErrorDetail {
    fn from(detail: Detail) -> Self {
        let Detail {
            code,
            message,
            target,
        } = detail;
        Self {
            code,
            message: readable(message),
            target,
        }
    }
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
        Self {
            code,
            message: readable(message),
            target,
            details: details.into_iter().map(ErrorDetail::from).collect(),
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
        if changes(letter) {
            readable.extend(letter.escape_default())
        } else {
            readable.push(letter)
        }
    }
    readable
}

/// Machine-readable facts about an error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ErrorAdditionalInfo {
    /// The kind of facts.
    #[schema(value_type = AdditionalInfoType)]
    pub r#type: String,
    /// The facts.
    #[schema(value_type = Object)]
    pub info: Value,
}

/// The kinds of facts about an error.
#[derive(Debug, ToSchema)]
pub enum AdditionalInfoType {
    /// The Cloud Control request that failed.
    CloudControlRequest,
    /// A CloudFormation hook that refused the request.
    CloudFormationHook,
}

impl From<AdditionalInfo> for ErrorAdditionalInfo {
    fn from(info: AdditionalInfo) -> Self {
        match info {
            AdditionalInfo::CloudControlRequest(request) => Self {
                r#type: format!("{:?}", AdditionalInfoType::CloudControlRequest),
                info: json!(request),
            },
            AdditionalInfo::CloudFormationHook(hook) => Self {
                r#type: format!("{:?}", AdditionalInfoType::CloudFormationHook),
                info: json!(hook),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A later server may say more, and other words.
    #[test]
    fn what_a_reader_does_not_know_is_no_error() {
        let sent = json!({"code": "Later", "message": "m", "innererror": {}, "details": [{"code": "New", "message": "d", "more": 1}],
            "additionalInfo": [{"type": "Unknown", "info": [1]}]});
        let read = ErrorBody::deserialize(&sent).unwrap();
        assert_eq!(read.details[0].code, "New");
        assert_eq!(read.additional_info[0].r#type, "Unknown");
        let short = ErrorBody::deserialize(&json!({"code": "A", "message": "m"})).unwrap();
        assert_eq!(
            serde_json::to_value(&short).unwrap(),
            json!({"code": "A", "message": "m"})
        );
    }

    #[test]
    fn facts_have_the_names_of_their_kinds() {
        let kinds = [
            AdditionalInfoType::CloudControlRequest,
            AdditionalInfoType::CloudFormationHook,
        ];
        let names = kinds.map(|kind| format!("{kind:?}"));
        assert_eq!(names, ["CloudControlRequest", "CloudFormationHook"]);
    }
}
