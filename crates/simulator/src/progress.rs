use serde::{Deserialize, Serialize};
use ucp_model::Timestamp;

use crate::vocabulary::words;

words! {
    /// The operation of a resource request.
    Operation {
        Create = "CREATE",
        Update = "UPDATE",
        Delete = "DELETE",
    }
}

words! {
    /// The status of a resource request.
    OperationStatus {
        Pending = "PENDING",
        InProgress = "IN_PROGRESS",
        Success = "SUCCESS",
        Failed = "FAILED",
        CancelInProgress = "CANCEL_IN_PROGRESS",
        CancelComplete = "CANCEL_COMPLETE",
    }
}

words! {
    /// Why a resource request failed.
    HandlerErrorCode {
        NotUpdatable = "NotUpdatable",
        InvalidRequest = "InvalidRequest",
        AccessDenied = "AccessDenied",
        UnauthorizedTaggingOperation = "UnauthorizedTaggingOperation",
        InvalidCredentials = "InvalidCredentials",
        AlreadyExists = "AlreadyExists",
        NotFound = "NotFound",
        ResourceConflict = "ResourceConflict",
        Throttling = "Throttling",
        ServiceLimitExceeded = "ServiceLimitExceeded",
        NotStabilized = "NotStabilized",
        GeneralServiceException = "GeneralServiceException",
        ServiceInternalError = "ServiceInternalError",
        ServiceTimeout = "ServiceTimeout",
        NetworkFailure = "NetworkFailure",
        InternalFailure = "InternalFailure",
    }
}

/// The progress of a resource request, as reported by Cloud Control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgressEvent {
    /// The resource type.
    pub type_name: String,
    /// The primary identifier, once AWS reveals it.
    pub identifier: Option<String>,
    /// The token of the request.
    pub request_token: String,
    /// The operation.
    pub operation: Operation,
    /// The current status.
    pub operation_status: OperationStatus,
    /// When the status last changed.
    pub event_time: Timestamp,
    /// The properties as JSON text after success, without write-only ones.
    pub resource_model: Option<String>,
    /// Why the request failed, as text.
    pub status_message: Option<String>,
    /// Why the request failed, as a code.
    pub error_code: Option<HandlerErrorCode>,
    /// When to poll again.
    pub retry_after: Option<Timestamp>,
    /// The results of CloudFormation Hooks. Over the wire, only `GetResourceRequestStatus` returns them.
    pub hooks: Vec<HookProgressEvent>,
}

words! {
    /// The status of a hook.
    HookStatus {
        Pending = "HOOK_PENDING",
        InProgress = "HOOK_IN_PROGRESS",
        CompleteSucceeded = "HOOK_COMPLETE_SUCCEEDED",
        CompleteFailed = "HOOK_COMPLETE_FAILED",
        Failed = "HOOK_FAILED",
    }
}

words! {
    /// What happens to the request when a hook does not succeed.
    FailureMode {
        Fail = "FAIL",
        Warn = "WARN",
    }
}

/// The progress of a hook, as reported by Cloud Control and as configured in a fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HookProgressEvent {
    /// The type name of the hook.
    pub hook_type_name: String,
    /// The ARN of the hook.
    pub hook_type_arn: String,
    /// The version of the hook.
    pub hook_type_version_id: String,
    /// The invocation point, such as `CREATE_PRE_PROVISION`.
    pub invocation_point: String,
    /// The status of the hook.
    pub hook_status: HookStatus,
    /// The message of the hook.
    pub hook_status_message: String,
    /// What happens to the request when the hook does not succeed.
    pub failure_mode: FailureMode,
}
