//! The calls and their replies, with AWS's members.

use serde::Deserialize;
use ucp_model::Timestamp;

use crate::progress::{Operation, OperationStatus, ProgressEvent};
use crate::vocabulary::words;

/// The account and region of a caller. State is kept per caller.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Caller {
    /// The 12-digit account id.
    pub account: String,
    /// The region.
    pub region: String,
}

impl Caller {
    /// The account of callers that name none.
    pub const NO_ACCOUNT: &str = "000000000000";

    /// Derives the caller from an access key id: twelve digits are an account, as in local AWS emulators, optionally
    /// after `AKIA`. Anything else is [`Caller::NO_ACCOUNT`].
    pub fn new(account: &str, region: &str) -> Self {
        let account = account.strip_prefix("AKIA").unwrap_or(account);
        Self {
            account: if Self::is_account(account) {
                account
            } else {
                Self::NO_ACCOUNT
            }
            .to_owned(),
            region: region.to_owned(),
        }
    }

    /// Whether an access key id names an account.
    pub(crate) fn is_key(access_key_id: &str) -> bool {
        let account = access_key_id.strip_prefix("AKIA");
        Self::is_account(account.unwrap_or(access_key_id))
    }

    /// Whether a text is an account id: twelve digits.
    pub(crate) fn is_account(text: &str) -> bool {
        text.len() == 12 && text.bytes().all(|byte| byte.is_ascii_digit())
    }
}

words! {
    /// The name of a call.
    Action {
        CreateResource = "CreateResource",
        UpdateResource = "UpdateResource",
        DeleteResource = "DeleteResource",
        GetResource = "GetResource",
        ListResources = "ListResources",
        GetResourceRequestStatus = "GetResourceRequestStatus",
        CancelResourceRequest = "CancelResourceRequest",
        ListResourceRequests = "ListResourceRequests",
        DescribeType = "DescribeType",
        ListTypes = "ListTypes",
        GetCallerIdentity = "GetCallerIdentity",
        AssumeRole = "AssumeRole",
        AssumeRoleWithWebIdentity = "AssumeRoleWithWebIdentity",
    }
}

/// A call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Creates a resource.
    CreateResource(CreateResource),
    /// Updates a resource.
    UpdateResource(UpdateResource),
    /// Deletes a resource.
    DeleteResource(DeleteResource),
    /// Reads a resource.
    GetResource(GetResource),
    /// Lists the resources of a type.
    ListResources(ListResources),
    /// Reads the status of a resource request.
    GetResourceRequestStatus(RequestToken),
    /// Cancels a resource request.
    CancelResourceRequest(RequestToken),
    /// Lists the resource requests of the last seven days.
    ListResourceRequests(ListResourceRequests),
    /// Reads the schema of a type.
    DescribeType(DescribeType),
    /// Lists the registered types.
    ListTypes(ListTypes),
    /// Returns the identity of the caller.
    GetCallerIdentity(GetCallerIdentity),
    /// Starts a session of a role.
    AssumeRole(AssumeRole),
    /// Starts a session of a role with a web identity instead of credentials.
    AssumeRoleWithWebIdentity(AssumeRoleWithWebIdentity),
}

/// Input of `CreateResource`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
pub struct CreateResource {
    /// The resource type.
    pub type_name: String,
    /// The properties as JSON text.
    pub desired_state: String,
    /// The caller's idempotency key.
    pub client_token: Option<String>,
    /// The role that Cloud Control uses.
    pub role_arn: Option<String>,
}

/// Input of `UpdateResource`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
pub struct UpdateResource {
    /// The resource type.
    pub type_name: String,
    /// The primary identifier.
    pub identifier: String,
    /// An RFC 6902 JSON Patch as text.
    pub patch_document: String,
    /// The caller's idempotency key.
    pub client_token: Option<String>,
    /// The role that Cloud Control uses.
    pub role_arn: Option<String>,
}

/// Input of `DeleteResource`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
pub struct DeleteResource {
    /// The resource type.
    pub type_name: String,
    /// The primary identifier.
    pub identifier: String,
    /// The caller's idempotency key.
    pub client_token: Option<String>,
    /// The role that Cloud Control uses.
    pub role_arn: Option<String>,
}

/// Input of `GetResource`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
pub struct GetResource {
    /// The resource type.
    pub type_name: String,
    /// The primary identifier.
    pub identifier: String,
    /// The role that Cloud Control uses.
    pub role_arn: Option<String>,
}

/// Input of `ListResources`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
pub struct ListResources {
    /// The resource type.
    pub type_name: String,
    /// Properties that the resources must have, as JSON text.
    pub resource_model: Option<String>,
    /// The page size.
    pub max_results: Option<i64>,
    /// The token of the page.
    pub next_token: Option<String>,
    /// The role that Cloud Control uses.
    pub role_arn: Option<String>,
}

/// Input of `GetResourceRequestStatus` and of `CancelResourceRequest`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
pub struct RequestToken {
    /// The token of the request.
    pub request_token: String,
}

/// Input of `ListResourceRequests`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
pub struct ListResourceRequests {
    /// The page size.
    pub max_results: Option<i64>,
    /// The token of the page.
    pub next_token: Option<String>,
    /// The filter.
    pub resource_request_status_filter: Option<StatusFilter>,
}

/// A filter of resource requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
pub struct StatusFilter {
    /// The operations to list.
    pub operations: Option<Vec<Operation>>,
    /// The statuses to list.
    pub operation_statuses: Option<Vec<OperationStatus>>,
}

/// Input of `DescribeType`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DescribeType {
    /// The kind of extension; only `RESOURCE` is simulated.
    pub kind: Option<String>,
    /// The name of the type, unless `arn` is given.
    pub type_name: Option<String>,
    /// The ARN of the type, unless `type_name` is given.
    pub arn: Option<String>,
}

/// Input of `ListTypes`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListTypes {
    /// The kind of extension; only `RESOURCE` is simulated.
    pub kind: Option<String>,
    /// `PUBLIC` or `PRIVATE` (the default).
    pub visibility: Option<String>,
    /// `FULLY_MUTABLE`, `IMMUTABLE` or `NON_PROVISIONABLE`.
    pub provisioning_type: Option<String>,
    /// `LIVE` or `DEPRECATED`.
    pub deprecated_status: Option<String>,
    /// `REGISTERED`, `ACTIVATED`, `THIRD_PARTY` or `AWS_TYPES`.
    pub category: Option<String>,
    /// The prefix of the names.
    pub type_name_prefix: Option<String>,
    /// The page size.
    pub max_results: Option<i64>,
    /// The token of the page.
    pub next_token: Option<String>,
}

/// Input of `GetCallerIdentity`, which is only its signature.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GetCallerIdentity {
    /// The id of the access key.
    pub access_key_id: String,
}

/// Input of `AssumeRole`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssumeRole {
    /// The ARN of the role.
    pub role_arn: String,
    /// The name of the session.
    pub role_session_name: String,
    /// The external id, which the trust policy of the role may require.
    pub external_id: Option<String>,
    /// The duration of the session, in seconds.
    pub duration_seconds: Option<i64>,
}

/// Input of `AssumeRoleWithWebIdentity`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssumeRoleWithWebIdentity {
    /// The ARN of the role.
    pub role_arn: String,
    /// The name of the session.
    pub role_session_name: String,
    /// The token of the identity provider, which is not verified.
    pub web_identity_token: String,
    /// The duration of the session, in seconds.
    pub duration_seconds: Option<i64>,
}

/// The reply to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Reply to the calls about a resource request.
    Progress(ProgressEvent),
    /// Reply to `GetResource`.
    Resource {
        /// The resource type.
        type_name: String,
        /// The resource.
        resource: ResourceDescription,
    },
    /// Reply to `ListResources`.
    Resources {
        /// The resource type.
        type_name: String,
        /// A page of resources.
        resources: Vec<ResourceDescription>,
        /// The token of the next page, if any.
        next_token: Option<String>,
    },
    /// Reply to `ListResourceRequests`.
    Requests {
        /// A page of requests.
        requests: Vec<ProgressEvent>,
        /// The token of the next page, if any.
        next_token: Option<String>,
    },
    /// Reply to `DescribeType`.
    Type {
        /// The type.
        description: TypeDescription,
        /// The schema, as JSON text.
        schema: String,
    },
    /// Reply to `ListTypes`.
    Types {
        /// A page of types.
        types: Vec<TypeDescription>,
        /// The token of the next page, if any.
        next_token: Option<String>,
    },
    /// Reply to `GetCallerIdentity`.
    Identity {
        /// The account of the caller.
        account: String,
        /// The ARN of the caller.
        arn: String,
        /// The unique id of the caller.
        user_id: String,
    },
    /// Reply to `AssumeRole` and `AssumeRoleWithWebIdentity`.
    Session {
        /// The call.
        action: Action,
        /// The session.
        session: Session,
    },
}

/// A session of a role, with its credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The id of the access key.
    pub access_key_id: String,
    /// The account of the role.
    pub account: String,
    /// The ARN of the session: `arn:aws:sts::123456789012:assumed-role/name/session`.
    pub arn: String,
    /// The id of the role and the name of the session.
    pub user_id: String,
    /// When the session expires.
    pub expires_at: Timestamp,
}

/// A resource as returned by Cloud Control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceDescription {
    /// The primary identifier.
    pub identifier: String,
    /// The properties as JSON text, without the write-only ones.
    pub properties: String,
}

/// A type as returned by the registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeDescription {
    /// The name of the type.
    pub type_name: String,
    /// The ARN of the type.
    pub arn: String,
    /// The description from the schema.
    pub description: Option<String>,
    /// `FULLY_MUTABLE`, `IMMUTABLE` or `NON_PROVISIONABLE`.
    pub provisioning_type: &'static str,
    /// The URL of the documentation.
    pub documentation_url: Option<String>,
    /// The URL of the source.
    pub source_url: Option<String>,
    /// When the type last changed; the same constant for all types.
    pub last_updated: Timestamp,
}

impl Request {
    /// Returns the name of the call.
    pub fn action(&self) -> Action {
        match self {
            Self::CreateResource(_) => Action::CreateResource,
            Self::UpdateResource(_) => Action::UpdateResource,
            Self::DeleteResource(_) => Action::DeleteResource,
            Self::GetResource(_) => Action::GetResource,
            Self::ListResources(_) => Action::ListResources,
            Self::GetResourceRequestStatus(_) => Action::GetResourceRequestStatus,
            Self::CancelResourceRequest(_) => Action::CancelResourceRequest,
            Self::ListResourceRequests(_) => Action::ListResourceRequests,
            Self::DescribeType(_) => Action::DescribeType,
            Self::ListTypes(_) => Action::ListTypes,
            Self::GetCallerIdentity(_) => Action::GetCallerIdentity,
            Self::AssumeRole(_) => Action::AssumeRole,
            Self::AssumeRoleWithWebIdentity(_) => Action::AssumeRoleWithWebIdentity,
        }
    }

    /// Returns the resource type of the call.
    pub fn type_name(&self) -> Option<&str> {
        match self {
            Self::CreateResource(input) => Some(&input.type_name),
            Self::UpdateResource(input) => Some(&input.type_name),
            Self::DeleteResource(input) => Some(&input.type_name),
            Self::GetResource(input) => Some(&input.type_name),
            Self::ListResources(input) => Some(&input.type_name),
            Self::DescribeType(input) => input.type_name.as_deref(),
            Self::GetResourceRequestStatus(_)
            | Self::CancelResourceRequest(_)
            | Self::ListResourceRequests(_)
            | Self::ListTypes(_)
            | Self::GetCallerIdentity(_)
            | Self::AssumeRole(_)
            | Self::AssumeRoleWithWebIdentity(_) => None,
        }
    }

    /// Returns the role to assume, or that Cloud Control is asked to use.
    pub fn role_arn(&self) -> Option<&str> {
        match self {
            Self::CreateResource(input) => input.role_arn.as_deref(),
            Self::UpdateResource(input) => input.role_arn.as_deref(),
            Self::DeleteResource(input) => input.role_arn.as_deref(),
            Self::GetResource(input) => input.role_arn.as_deref(),
            Self::ListResources(input) => input.role_arn.as_deref(),
            Self::AssumeRole(input) => Some(&input.role_arn),
            Self::AssumeRoleWithWebIdentity(input) => Some(&input.role_arn),
            _ => None,
        }
    }

    /// Returns the external id.
    pub fn external_id(&self) -> Option<&str> {
        match self {
            Self::AssumeRole(input) => input.external_id.as_deref(),
            _ => None,
        }
    }

    /// Returns the primary identifier in the call.
    pub fn identifier(&self) -> Option<&str> {
        match self {
            Self::UpdateResource(input) => Some(&input.identifier),
            Self::DeleteResource(input) => Some(&input.identifier),
            Self::GetResource(input) => Some(&input.identifier),
            _ => None,
        }
    }

    /// Returns the caller's idempotency key.
    pub fn client_token(&self) -> Option<&str> {
        match self {
            Self::CreateResource(input) => input.client_token.as_deref(),
            Self::UpdateResource(input) => input.client_token.as_deref(),
            Self::DeleteResource(input) => input.client_token.as_deref(),
            _ => None,
        }
    }
}
