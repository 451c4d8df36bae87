//! The calls and their replies, in AWS's terms.

use serde::Deserialize;
use ucp_model::Timestamp;

use crate::progress::{Operation, OperationStatus, ProgressEvent};
use crate::vocabulary::words;

/// Who calls, and where: state is kept per account and region.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Caller {
    /// The twelve digits of the account.
    pub account: String,
    /// The region.
    pub region: String,
}

impl Caller {
    /// The account of everyone who does not name one.
    pub const NO_ACCOUNT: &str = "000000000000";

    /// The caller whom an access key id or an account name stands for: twelve digits are an account, as local AWS
    /// emulators have it, also behind the `AKIA` of a user's access key; anything else is [`Caller::NO_ACCOUNT`].
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

    /// Whether a text is an account: twelve digits.
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
    /// Makes a resource.
    CreateResource(CreateResource),
    /// Changes a resource.
    UpdateResource(UpdateResource),
    /// Removes a resource.
    DeleteResource(DeleteResource),
    /// Reads a resource.
    GetResource(GetResource),
    /// Reads the resources of a type.
    ListResources(ListResources),
    /// Reads how far a resource request is.
    GetResourceRequestStatus(RequestToken),
    /// Stops a resource request.
    CancelResourceRequest(RequestToken),
    /// Reads the resource requests of the last seven days.
    ListResourceRequests(ListResourceRequests),
    /// Reads the schema of a type.
    DescribeType(DescribeType),
    /// Reads which types there are.
    ListTypes(ListTypes),
    /// Reads whose credentials signed it.
    GetCallerIdentity(GetCallerIdentity),
    /// Begins a session of a role.
    AssumeRole(AssumeRole),
    /// Begins a session of a role, without credentials.
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
    /// The role that Cloud Control works as.
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
    /// The role that Cloud Control works as.
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
    /// The role that Cloud Control works as.
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
    /// The role that Cloud Control works as.
    pub role_arn: Option<String>,
}

/// Input of `ListResources`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
pub struct ListResources {
    /// The resource type.
    pub type_name: String,
    /// Properties, as JSON text, that the resources must have.
    pub resource_model: Option<String>,
    /// The size of a page.
    pub max_results: Option<i64>,
    /// Where the page before ended.
    pub next_token: Option<String>,
    /// The role that Cloud Control works as.
    pub role_arn: Option<String>,
}

/// Input of `GetResourceRequestStatus` and of `CancelResourceRequest`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
pub struct RequestToken {
    /// The handle of the request.
    pub request_token: String,
}

/// Input of `ListResourceRequests`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
pub struct ListResourceRequests {
    /// The size of a page.
    pub max_results: Option<i64>,
    /// Where the page before ended.
    pub next_token: Option<String>,
    /// Which requests.
    pub resource_request_status_filter: Option<StatusFilter>,
}

/// Which resource requests to list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
pub struct StatusFilter {
    /// What they do.
    pub operations: Option<Vec<Operation>>,
    /// How far they are.
    pub operation_statuses: Option<Vec<OperationStatus>>,
}

/// Input of `DescribeType`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DescribeType {
    /// The kind of extension; `RESOURCE` is simulated.
    pub kind: Option<String>,
    /// The type by name.
    pub type_name: Option<String>,
    /// The type by ARN.
    pub arn: Option<String>,
}

/// Input of `ListTypes`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListTypes {
    /// The kind of extension; `RESOURCE` is simulated.
    pub kind: Option<String>,
    /// `PUBLIC` or `PRIVATE`, which is the default.
    pub visibility: Option<String>,
    /// `FULLY_MUTABLE`, `IMMUTABLE` or `NON_PROVISIONABLE`.
    pub provisioning_type: Option<String>,
    /// `LIVE` or `DEPRECATED`.
    pub deprecated_status: Option<String>,
    /// `REGISTERED`, `ACTIVATED`, `THIRD_PARTY` or `AWS_TYPES`.
    pub category: Option<String>,
    /// How the names begin.
    pub type_name_prefix: Option<String>,
    /// The size of a page.
    pub max_results: Option<i64>,
    /// Where the page before ended.
    pub next_token: Option<String>,
}

/// Input of `GetCallerIdentity`: nothing but who signed it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GetCallerIdentity {
    /// The id of the access key.
    pub access_key_id: String,
}

/// Input of `AssumeRole`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssumeRole {
    /// The role.
    pub role_arn: String,
    /// What the session is called.
    pub role_session_name: String,
    /// What the role's trust policy may ask for.
    pub external_id: Option<String>,
    /// How long the session lasts.
    pub duration_seconds: Option<i64>,
}

/// Input of `AssumeRoleWithWebIdentity`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssumeRoleWithWebIdentity {
    /// The role.
    pub role_arn: String,
    /// What the session is called.
    pub role_session_name: String,
    /// What the identity provider says of the caller. Any text will do.
    pub web_identity_token: String,
    /// How long the session lasts.
    pub duration_seconds: Option<i64>,
}

/// What a call is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// To the calls about a resource request.
    Progress(ProgressEvent),
    /// To `GetResource`.
    Resource {
        /// The resource type.
        type_name: String,
        /// The resource.
        resource: ResourceDescription,
    },
    /// To `ListResources`.
    Resources {
        /// The resource type.
        type_name: String,
        /// A page of resources.
        resources: Vec<ResourceDescription>,
        /// Where the next page begins.
        next_token: Option<String>,
    },
    /// To `ListResourceRequests`.
    Requests {
        /// A page of requests.
        requests: Vec<ProgressEvent>,
        /// Where the next page begins.
        next_token: Option<String>,
    },
    /// To `DescribeType`: the type and its schema as JSON text.
    Type {
        /// The type.
        description: TypeDescription,
        /// Its schema.
        schema: String,
    },
    /// To `ListTypes`.
    Types {
        /// A page of types.
        types: Vec<TypeDescription>,
        /// Where the next page begins.
        next_token: Option<String>,
    },
    /// To `GetCallerIdentity`.
    Identity {
        /// Whose credentials they are.
        account: String,
        /// Who it is.
        arn: String,
        /// Who it is, in a word.
        user_id: String,
    },
    /// To `AssumeRole` and to `AssumeRoleWithWebIdentity`.
    Session {
        /// Which of the two.
        action: Action,
        /// The session.
        session: Session,
    },
}

/// A session of a role, with its credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The id of its access key.
    pub access_key_id: String,
    /// The account of the role.
    pub account: String,
    /// Who acts in it: `arn:aws:sts::123456789012:assumed-role/name/session`.
    pub arn: String,
    /// The role's id and the session's name.
    pub user_id: String,
    /// When it ends.
    pub expires_at: Timestamp,
}

/// A resource as Cloud Control shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceDescription {
    /// The primary identifier.
    pub identifier: String,
    /// The properties as JSON text, without the write-only ones.
    pub properties: String,
}

/// A type as the registry shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeDescription {
    /// The type's name.
    pub type_name: String,
    /// The type's ARN.
    pub arn: String,
    /// What its schema says it is for.
    pub description: Option<String>,
    /// `FULLY_MUTABLE`, `IMMUTABLE` or `NON_PROVISIONABLE`.
    pub provisioning_type: &'static str,
    /// Where its documentation is.
    pub documentation_url: Option<String>,
    /// Where its source is.
    pub source_url: Option<String>,
    /// When it last changed: the beginning of the simulated time.
    pub last_updated: Timestamp,
}

impl Request {
    /// The name of the call.
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

    /// The resource type it is about.
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

    /// The role that it is about, or that Cloud Control is to work as.
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

    /// The external id that it names.
    pub fn external_id(&self) -> Option<&str> {
        match self {
            Self::AssumeRole(input) => input.external_id.as_deref(),
            _ => None,
        }
    }

    /// The primary identifier of the resource it is about.
    pub fn identifier(&self) -> Option<&str> {
        match self {
            Self::UpdateResource(input) => Some(&input.identifier),
            Self::DeleteResource(input) => Some(&input.identifier),
            Self::GetResource(input) => Some(&input.identifier),
            _ => None,
        }
    }

    /// The caller's idempotency key.
    pub fn client_token(&self) -> Option<&str> {
        match self {
            Self::CreateResource(input) => input.client_token.as_deref(),
            Self::UpdateResource(input) => input.client_token.as_deref(),
            Self::DeleteResource(input) => input.client_token.as_deref(),
            _ => None,
        }
    }
}
