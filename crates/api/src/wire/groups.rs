use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};
use ucp_app::GroupView;
use ucp_model::{GroupBody, GroupId, NewResourceGroup, ResourceGroup};
use utoipa::ToSchema;

use super::references::ReferenceBody;
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

/// The settings of a resource group. Unknown settings are ignored.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ResourceGroupProperties {
    /// Default AWS tags of the resources in the group.
    #[schema(value_type = Option<BTreeMap<String, String>>, example = json!({"team": "net"}))]
    default_tags: BTreeMap<String, String>,
}

impl PutResourceGroupRequest {
    pub(crate) fn read(body: &Map<String, Value>, violations: &mut Violations) -> Option<Self> {
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
        Some(Self {
            location: violations.location(body),
            tags: violations.texts("$.tags", body.get("tags")),
            properties: ResourceGroupProperties { default_tags },
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
    /// The settings; absent when the group has no default tags.
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<ResourceGroupProperties>,
    /// The references of the group; only in the reply to a GET of a single group, and absent when there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    resources: Vec<ReferenceBody>,
}

impl From<ResourceGroup> for ResourceGroupBody {
    fn from(group: ResourceGroup) -> Self {
        let default_tags = Some(group.body.default_tags).filter(|tags| !tags.is_empty());
        Self {
            properties: default_tags.map(|default_tags| ResourceGroupProperties { default_tags }),
            id: group.id.to_string(),
            name: group.id.name,
            r#type: "System.Resources/resourceGroups",
            location: group.location,
            tags: group.tags,
            resources: Vec::new(),
        }
    }
}

impl From<GroupView> for ResourceGroupBody {
    fn from(view: GroupView) -> Self {
        let resources = view.references.into_iter().map(ReferenceBody::from);
        Self {
            resources: resources.collect(),
            ..view.group.into()
        }
    }
}
