use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ucp_app::{GroupUpdate, GroupView, TagsUpdate};
use ucp_model::operation;
use ucp_model::{
    GroupBody, GroupId, Mark, NewResourceGroup, PlanPolicy, ResourceGroup, TAG_KEY_MAX_CHARS,
    Warning, excerpt,
};
use utoipa::ToSchema;

use super::references::ReferenceBody;
use super::resources::OnShared;
use super::tags::{self, judge_tags, tags};
use super::warning::WarningBody;
use crate::validation::Violations;

/// The body of a PUT of a resource group.
#[derive(Debug, ToSchema)]
pub(crate) struct PutResourceGroupRequest {
    /// `global` by convention.
    #[schema(example = "global", pattern = "^[^\\x00-\\x1F\\x7F-\\x9F]*$")]
    location: String,
    /// Tags of the group itself.
    #[schema(value_type = Option<BTreeMap<String, String>>, example = json!({"team": "net"}))]
    tags: BTreeMap<String, String>,
    /// The settings of the group.
    #[schema(value_type = Option<ResourceGroupProperties>)]
    properties: ResourceGroupProperties,
}

/// How a resource group is deleted.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeleteGroup {
    /// What becomes of resources that references of other groups stand for. Without it, the deletion is refused if there are any.
    #[serde(default, with = "OnShared")]
    #[schema(value_type = Option<OnShared>)]
    on_shared: operation::OnShared,
}

impl DeleteGroup {
    pub(crate) fn on_shared(&self) -> operation::OnShared {
        self.on_shared
    }
}

/// The reply to a POST that has deleted a resource group.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DeletedGroup {
    /// What it has given up to other groups, and who owns that.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<WarningBody>,
}

impl DeletedGroup {
    pub(crate) fn of(given_up: &[Warning]) -> Self {
        Self {
            warnings: WarningBody::all(given_up),
        }
    }
}

/// The settings of a resource group.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResourceGroupProperties {
    /// Default AWS tags of the resources in the group.
    #[schema(value_type = Option<BTreeMap<String, String>>, example = json!({"team": "net"}))]
    default_tags: BTreeMap<String, String>,
    /// Which changes the group takes: all with `optional`, which is the default; those with a plan with `required`; those
    /// whose plan was approved with `approved`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<PlanPolicyBody>)]
    plan_policy: Option<PlanPolicy>,
    /// Whether who has asked for a plan may approve it; `true` by default. With `false` and the `planPolicy` `approved` another caller must
    /// have approved it, and callers without a name are no others.
    #[serde(skip_serializing_if = "Option::is_none")]
    self_approval: Option<bool>,
}

/// Which changes a resource group takes.
#[derive(ToSchema)]
#[schema(as = PlanPolicy, rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is read apart")]
enum PlanPolicyBody {
    /// All.
    Optional,
    /// Those that were planned.
    Required,
    /// Those whose plan was approved.
    Approved,
}

/// The body of a PATCH of a resource group.
#[derive(Debug, ToSchema)]
pub(crate) struct UpdateResourceGroup {
    /// Tags of the group itself to set, or with `null` to remove. `null` instead of the object removes all.
    #[schema(value_type = Option<BTreeMap<String, Option<String>>>, example = json!({"team": "net", "stage": null}))]
    tags: TagsUpdate,
    /// The settings to change.
    #[schema(value_type = Option<UpdateResourceGroupProperties>)]
    properties: UpdateResourceGroupProperties,
}

/// The settings of a resource group to change.
#[derive(Debug, Default, ToSchema)]
#[schema(rename_all = "camelCase")]
struct UpdateResourceGroupProperties {
    /// Default AWS tags of the resources in the group to set, or with `null` to remove.
    #[schema(value_type = Option<BTreeMap<String, Option<String>>>, example = json!({"team": "net"}))]
    default_tags: TagsUpdate,
    /// Which changes the group takes from now on; `null` for all.
    #[schema(value_type = Option<PlanPolicyBody>)]
    plan_policy: Option<PlanPolicy>,
    /// Whether who has asked for a plan may approve it from now on; `null` for `true`.
    self_approval: Option<bool>,
}

const TAGS: &str = "$.tags";
const PROPERTIES: &str = "$.properties";
const DEFAULT_TAGS: &str = "$.properties.defaultTags";
const PLAN_POLICY: &str = "$.properties.planPolicy";
const SELF_APPROVAL: &str = "$.properties.selfApproval";

/// The members of a resource group, including those that only replies have.
const MEMBERS: [&str; 4] = ["tags", "properties", "resources", "resources@nextLink"];

/// Refuses members of a resource group that nobody reads.
fn refuse_unknown(body: &Map<String, Value>, violations: &mut Violations) {
    violations.members(body, &MEMBERS);
    if let Some(Value::Object(properties)) = body.get("properties") {
        let known = [
            "defaultTags",
            "planPolicy",
            "selfApproval",
            "provisioningState",
        ];
        violations.members_of(PROPERTIES, properties, &known);
    }
}

impl UpdateResourceGroup {
    pub(crate) fn read(body: &Map<String, Value>, violations: &mut Violations) -> Option<Self> {
        refuse_unknown(body, violations);
        let (default_tags, plan_policy, self_approval) = match body.get("properties") {
            Some(Value::Null) => (TagsUpdate::Clear, Some(PlanPolicy::default()), Some(true)),
            properties => {
                let properties = violations.object(PROPERTIES, properties);
                let member = |name| properties.and_then(|members| members.get(name));
                let default_tags = member("defaultTags");
                (
                    tags_update(DEFAULT_TAGS, default_tags, TAG_KEY_MAX_CHARS, violations),
                    member("planPolicy").map(|policy| plan_policy(Some(policy), violations)),
                    member("selfApproval").map(|said| self_approval(said, violations)),
                )
            }
        };
        if let TagsUpdate::Merge(tags) = &default_tags {
            refuse_reserved(tags.keys(), violations);
        }
        Some(Self {
            tags: tags_update(TAGS, body.get("tags"), tags::TAG_KEY_MAX_CHARS, violations),
            properties: UpdateResourceGroupProperties {
                default_tags,
                plan_policy,
                self_approval,
            },
        })
    }

    /// Converts the request to the app's type.
    pub(crate) fn update(self) -> GroupUpdate {
        GroupUpdate {
            tags: self.tags,
            default_tags: self.properties.default_tags,
            plan_policy: self.properties.plan_policy,
            self_approval: self.properties.self_approval,
        }
    }
}

/// Reads whether who has asked for a plan may approve it.
fn self_approval(value: &Value, violations: &mut Violations) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(said) => *said,
        _ => {
            violations.property(SELF_APPROVAL, "must be true or false");
            true
        }
    }
}

/// Reads which changes a group takes.
fn plan_policy(value: Option<&Value>, violations: &mut Violations) -> PlanPolicy {
    match value {
        None | Some(Value::Null) => PlanPolicy::default(),
        Some(value) => serde_json::from_value(value.clone()).unwrap_or_else(|_| {
            let message = "must be 'optional', 'required' or 'approved'";
            violations.property(PLAN_POLICY, message);
            PlanPolicy::default()
        }),
    }
}

/// Reads a change of tags: an object of strings and `null`, or `null`.
fn tags_update(
    path: &str,
    value: Option<&Value>,
    key_max: usize,
    violations: &mut Violations,
) -> TagsUpdate {
    let Some(value) = value else {
        return TagsUpdate::default();
    };
    match violations.object(path, Some(value)) {
        Some(members) => {
            let (removed, set): (Map<String, Value>, Map<String, Value>) = members
                .clone()
                .into_iter()
                .partition(|(_, value)| value.is_null());
            let set = violations.texts(path, Some(&Value::Object(set)));
            judge_tags(path, &set, key_max, violations);
            let set = set.into_iter().map(|(key, value)| (key, Some(value)));
            let removed = removed.into_iter().map(|(key, _)| (key, None));
            TagsUpdate::Merge(set.chain(removed).collect())
        }
        None => TagsUpdate::Clear,
    }
}

/// Refuses default tags that AWS would refuse on every resource, and the mark of a reference.
fn refuse_reserved<'a>(keys: impl Iterator<Item = &'a String>, violations: &mut Violations) {
    for key in keys {
        let reserved = key.get(..4);
        if reserved.is_some_and(|prefix| prefix.eq_ignore_ascii_case("aws:")) {
            let path = format!("{DEFAULT_TAGS}['{}']", excerpt(key));
            violations.property(&path, "must not begin with 'aws:', which AWS reserves");
        }
        if Mark::is_key(key) {
            let path = format!("{DEFAULT_TAGS}['{key}']");
            violations.property(
                &path,
                "is the tag with which ucp marks what it creates; leave it out",
            );
        }
    }
}

impl PutResourceGroupRequest {
    pub(crate) fn read(body: &Map<String, Value>, violations: &mut Violations) -> Option<Self> {
        refuse_unknown(body, violations);
        let properties = violations.object(PROPERTIES, body.get("properties"));
        let default_tags = properties.and_then(|properties| properties.get("defaultTags"));
        let default_tags = violations.texts(DEFAULT_TAGS, default_tags);
        refuse_reserved(default_tags.keys(), violations);
        judge_tags(DEFAULT_TAGS, &default_tags, TAG_KEY_MAX_CHARS, violations);
        let policy = properties.and_then(|properties| properties.get("planPolicy"));
        let plan_policy = policy.map(|policy| plan_policy(Some(policy), violations));
        let said = properties.and_then(|properties| properties.get("selfApproval"));
        let self_approval = said.map(|said| self_approval(said, violations));
        let location = violations.location(body);
        let tags = tags(TAGS, body.get("tags"), violations);
        Some(Self {
            location,
            tags,
            properties: ResourceGroupProperties {
                default_tags,
                plan_policy,
                self_approval,
            },
        })
    }

    /// Converts the request to the app's type.
    pub(crate) fn put(self, id: GroupId) -> NewResourceGroup {
        NewResourceGroup {
            id,
            location: self.location,
            tags: self.tags,
            body: GroupBody {
                default_tags: self.properties.default_tags,
                plan_policy: self.properties.plan_policy,
                self_approval: self.properties.self_approval,
                deletion: None,
            },
        }
    }
}

/// A resource group.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ResourceGroupBody {
    /// The id.
    #[schema(example = "/planes/radius/local/resourcegroups/demo")]
    id: String,
    /// The name, in the letter case of the last PUT.
    #[schema(example = "demo")]
    name: String,
    /// The type of all resource groups.
    #[schema(example = "System.Resources/resourceGroups")]
    r#type: &'static str,
    /// `global` by convention.
    #[schema(example = "global")]
    location: String,
    /// Tags of the group itself.
    tags: BTreeMap<String, String>,
    /// The settings; absent when the group has no default tags and takes all changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<ResourceGroupProperties>,
    /// The references of the group; only in the reply to a GET of a single group, and absent when there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    resources: Vec<ReferenceBody>,
    /// The URL of the next page of the references; absent when `resources` has all.
    #[serde(rename = "resources@nextLink", skip_serializing_if = "Option::is_none")]
    #[schema(format = "uri")]
    resources_next_link: Option<String>,
}

impl From<ResourceGroup> for ResourceGroupBody {
    fn from(group: ResourceGroup) -> Self {
        let GroupBody {
            default_tags,
            plan_policy,
            self_approval,
            deletion: _,
        } = group.body;
        let plan_policy = plan_policy.filter(|policy| !policy.is_optional());
        let self_approval = self_approval.filter(|said| !said);
        let has_settings =
            !default_tags.is_empty() || plan_policy.is_some() || self_approval.is_some();
        let properties = ResourceGroupProperties {
            default_tags,
            plan_policy,
            self_approval,
        };
        Self {
            properties: has_settings.then_some(properties),
            id: group.id.to_string(),
            name: group.id.name,
            r#type: "System.Resources/resourceGroups",
            location: group.location,
            tags: group.tags,
            resources: Vec::new(),
            resources_next_link: None,
        }
    }
}

impl ResourceGroupBody {
    /// A group with a page of its references, and the URL of the next one.
    pub(crate) fn with_resources(view: GroupView, next_link: Option<String>) -> Self {
        let resources = view.references.items.into_iter().map(ReferenceBody::from);
        Self {
            resources: resources.collect(),
            resources_next_link: next_link,
            ..view.group.into()
        }
    }
}
