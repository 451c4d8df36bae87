use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ucp_app::{ReferenceUpdate, Released};
use ucp_model::{ProvisioningState, Reference};
use utoipa::ToSchema;
use utoipa::openapi::{ObjectBuilder, Type};

use crate::problem::Problem;

/// A reference: an alias and the AWS resource it stands for.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReferenceBody {
    /// The alias.
    #[schema(example = "my-vpc")]
    name: String,
    /// The reference id, as used for `trackedBy`.
    #[schema(
        example = "/planes/radius/local/resourcegroups/demo/providers/AWS.EC2/VPC:reference/my-vpc"
    )]
    id: String,
    /// The resource type, followed by `:reference`.
    #[schema(example = "AWS.EC2/VPC:reference")]
    r#type: String,
    /// The AWS resource that the alias stands for.
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
    /// When the properties were observed.
    #[serde(skip_serializing_if = "Option::is_none")]
    observed_at: Option<String>,
}

fn provisioning_states() -> ObjectBuilder {
    use ProvisioningState::{Canceled, Deleting, Failed, Provisioning, Succeeded, Unknown};
    let states = [Provisioning, Deleting, Succeeded, Failed, Canceled, Unknown];
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some(
            "The outcome of the last change, or the change in progress. `Unknown`: the outcome of the create cannot be determined, and a put is refused until it is decided.",
        ))
        .enum_values(Some(states.map(ProvisioningState::as_str)))
}

/// The AWS resource that a reference stands for.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MapsTo {
    /// The path of the resource type in the account and region.
    #[schema(
        example = "/planes/aws/aws/accounts/123456789012/regions/us-west-2/providers/AWS.EC2/VPC"
    )]
    scope: String,
    /// The primary identifier of the resource; absent until AWS has assigned it.
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

/// A reference that was given up.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReleasedBody {
    /// The id of the reference, which there is no more.
    id: String,
    /// The id of its AWS resource, which was left alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_id: Option<String>,
    /// The reference that owns the resource from now on.
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    /// Who owns the resource, in words.
    message: String,
}

impl From<Released> for ReleasedBody {
    fn from(Released { reference, heir }: Released) -> Self {
        let message = match (&heir, reference.owned) {
            (Some(heir), _) => format!("'{}' owns the resource from now on.", heir.alias),
            (None, true) => {
                "Nobody owns the resource from now on. To delete it, name it: DELETE it by its AWS name."
                    .to_owned()
            }
            (None, false) => "The reference did not own the resource.".to_owned(),
        };
        let target = reference.target();
        Self {
            id: reference.id.to_string(),
            resource_id: target.map(|it| it.scope.resource(it.type_name, it.identifier)),
            owner: heir.map(|heir| heir.to_string()),
            message,
        }
    }
}

/// Changes to a reference. Absent members are left unchanged.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UpdateReference {
    /// Whether deleting the reference deletes the AWS resource.
    owned_resource: Option<bool>,
    /// The new tags, which replace all tags of the reference.
    tags: Option<BTreeMap<String, String>>,
}

impl UpdateReference {
    /// Returns the update, or an error if the body changes nothing.
    pub(crate) fn update(self) -> Result<ReferenceUpdate, Problem> {
        if self.owned_resource.is_none() && self.tags.is_none() {
            return Err(Problem::bad_request(
                "The body changes nothing. Send {\"ownedResource\":…} or {\"tags\":{…}}.",
            ));
        }
        Ok(ReferenceUpdate {
            owned: self.owned_resource,
            tags: self.tags,
            place: None,
        })
    }
}
