//! What goes over the wire: the bodies of requests and replies, as the OpenAPI document describes them.

mod credentials;
mod import;
mod members;
mod planes;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value, json};
use ucp_app::{AnyOperation, LiveResource, Selector};
use ucp_model::operation::{AdoptionPolicy, Kind, Options, ReplacementPolicy, UpdateMode};
use ucp_model::{
    AdditionalInfo, Detail, Failure, GroupOperation, Operation, Reference, ResourceGroup, valid_tag,
};
use utoipa::ToSchema;

pub(crate) use self::import::{
    ImportGroupRequest, ImportRequest, ImportResult, ImportedReference, read_items,
};
use self::members::Members;
use crate::context::{group_status_path, status_path};
use crate::error_code::ErrorCode;
use crate::origin::BaseUrl;
use crate::problem::Problem;
use crate::validation::Violations;

pub(crate) use self::credentials::{CredentialBody, PutCredentialRequest};
pub(crate) use self::planes::{PlaneBody, PlaneSummary, PutPlaneRequest, ResourceProviderSummary};

/// ARM's error envelope.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ErrorResponse {
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
    code: String,
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
    /// The same with a link to the page about its code.
    pub(crate) fn explained(self, base_url: &BaseUrl) -> Self {
        Self {
            error: self.error.explained(base_url),
        }
    }
}

/// Facts about an error.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ErrorAdditionalInfo {
    /// `CloudControlRequest` or `CloudFormationHook`.
    #[serde(rename = "type")]
    #[schema(example = "CloudControlRequest")]
    type_: &'static str,
    #[schema(value_type = Object)]
    info: Value,
}

impl From<AdditionalInfo> for ErrorAdditionalInfo {
    fn from(info: AdditionalInfo) -> Self {
        match info {
            AdditionalInfo::CloudControlRequest(request) => Self {
                type_: "CloudControlRequest",
                info: json!(request),
            },
            AdditionalInfo::CloudFormationHook(hook) => Self {
                type_: "CloudFormationHook",
                info: json!(hook),
            },
        }
    }
}

impl From<Failure> for ErrorResponse {
    fn from(failure: Failure) -> Self {
        Self {
            error: failure.into(),
        }
    }
}

/// A list, or a page of one.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct List<T> {
    pub(crate) value: Vec<T>,
    /// Where the next page is; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_link: Option<String>,
}

impl<T> FromIterator<T> for List<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self {
            value: items.into_iter().collect(),
            next_link: None,
        }
    }
}

/// What a PUT of a resource group says.
#[derive(Debug, ToSchema)]
pub(crate) struct PutResourceGroupRequest {
    /// `global` by convention.
    #[schema(example = "global", pattern = "^[^\\x00-\\x1F\\x7F-\\x9F]*$")]
    pub(crate) location: String,
    /// Tags of the group itself.
    #[schema(value_type = Option<BTreeMap<String, String>>, example = json!({"team": "net"}))]
    pub(crate) tags: BTreeMap<String, String>,
    #[schema(value_type = Option<ResourceGroupProperties>)]
    pub(crate) properties: ResourceGroupProperties,
}

/// The settings of a resource group; others are ignored.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResourceGroupProperties {
    /// AWS tags that the resources put into the group get by default.
    #[schema(value_type = Option<BTreeMap<String, String>>, example = json!({"team": "net"}))]
    pub(crate) default_tags: BTreeMap<String, String>,
}

impl PutResourceGroupRequest {
    pub(crate) fn read(body: &Map<String, Value>, violations: &mut Violations) -> Self {
        const DEFAULT_TAGS: &str = "$.properties.defaultTags";
        let properties = violations.object("$.properties", body.get("properties"));
        let default_tags = properties.and_then(|properties| properties.get("defaultTags"));
        let default_tags = violations.texts(DEFAULT_TAGS, default_tags);
        for key in default_tags.keys() {
            let reserved = key.get(..4);
            if reserved.is_some_and(|prefix| prefix.eq_ignore_ascii_case("aws:")) {
                let path = format!("{DEFAULT_TAGS}['{}']", key.escape_debug());
                violations.property(&path, "must not begin with 'aws:', which AWS reserves");
            }
        }
        Self {
            location: violations.location(body),
            tags: violations.texts("$.tags", body.get("tags")),
            properties: ResourceGroupProperties { default_tags },
        }
    }
}

/// A resource group.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ResourceGroupBody {
    #[schema(example = "/planes/radius/local/resourcegroups/demo")]
    id: String,
    name: String,
    #[serde(rename = "type")]
    type_: &'static str,
    location: String,
    tags: BTreeMap<String, String>,
    /// Only of a group that has default tags.
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<ResourceGroupProperties>,
    /// What the group tracks; only in the reply to a GET of one group that tracks something.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    resources: Vec<ReferenceBody>,
}

impl ResourceGroupBody {
    pub(crate) fn new(group: ResourceGroup, references: Vec<Reference>) -> Self {
        let default_tags = Some(group.body.default_tags).filter(|tags| !tags.is_empty());
        Self {
            properties: default_tags.map(|default_tags| ResourceGroupProperties { default_tags }),
            id: group.id.to_string(),
            name: group.id.name,
            type_: "System.Resources/resourceGroups",
            location: group.location,
            tags: group.tags,
            resources: references.into_iter().map(ReferenceBody::from).collect(),
        }
    }
}

/// A tracked reference: an alias and what it stands for.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReferenceBody {
    #[schema(example = "my-vpc")]
    name: String,
    #[schema(
        example = "/planes/radius/local/resourcegroups/demo/providers/AWS.EC2/VPC:reference/my-vpc"
    )]
    id: String,
    #[serde(rename = "type")]
    #[schema(example = "AWS.EC2/VPC:reference")]
    type_: String,
    maps_to: MapsTo,
    /// Whether deleting the reference deletes the AWS resource.
    owned_resource: bool,
    /// Tags of the reference itself.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    tags: BTreeMap<String, String>,
    provisioning_state: &'static str,
    /// The live properties as last observed.
    properties: Map<String, Value>,
    /// When they were observed.
    #[serde(skip_serializing_if = "Option::is_none")]
    observed_at: Option<String>,
}

/// The AWS resource behind a reference.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MapsTo {
    #[schema(
        example = "/planes/aws/aws/accounts/123456789012/regions/us-west-2/providers/AWS.EC2/VPC"
    )]
    scope: String,
    /// Absent while the resource is being created.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "vpc-0a1b2c3d4e5f60718")]
    primary_identifier: Option<String>,
}

impl From<Reference> for ReferenceBody {
    fn from(reference: Reference) -> Self {
        let properties = match reference.observed {
            Some(Value::Object(members)) => members,
            _ => Map::new(),
        };
        Self {
            id: reference.id.to_string(),
            type_: reference.id.arm_type(),
            maps_to: MapsTo {
                scope: reference.scope.collection(&reference.id.type_name),
                primary_identifier: reference
                    .identifier
                    .map(|identifier| identifier.to_string()),
            },
            name: reference.id.alias,
            owned_resource: reference.owned,
            tags: reference.tags,
            provisioning_state: reference.provisioning_state.as_str(),
            properties,
            observed_at: reference.observed_at.map(|moment| moment.to_string()),
        }
    }
}

/// What a put by name, a `:put`, a `:get` or a `:delete` says.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct ActionRequest {
    /// The user's own name for the resource; a label, the key is `trackedBy`.
    #[expect(
        dead_code,
        reason = "part of the contract, and read by nobody: trackedBy is the key"
    )]
    #[schema(example = "my-vpc")]
    pub(crate) alias: Option<String>,
    /// The tracking id. Without it the request is not tracked.
    #[schema(
        example = "/planes/radius/local/resourceGroups/demo/providers/AWS.EC2/VPC:reference/my-vpc"
    )]
    pub(crate) tracked_by: Option<String>,
    /// What is declared; for `:get` and `:delete` without `trackedBy` the parts of the identifier.
    #[schema(value_type = Option<Object>, example = json!({"CidrBlock": "10.0.0.0/16"}))]
    pub(crate) properties: Map<String, Value>,
    /// `adopt` (the default) or `fail`: what to do when a new alias names a resource that AWS already has.
    #[schema(value_type = Option<String>, pattern = "^(adopt|fail)$")]
    pub(crate) adoption_policy: AdoptionPolicy,
    /// `merge` (the default) or `replace`: whether undeclared properties stay.
    #[schema(value_type = Option<String>, pattern = "^(merge|replace)$")]
    pub(crate) update_mode: UpdateMode,
    /// Own the resource even when it was adopted.
    #[schema(value_type = Option<bool>)]
    pub(crate) owned_resource: bool,
    /// `createBeforeDelete` or `deleteBeforeCreate`: replace the resource when a change asks for it. Without it such a
    /// change is refused.
    #[schema(value_type = Option<String>, pattern = "^(createBeforeDelete|deleteBeforeCreate)$")]
    pub(crate) replacement_policy: ReplacementPolicy,
    /// Tags for resources whose type takes some; they win over the defaults of server, account and group, and a declared
    /// tag wins over them.
    #[schema(value_type = Option<BTreeMap<String, String>>, example = json!({"team": "net"}))]
    pub(crate) default_tags: BTreeMap<String, String>,
}

impl ActionRequest {
    /// Reads a body; members that are not of the contract are ignored, as templates carry all kinds of them.
    pub(crate) fn read(body: Map<String, Value>) -> Result<Self, Problem> {
        Self::of(Members(body)).map_err(Problem::bad_request)
    }

    fn of(mut members: Members) -> Result<Self, String> {
        const KNOWN: [&str; 8] = [
            "alias",
            "trackedBy",
            "properties",
            "adoptionPolicy",
            "updateMode",
            "ownedResource",
            "replacementPolicy",
            "defaultTags",
        ];
        const ADOPTION: [(&str, AdoptionPolicy); 2] = [
            ("adopt", AdoptionPolicy::Adopt),
            ("fail", AdoptionPolicy::Fail),
        ];
        const UPDATE: [(&str, UpdateMode); 2] = [
            ("merge", UpdateMode::Merge),
            ("replace", UpdateMode::Replace),
        ];
        const REPLACEMENT: [(&str, ReplacementPolicy); 2] = [
            ("createBeforeDelete", ReplacementPolicy::CreateBeforeDelete),
            ("deleteBeforeCreate", ReplacementPolicy::DeleteBeforeCreate),
        ];
        members.spelled_as(&KNOWN)?;
        let default_tags = members.texts("defaultTags")?.unwrap_or_default();
        for (key, value) in &default_tags {
            valid_tag(key, value).map_err(|error| format!("/defaultTags: {error}."))?;
        }
        Ok(Self {
            alias: members.text("alias")?,
            tracked_by: members.text("trackedBy")?,
            adoption_policy: members
                .choice("adoptionPolicy", &ADOPTION)?
                .unwrap_or_default(),
            update_mode: members.choice("updateMode", &UPDATE)?.unwrap_or_default(),
            replacement_policy: members
                .choice("replacementPolicy", &REPLACEMENT)?
                .unwrap_or_default(),
            owned_resource: members.flag("ownedResource")?.unwrap_or_default(),
            default_tags,
            properties: members.object("properties")?.unwrap_or_default(),
        })
    }

    /// Which resource a `:get` or `:delete` means.
    pub(crate) fn selector(self) -> Selector {
        match self.tracked_by {
            Some(tracked_by) => Selector::TrackedBy(tracked_by),
            None => Selector::Parts(self.properties),
        }
    }

    /// What the caller chose.
    pub(crate) fn options(&self) -> Options {
        Options {
            adoption_policy: self.adoption_policy,
            update_mode: self.update_mode,
            take_ownership: self.owned_resource,
            replacement_policy: self.replacement_policy,
        }
    }
}

/// An AWS resource, or what is known of one that is being created.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AwsResource {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// The primary identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "vpc-0a1b2c3d4e5f60718")]
    name: Option<String>,
    #[serde(rename = "type")]
    #[schema(example = "AWS.EC2/VPC")]
    type_: String,
    properties: Map<String, Value>,
}

impl AwsResource {
    /// The resource that `operation` works on, with `properties`.
    pub(crate) fn of(operation: &Operation, properties: Map<String, Value>) -> Self {
        let target = operation.target();
        Self {
            id: target
                .as_ref()
                .map(|target| target.scope.resource(target.type_name, target.identifier)),
            name: target.as_ref().map(|target| target.identifier.to_string()),
            type_: operation.type_name.arm(),
            properties,
        }
    }

    /// The same with a `provisioningState` among its properties.
    pub(crate) fn in_state(mut self, state: &str) -> Self {
        self.properties
            .insert("provisioningState".to_owned(), Value::from(state));
        self
    }
}

impl From<LiveResource> for AwsResource {
    fn from(live: LiveResource) -> Self {
        Self {
            id: Some(live.scope.resource(&live.type_name, &live.identifier)),
            name: Some(live.identifier.to_string()),
            type_: live.type_name.arm(),
            properties: live.properties,
        }
    }
}

/// The status of an operation.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OperationStatus {
    id: String,
    name: String,
    /// Terminal are `Succeeded`, `Failed` and `Canceled`.
    #[schema(example = "Provisioning")]
    status: &'static str,
    #[schema(example = "2026-01-02T03:04:05Z")]
    start_time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_time: Option<String>,
    /// The AWS resource's id, once known.
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_id: Option<String>,
    /// The live properties, when a put succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    properties: Option<Value>,
    /// How much of an operation on a group is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    percent_complete: Option<u32>,
    /// Why it did not succeed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorBody>,
}

impl OperationStatus {
    /// The same with a link to the page about the code of its error.
    pub(crate) fn explained(mut self, base_url: &BaseUrl) -> Self {
        self.error = self.error.map(|error| error.explained(base_url));
        self
    }
}

impl From<Operation> for OperationStatus {
    fn from(operation: Operation) -> Self {
        let target = match operation.kind {
            Kind::Put | Kind::Import => operation.target(),
            Kind::Delete => None,
        };
        let succeeded = operation.failure().is_none() && operation.state.is_terminal();
        Self {
            id: status_path(&operation),
            name: operation.id.to_string(),
            status: operation.status(),
            start_time: operation.accepted_at.to_string(),
            end_time: operation.ended_at.map(|moment| moment.to_string()),
            resource_id: target
                .map(|target| target.scope.resource(target.type_name, target.identifier)),
            percent_complete: None,
            error: operation.failure().cloned().map(ErrorBody::from),
            properties: operation.result.filter(|_| succeeded),
        }
    }
}

impl From<GroupOperation> for OperationStatus {
    fn from(operation: GroupOperation) -> Self {
        let result = ImportResult::of(&operation).filter(|_| operation.is_terminal());
        Self {
            id: group_status_path(&operation),
            name: operation.id.to_string(),
            status: operation.status(),
            start_time: operation.accepted_at.to_string(),
            end_time: operation.ended_at.map(|moment| moment.to_string()),
            resource_id: Some(operation.group.to_string()),
            percent_complete: Some(operation.percent_complete()),
            error: operation.failure().cloned().map(ErrorBody::from),
            properties: result.and_then(|result| serde_json::to_value(result).ok()),
        }
    }
}

impl From<AnyOperation> for OperationStatus {
    fn from(operation: AnyOperation) -> Self {
        match operation {
            AnyOperation::Resource(operation) => (*operation).into(),
            AnyOperation::Group(operation) => (*operation).into(),
        }
    }
}

/// A page of a list.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OperationPage {
    pub(crate) value: Vec<OperationStatus>,
    /// Where the next page is; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_link: Option<String>,
}

/// What to change about a reference; what is left out stays.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct UpdateReference {
    /// Whether deleting the reference deletes the AWS resource.
    pub(crate) owned_resource: Option<bool>,
    /// All its tags.
    pub(crate) tags: Option<BTreeMap<String, String>>,
}

impl UpdateReference {
    /// Reads a body; what else a GET answered may be sent back, and is ignored.
    pub(crate) fn read(body: Map<String, Value>) -> Result<Self, Problem> {
        let mut members = Members(body);
        let owned_resource = members
            .flag("ownedResource")
            .map_err(Problem::bad_request)?;
        let tags = members.texts("tags").map_err(Problem::bad_request)?;
        if owned_resource.is_none() && tags.is_none() {
            return Err(Problem::bad_request(
                "The body changes nothing. Send {\"ownedResource\":…} or {\"tags\":{…}}.",
            ));
        }
        Ok(Self {
            owned_resource,
            tags,
        })
    }
}
