use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};
use ucp_model::{NewPlane, Plane, PlaneId, PlaneKind};
use utoipa::ToSchema;

use super::tags::tags;
use crate::validation::Violations;

/// The maximum length of the settings of a plane as JSON, in bytes. Radius has a few providers in them.
pub(crate) const SETTINGS_MAX_BYTES: usize = 64 * 1024;

/// The body of a PUT of a plane.
#[derive(Debug, ToSchema)]
pub(crate) struct PutPlaneRequest {
    /// `global` by convention.
    #[schema(example = "global", pattern = "^[^\\x00-\\x1F\\x7F-\\x9F]*$")]
    location: String,
    /// Tags of the plane.
    #[schema(value_type = Option<BTreeMap<String, String>>, example = json!({"team": "net"}))]
    tags: BTreeMap<String, String>,
    /// The settings of the plane. A radius plane requires `resourceProviders`, a map of strings that may be empty.
    #[schema(value_type = Option<Object>, example = json!({"resourceProviders": {}}))]
    properties: Map<String, Value>,
}

impl PutPlaneRequest {
    pub(crate) fn read(
        body: &Map<String, Value>,
        kind: PlaneKind,
        violations: &mut Violations,
    ) -> Option<Self> {
        violations.members(body, &["tags", "properties"]);
        let properties = violations.object("$.properties", body.get("properties"));
        let mut properties = properties.cloned().unwrap_or_default();
        properties.shift_remove("provisioningState");
        let length = serde_json::to_string(&properties).map_or(usize::MAX, |text| text.len());
        if length > SETTINGS_MAX_BYTES {
            let what =
                format!("is {length} bytes of JSON; at most {SETTINGS_MAX_BYTES} are accepted");
            violations.property("$.properties", &what);
        }
        let providers = properties.get("resourceProviders");
        match (kind, providers) {
            (PlaneKind::Radius, None | Some(Value::Null)) => {
                violations.property("$.properties.resourceProviders", "is required");
            }
            (PlaneKind::Radius, Some(_)) => {
                violations.texts("$.properties.resourceProviders", providers);
            }
            (PlaneKind::Aws, _) => {}
        }
        Some(Self {
            location: violations.location(body),
            tags: tags("$.tags", body.get("tags"), violations),
            properties,
        })
    }

    /// Converts the request to the app's type.
    pub(crate) fn put(self, id: PlaneId) -> NewPlane {
        NewPlane {
            id,
            location: self.location,
            tags: self.tags,
            body: self.properties,
        }
    }
}

/// A plane.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PlaneBody {
    /// The id.
    #[schema(example = "/planes/aws/aws")]
    id: String,
    /// The name, in the letter case of the last PUT.
    #[schema(example = "aws")]
    name: String,
    /// The resource type of planes of this kind.
    #[schema(example = "System.AWS/planes")]
    r#type: &'static str,
    /// `global` by convention.
    #[schema(example = "global")]
    location: String,
    /// Tags of the plane.
    tags: BTreeMap<String, String>,
    /// The settings of the plane, and its `provisioningState`.
    #[schema(value_type = Object)]
    properties: Map<String, Value>,
}

impl From<Plane> for PlaneBody {
    fn from(plane: Plane) -> Self {
        let mut properties = plane.body;
        properties.insert("provisioningState".to_owned(), Value::from("Succeeded"));
        Self {
            id: plane.id.to_string(),
            r#type: plane.id.kind.arm_type(),
            name: plane.id.name,
            location: plane.location,
            tags: plane.tags,
            properties,
        }
    }
}

/// A plane in the list of all planes, without its settings, which may be confidential.
#[derive(Debug, Serialize, ToSchema)]
#[serde(transparent)]
pub(crate) struct PlaneSummary(PlaneBody);

impl From<Plane> for PlaneSummary {
    fn from(plane: Plane) -> Self {
        Self(PlaneBody::from(Plane {
            body: Map::new(),
            ..plane
        }))
    }
}
