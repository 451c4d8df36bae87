use serde::{Deserialize, Serialize};
use ucp_model::Timestamp;

use crate::vocabulary::words;

words! {
    /// What a resource request does.
    Operation {
        Create = "CREATE",
        Update = "UPDATE",
        Delete = "DELETE",
    }
}

words! {
    /// How far a resource request is.
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

/// Cloud Control's report on a resource request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgressEvent {
    /// The resource type.
    pub type_name: String,
    /// The primary identifier, as soon as AWS reveals it.
    pub identifier: Option<String>,
    /// The handle of the request.
    pub request_token: String,
    /// What the request does.
    pub operation: Operation,
    /// How far it is.
    pub operation_status: OperationStatus,
    /// When it came to that.
    pub event_time: Timestamp,
    /// The properties as JSON text, once they are settled. Write-only ones are left out.
    pub resource_model: Option<String>,
    /// Why it failed.
    pub status_message: Option<String>,
    /// Why it failed, in a word.
    pub error_code: Option<HandlerErrorCode>,
    /// When to ask again.
    pub retry_after: Option<Timestamp>,
    /// What CloudFormation Hooks said to it. On the wire only `GetResourceRequestStatus` tells.
    pub hooks: Vec<HookProgressEvent>,
}

words! {
    /// How far a hook is.
    HookStatus {
        Pending = "HOOK_PENDING",
        InProgress = "HOOK_IN_PROGRESS",
        CompleteSucceeded = "HOOK_COMPLETE_SUCCEEDED",
        CompleteFailed = "HOOK_COMPLETE_FAILED",
        Failed = "HOOK_FAILED",
    }
}

words! {
    /// What becomes of the request when a hook does not succeed.
    FailureMode {
        Fail = "FAIL",
        Warn = "WARN",
    }
}

/// Cloud Control's report on the invocation of a hook, and what a fault orders of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HookProgressEvent {
    /// The hook's name.
    pub hook_type_name: String,
    /// Its ARN.
    pub hook_type_arn: String,
    /// Which version of it.
    pub hook_type_version_id: String,
    /// Before or after which call.
    pub invocation_point: String,
    /// How far it is.
    pub hook_status: HookStatus,
    /// What the hook says.
    pub hook_status_message: String,
    /// What becomes of the request when it does not succeed.
    pub failure_mode: FailureMode,
}
