use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};
use ucp_app::ResourceProvider;
use ucp_model::{Scope, TypeName};
use ucp_schema::{Property, PropertyPath, ResourceSchema};
use utoipa::ToSchema;

/// A resource provider: the resource types under one namespace.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResourceProviderSummary {
    /// The namespace of the resource types.
    #[schema(example = "AWS.EC2")]
    name: String,
    /// The locations in which the provider is served.
    #[schema(value_type = Object, example = json!({"us-west-2": {}}))]
    locations: Map<String, Value>,
    /// The resource types, by name.
    #[schema(example = json!({"VPC": {"id": "/planes/aws/aws/accounts/123456789012/regions/us-west-2/providers/AWS.EC2/resourceTypes/VPC"}}))]
    resource_types: BTreeMap<String, ResourceTypeSummary>,
}

/// A resource type of a resource provider.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ResourceTypeSummary {
    /// The id, which describes the type.
    #[schema(
        example = "/planes/aws/aws/accounts/123456789012/regions/us-west-2/providers/AWS.EC2/resourceTypes/VPC"
    )]
    id: String,
}

impl ResourceProviderSummary {
    pub(crate) fn of(provider: &ResourceProvider, scope: &Scope) -> Self {
        let summary = |name: &TypeName| {
            let id = id_of(name, scope);
            (name.resource().to_owned(), ResourceTypeSummary { id })
        };
        Self {
            name: provider.namespace.clone(),
            locations: Map::from_iter([(scope.region.clone(), Value::Object(Map::new()))]),
            resource_types: provider.types.iter().map(summary).collect(),
        }
    }
}

/// A resource type.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResourceTypeBody {
    /// The id.
    #[schema(
        example = "/planes/aws/aws/accounts/123456789012/regions/us-west-2/providers/AWS.EC2/resourceTypes/VPC"
    )]
    id: String,
    /// The name of the type, without its namespace.
    #[schema(example = "VPC")]
    name: String,
    /// The type, as in the ids of its resources.
    #[schema(example = "AWS.EC2/VPC")]
    r#type: String,
    /// The type, as CloudFormation writes it.
    #[schema(example = "AWS::EC2::VPC")]
    type_name: String,
    /// What the type is for, if AWS says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// Where AWS documents the type.
    #[serde(skip_serializing_if = "Option::is_none")]
    documentation_url: Option<String>,
    /// What Cloud Control can do with resources of the type: `create`, `read`, `update`, `delete`, `list`.
    #[schema(example = json!(["create", "read", "update", "delete", "list"]))]
    handlers: Vec<&'static str>,
    /// The properties that identify a resource, in the order in which its name has them.
    #[schema(example = json!(["/properties/VpcId"]))]
    primary_identifier: Vec<String>,
    /// The property that has the tags. Absent if resources of the type have no tags.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "/properties/Tags")]
    tag_property: Option<String>,
    /// The top-level properties, and the properties in them that have a class of their own.
    properties: Vec<PropertyBody>,
}

/// A property of a resource type.
#[derive(Debug, Serialize, ToSchema)]
struct PropertyBody {
    /// Its place: `/properties/` and its name. `*` stands for every element.
    #[schema(example = "/properties/CidrBlock")]
    path: String,
    /// Its JSON types. Empty if any is allowed.
    #[schema(example = json!(["string"]))]
    types: Vec<String>,
    /// `readOnly`, `createOnly`, `conditionalCreateOnly`, `writeOnly`, `deprecated`, `nonPublic`. Empty if a put can
    /// change it at any time.
    #[schema(example = json!(["createOnly"]))]
    classes: Vec<&'static str>,
    /// Whether every resource must have it.
    required: bool,
    /// What it means, if AWS says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
}

impl ResourceTypeBody {
    pub(crate) fn of(schema: &ResourceSchema, scope: &Scope) -> Self {
        let name = schema.type_name();
        let text = |member: &str| {
            let text = schema.document().get(member).and_then(Value::as_str);
            text.map(str::to_owned)
        };
        let identifier = schema.primary_identifier().iter();
        Self {
            id: id_of(name, scope),
            name: name.resource().to_owned(),
            r#type: name.arm(),
            type_name: name.to_string(),
            description: text("description"),
            documentation_url: text("documentationUrl"),
            handlers: schema.operations(),
            primary_identifier: identifier.map(PropertyPath::to_string).collect(),
            tag_property: schema.tag_property().map(|path| path.to_string()),
            properties: schema.outline().map(PropertyBody::from).collect(),
        }
    }
}

impl From<Property<'_>> for PropertyBody {
    fn from(property: Property<'_>) -> Self {
        Self {
            path: property.path.to_string(),
            types: property.types.into_iter().map(str::to_owned).collect(),
            classes: property.classes,
            required: property.is_required,
            description: property.description.map(str::to_owned),
        }
    }
}

fn id_of(name: &TypeName, scope: &Scope) -> String {
    format!(
        "{scope}/providers/{}/resourceTypes/{}",
        name.namespace(),
        name.resource()
    )
}
