use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ucp_app::ReferenceUpdate;
use ucp_model::{ProvisioningState, Reference};
use utoipa::ToSchema;
use utoipa::openapi::{ObjectBuilder, Type};

use crate::problem::Problem;

/// A reference: an alias and what it stands for.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReferenceBody {
    /// The alias.
    #[schema(example = "my-vpc")]
    name: String,
    /// The reference id: what requests call `trackedBy`.
    #[schema(
        example = "/planes/radius/local/resourcegroups/demo/providers/AWS.EC2/VPC:reference/my-vpc"
    )]
    id: String,
    /// The resource's type, and `:reference`.
    #[schema(example = "AWS.EC2/VPC:reference")]
    r#type: String,
    /// What the alias stands for.
    maps_to: MapsTo,
    /// Whether deleting the reference deletes the AWS resource.
    owned_resource: bool,
    /// Tags of the reference itself.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    tags: BTreeMap<String, String>,
    #[schema(schema_with = provisioning_states)]
    provisioning_state: &'static str,
    /// The live properties as last observed.
    properties: Map<String, Value>,
    /// When they were observed.
    #[serde(skip_serializing_if = "Option::is_none")]
    observed_at: Option<String>,
}

fn provisioning_states() -> ObjectBuilder {
    use ProvisioningState::{Canceled, Deleting, Failed, Provisioning, Succeeded};
    let states = [Provisioning, Deleting, Succeeded, Failed, Canceled];
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some("How the last change ended, or that one is under way."))
        .enum_values(Some(states.map(ProvisioningState::as_str)))
}

/// The AWS resource behind a reference.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MapsTo {
    /// The collection of the resource's type in its account and region.
    #[schema(
        example = "/planes/aws/aws/accounts/123456789012/regions/us-west-2/providers/AWS.EC2/VPC"
    )]
    scope: String,
    /// AWS's name of the resource; absent while it is being created.
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
            r#type: reference.id.arm_type(),
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

/// What to change about a reference; what is left out stays.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UpdateReference {
    /// Whether deleting the reference deletes the AWS resource.
    owned_resource: Option<bool>,
    /// All its tags.
    tags: Option<BTreeMap<String, String>>,
}

impl UpdateReference {
    /// What is to change, unless it is nothing.
    pub(crate) fn update(self) -> Result<ReferenceUpdate, Problem> {
        if self.owned_resource.is_none() && self.tags.is_none() {
            return Err(Problem::bad_request(
                "The body changes nothing. Send {\"ownedResource\":…} or {\"tags\":{…}}.",
            ));
        }
        Ok(ReferenceUpdate {
            owned: self.owned_resource,
            tags: self.tags,
        })
    }
}
