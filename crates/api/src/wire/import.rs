//! Imports of one resource, or of many into a group.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ucp_app::{ImportGroupItem, ImportResource, TrackedBy};
use ucp_model::ids::InvalidId;
use ucp_model::{Detail, GroupId, Reference, ReferenceId, Scope, TypeName, Warning};
use utoipa::ToSchema;

use super::references::ReferenceBody;
use super::warning::WarningBody;
use crate::members::{self, parsed};
use crate::segments::Segments;

/// The body of an `:import` of one resource.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ImportRequest {
    /// The user's own name for the resource, required if `trackedBy` is the id of a resource group.
    #[schema(example = "my-vpc")]
    alias: Option<String>,
    /// The reference id, or the id of the resource group if `alias` is given. The alias will stand for the resource.
    #[schema(
        value_type = String,
        required,
        example = "/planes/radius/local/resourceGroups/demo/providers/AWS.EC2/VPC:reference/my-vpc"
    )]
    tracked_by: Option<String>,
    /// The primary identifier of the resource; multiple parts are joined by `|`, or are a JSON object if one of them
    /// contains `|`.
    #[schema(example = "vpc-0a1b2c3d4e5f60718")]
    primary_identifier: Option<String>,
    /// The parts of the identifier, as an alternative to `primaryIdentifier`.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    properties: Map<String, Value>,
    /// Own the resource. Deleting the reference, or its group, deletes an owned resource.
    #[serde(default)]
    #[schema(value_type = Option<bool>)]
    owned_resource: bool,
}

impl ImportRequest {
    /// Converts the request to the app's type.
    pub(crate) fn import(self, scope: Scope, type_name: TypeName) -> ImportResource {
        let alias = self.alias;
        ImportResource {
            scope,
            type_name,
            tracked_by: self.tracked_by.map(|id| TrackedBy { id, alias }),
            primary_identifier: self.primary_identifier,
            properties: self.properties,
            owned: self.owned_resource,
        }
    }
}

/// The body of an `:import` into a group.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct ImportGroupRequest {
    /// The resources to import, at most 1,000.
    #[serde(default)]
    #[schema(value_type = Vec<ImportGroupResource>, required, min_items = 1, max_items = 1000)]
    resources: Vec<Value>,
}

/// One resource to import into a group.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ImportGroupResource {
    /// The alias that will stand for the resource.
    #[schema(example = "my-vpc")]
    alias: Option<String>,
    /// The reference id, which must be in this group; an alternative to `alias` and `type`.
    #[serde(default, deserialize_with = "parsed")]
    #[schema(value_type = Option<String>)]
    tracked_by: Option<ReferenceId>,
    /// The resource type; optional when `scope` or `trackedBy` names it.
    #[serde(default, deserialize_with = "parsed")]
    #[schema(value_type = Option<String>, example = "AWS.EC2/VPC")]
    r#type: Option<ArmType>,
    /// The account and region of the resource, optionally with its type, as in `mapsTo.scope` of a reference.
    #[serde(default, deserialize_with = "parsed")]
    #[schema(value_type = String, required, example = "/planes/aws/aws/accounts/123456789012/regions/us-west-2")]
    scope: Option<ItemScope>,
    /// The primary identifier of the resource; multiple parts are joined by `|`, or are a JSON object if one of them
    /// contains `|`.
    #[schema(example = "vpc-0a1b2c3d4e5f60718")]
    primary_identifier: Option<String>,
    /// The parts of the identifier, as an alternative to `primaryIdentifier`.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    properties: Map<String, Value>,
    /// Own the resource. Deleting the reference, or its group, deletes an owned resource.
    #[serde(default)]
    #[schema(value_type = Option<bool>)]
    owned_resource: bool,
}

impl ImportGroupRequest {
    /// Reads the items to import into `group`, each with its own error.
    pub(crate) fn items(&self, group: &GroupId) -> Vec<Result<ImportGroupItem, Detail>> {
        let read = |(index, item): (usize, &Value)| {
            let place = format!("/resources/{index}");
            if item.as_object().is_some_and(members::names_plan) {
                let message = "/planId: an import carries out no plan. Leave it out.";
                return Err(Detail::at("BadRequest", message, format!("{place}/planId")));
            }
            let item = members::read(item).map_err(|misfit| misfit.message);
            let item = item.and_then(|item: ImportGroupResource| item.into(group));
            item.map_err(|message| Detail::at("BadRequest", message, place))
        };
        self.resources.iter().enumerate().map(read).collect()
    }
}

impl ImportGroupResource {
    fn into(self, group: &GroupId) -> Result<ImportGroupItem, String> {
        let alias = match &self.tracked_by {
            Some(id) if id.group.key() != group.key() => {
                return Err(format!("/trackedBy: names a group other than {group}."));
            }
            Some(id) => id.alias.clone(),
            None => self
                .alias
                .ok_or("/alias: is required unless trackedBy is given.")?,
        };
        let ItemScope { scope, type_name } = self
            .scope
            .ok_or("/scope: is required; it names the account and region.")?;
        let types = [
            self.tracked_by.map(|id| id.type_name),
            self.r#type.map(|ArmType(type_name)| type_name),
            type_name,
        ];
        let mut types = types.into_iter().flatten();
        let type_name = types
            .next()
            .ok_or("/type: is required; use a type such as AWS.EC2/VPC.")?;
        if let Some(other) =
            types.find(|other| !other.as_str().eq_ignore_ascii_case(type_name.as_str()))
        {
            return Err(format!(
                "/type: the types {} and {} contradict each other.",
                type_name.arm(),
                other.arm()
            ));
        }
        Ok(ImportGroupItem {
            scope,
            type_name,
            alias,
            primary_identifier: self.primary_identifier,
            properties: self.properties,
            owned: self.owned_resource,
        })
    }
}

/// A resource type in ARM's spelling.
#[derive(Debug)]
pub(super) struct ArmType(pub(super) TypeName);

impl FromStr for ArmType {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let type_name = TypeName::parse(text);
        type_name.map(Self).map_err(|error| error.to_string())
    }
}

/// An account and region, optionally followed by a type.
#[derive(Debug)]
pub(super) struct ItemScope {
    pub(super) scope: Scope,
    pub(super) type_name: Option<TypeName>,
}

impl FromStr for ItemScope {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const SHAPE: &str = "expected /planes/aws/{plane}/accounts/{account}/regions/{region}";
        let wrong = |error: InvalidId| error.to_string();
        let path = text.strip_prefix('/').ok_or(SHAPE)?;
        let segments = Segments::of(path).map_err(|_| SHAPE)?;
        let segments: Vec<&str> = segments.iter().collect();
        let [
            "planes",
            "aws",
            plane,
            "accounts",
            account,
            "regions",
            region,
            rest @ ..,
        ] = &segments[..]
        else {
            return Err(SHAPE.to_owned());
        };
        let type_name = match rest {
            [] => None,
            ["providers", namespace, resource] => {
                Some(TypeName::from_segments(namespace, resource).map_err(wrong)?)
            }
            _ => return Err(SHAPE.to_owned()),
        };
        Ok(Self {
            scope: Scope::new(plane, account, region).map_err(wrong)?,
            type_name,
        })
    }
}

/// The reference of an imported resource.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ImportedReference {
    #[serde(flatten)]
    reference: ReferenceBody,
    /// What the import could not determine.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<WarningBody>,
}

impl ImportedReference {
    pub(crate) fn new(reference: Reference, warnings: Vec<Warning>) -> Self {
        Self {
            reference: reference.into(),
            warnings: warnings.into_iter().map(WarningBody::from).collect(),
        }
    }
}
