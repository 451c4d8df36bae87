use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use ucp_app::{LiveResource, PlannedPut, PutResource, Selector, TrackedBy};
use ucp_model::operation::{self, Options};
use ucp_model::{MAX_TAGS, PlanId, Scope, Target, TypeName, Warning, valid_tag};
use utoipa::ToSchema;

use super::warning::WarningBody;
use crate::problem::Problem;

/// The body of a PUT by name, and of the actions `:put`, `:get` and `:delete`.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ActionRequest {
    /// The user's own name for the resource. Without `trackedBy` it is only a label, and refused if AWS would assign the
    /// identifier.
    #[schema(example = "my-vpc")]
    alias: Option<String>,
    /// The reference id, or the id of the resource group if `alias` is given. Without it the request is not tracked.
    #[schema(
        example = "/planes/radius/local/resourceGroups/demo/providers/AWS.EC2/VPC:reference/my-vpc"
    )]
    pub(crate) tracked_by: Option<String>,
    /// The declared properties; for `:get` and `:delete` without `trackedBy`, the parts of the identifier.
    #[serde(default)]
    #[schema(value_type = Option<Object>, example = json!({"CidrBlock": "10.0.0.0/16"}))]
    properties: Option<Map<String, Value>>,
    /// For `:put`, `:delete` and a PUT by name: the plan to carry out. What was planned is done, once, or nothing. The
    /// declaration may be left out; what is declared must be what was planned.
    #[schema(value_type = Option<String>, format = "uuid")]
    pub(crate) plan_id: Option<PlanId>,
    /// What to do when a new alias names a resource that already exists in AWS; `adopt` by default.
    #[serde(default, with = "AdoptionPolicy")]
    #[schema(value_type = Option<AdoptionPolicy>)]
    adoption_policy: operation::AdoptionPolicy,
    /// Whether undeclared properties are kept; `merge` by default.
    #[serde(default, with = "UpdateMode")]
    #[schema(value_type = Option<UpdateMode>)]
    update_mode: operation::UpdateMode,
    /// Own the resource even if it was adopted, or, with `false`, do not own it although it is created. Deleting the reference, or
    /// its group, deletes an owned resource. By default, what is created is owned.
    owned_resource: Option<bool>,
    /// How to replace the resource when a change requires it. Without it, such a change is refused.
    #[serde(default, with = "ReplacementPolicy")]
    #[schema(value_type = Option<ReplacementPolicy>)]
    replacement_policy: operation::ReplacementPolicy,
    /// What becomes of a resource that is replaced, or that a set deletes, if other references stand for it. Without it, that is
    /// refused.
    #[serde(default, with = "OnShared")]
    #[schema(value_type = Option<OnShared>)]
    on_shared: operation::OnShared,
    /// Send the whole declaration of a type that AWS cannot read, although it was put so last: somebody may have changed or deleted
    /// it in AWS.
    #[serde(default)]
    #[schema(value_type = Option<bool>)]
    resend: bool,
    /// Fail with `PartiallyApplied` if AWS reports success, but still shows a part of what was changed as it was before.
    #[serde(default)]
    #[schema(value_type = Option<bool>)]
    require_proof: bool,
    /// What to do if the outcome of the create before is unknown. Without it, the put is refused.
    #[serde(default, with = "Resolve")]
    #[schema(value_type = Option<Resolve>)]
    resolve: operation::Resolve,
    /// Default tags, applied if the resource type supports tags. They override the default tags of server, account and
    /// group, and are overridden by declared tags.
    #[serde(default, deserialize_with = "tags")]
    #[schema(value_type = Option<BTreeMap<String, String>>, example = json!({"team": "net"}))]
    default_tags: BTreeMap<String, String>,
    /// ARM's tags: default tags that override `defaultTags`. Refused if the resource type has no tags to change.
    #[serde(default, deserialize_with = "tags")]
    #[schema(value_type = Option<BTreeMap<String, String>>, example = json!({"team": "net"}))]
    tags: BTreeMap<String, String>,
}

/// What to do when a new alias names a resource that already exists in AWS.
#[derive(Deserialize, ToSchema)]
#[serde(remote = "operation::AdoptionPolicy", rename_all = "camelCase")]
enum AdoptionPolicy {
    /// Adopt it: the alias stands for it from now on.
    Adopt,
    /// Refuse the put and leave the resource unchanged.
    Fail,
}

/// What to do with properties that are not declared.
#[derive(Deserialize, ToSchema)]
#[serde(remote = "operation::UpdateMode", rename_all = "camelCase")]
enum UpdateMode {
    /// Keep them.
    Merge,
    /// Remove them.
    Replace,
}

/// What to do if the outcome of the create before is unknown.
#[derive(Deserialize, ToSchema)]
#[serde(remote = "operation::Resolve", rename_all = "camelCase")]
enum Resolve {
    /// Refuse the put, and say how to decide.
    Refuse,
    /// Leave what that create may have made, and go on as under a new alias.
    Abandon,
}

/// What becomes of a resource that would be deleted or replaced, if other references stand for it.
#[derive(Clone, Copy, Deserialize, ToSchema)]
#[serde(remote = "operation::OnShared", rename_all = "camelCase")]
pub(super) enum OnShared {
    /// Nothing: the change is refused.
    Refuse,
    /// It is left alone, and the reference gives it up. Another one that was put, in a group that the caller may change, owns it then,
    /// or nobody.
    Release,
}

/// How to replace a resource.
#[derive(Deserialize, ToSchema)]
#[serde(remote = "operation::ReplacementPolicy", rename_all = "camelCase")]
enum ReplacementPolicy {
    /// Create the new resource first.
    CreateBeforeDelete,
    /// Delete the old resource first.
    DeleteBeforeCreate,
}

fn tags<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, String>, D::Error> {
    let tags = BTreeMap::<String, String>::deserialize(deserializer)?;
    if tags.len() > MAX_TAGS {
        let given = tags.len();
        let message =
            format!("{given} tags are given, and AWS accepts at most {MAX_TAGS} on a resource.");
        return Err(D::Error::custom(message));
    }
    for (key, value) in &tags {
        valid_tag(key, value).map_err(|error| D::Error::custom(format!("{error}.")))?;
    }
    Ok(tags)
}

impl ActionRequest {
    /// Converts the request to a put; `name` is the name in the URL, if any.
    pub(crate) fn put(
        self,
        scope: Scope,
        type_name: TypeName,
        name: Option<String>,
    ) -> PutResource {
        let (tracked_by, label) = match self.tracked_by {
            Some(id) => {
                let alias = self.alias;
                (Some(TrackedBy { id, alias }), None)
            }
            None => (None, self.alias),
        };
        PutResource {
            scope,
            type_name,
            name,
            tracked_by,
            label,
            plan: self.plan_id.map(|id| PlannedPut {
                id,
                is_declared: self.properties.is_some(),
            }),
            properties: self.properties.unwrap_or_default(),
            default_tags: self.default_tags,
            tags: self.tags,
            options: Options {
                adoption_policy: self.adoption_policy,
                creation_policy: operation::CreationPolicy::Create,
                update_mode: self.update_mode,
                take_ownership: self.owned_resource == Some(true),
                declines_ownership: self.owned_resource == Some(false),
                replacement_policy: self.replacement_policy,
                resolve: self.resolve,
                on_shared: self.on_shared,
                resend: self.resend,
                parent_retries: false,
                require_proof: self.require_proof,
            },
        }
    }

    /// Converts the request to a PATCH of the resource `name`, which must exist.
    pub(crate) fn patch(
        self,
        scope: Scope,
        type_name: TypeName,
        name: String,
    ) -> Result<PutResource, Problem> {
        if self.update_mode == operation::UpdateMode::Replace {
            return Err(Problem::bad_request(
                "/updateMode: a PATCH merges. Use PUT to replace, or omit it.",
            ));
        }
        let put = self.put(scope, type_name, Some(name));
        let options = Options {
            creation_policy: operation::CreationPolicy::Fail,
            ..put.options
        };
        Ok(PutResource { options, ..put })
    }

    /// The resource that a `:get` or `:delete` selects.
    pub(crate) fn selector(self) -> Selector {
        match self.tracked_by {
            Some(id) => Selector::Reference(TrackedBy {
                id,
                alias: self.alias,
            }),
            None => Selector::Parts(self.properties.unwrap_or_default()),
        }
    }
}

/// An AWS resource. While it is being created, members may be missing.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AwsResource {
    /// The id; absent until AWS has assigned the identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(
        example = "/planes/aws/aws/accounts/123456789012/regions/us-west-2/providers/AWS.EC2/VPC/vpc-0a1b2c3d4e5f60718"
    )]
    id: Option<String>,
    /// The primary identifier; absent until AWS has assigned it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "vpc-0a1b2c3d4e5f60718")]
    name: Option<String>,
    /// The resource type.
    #[schema(example = "AWS.EC2/VPC")]
    r#type: String,
    /// The known properties. The reply to a put adds `provisioningState`.
    properties: Map<String, Value>,
    /// What the caller of a put should know about its declaration.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<WarningBody>,
}

impl AwsResource {
    /// A resource of a type with `properties`; `target` names it, if it is known.
    pub(crate) fn of(
        type_name: &TypeName,
        target: Option<Target<'_>>,
        properties: Map<String, Value>,
    ) -> Self {
        Self {
            id: target
                .as_ref()
                .map(|target| target.scope.resource(target.type_name, target.identifier)),
            name: target.as_ref().map(|target| target.identifier.to_string()),
            r#type: type_name.arm(),
            properties,
            warnings: Vec::new(),
        }
    }

    /// Adds warnings.
    pub(crate) fn with_warnings(mut self, warnings: Vec<Warning>) -> Self {
        self.warnings = warnings.into_iter().map(WarningBody::from).collect();
        self
    }

    /// Adds `provisioningState` to the properties.
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
            r#type: live.type_name.arm(),
            properties: live.properties,
            warnings: Vec::new(),
        }
    }
}
