//! Importing: one resource, or many into a group.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ucp_app::{ImportGroupItem, ImportResource, Warning};
use ucp_model::ids::InvalidId;
use ucp_model::{Detail, GroupId, Reference, ReferenceId, Scope, TypeName};
use utoipa::ToSchema;

use super::references::ReferenceBody;
use crate::members::{self, parsed};
use crate::segments::Segments;

/// What an `:import` says.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ImportRequest {
    /// The user's own name for the resource; a label, the key is `trackedBy`.
    #[expect(
        dead_code,
        reason = "part of the contract, and read by nobody: trackedBy is the key"
    )]
    #[schema(example = "my-vpc")]
    alias: Option<String>,
    /// The reference id that is to stand for the resource.
    #[schema(
        value_type = String,
        required,
        example = "/planes/radius/local/resourceGroups/demo/providers/AWS.EC2/VPC:reference/my-vpc"
    )]
    tracked_by: Option<String>,
    /// AWS's name of the resource; several parts are joined by `|`.
    #[schema(example = "vpc-0a1b2c3d4e5f60718")]
    primary_identifier: Option<String>,
    /// The identifier's parts, in place of `primaryIdentifier`.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    properties: Map<String, Value>,
    /// Own the resource: deleting the reference, or its group, then deletes it.
    #[serde(default)]
    #[schema(value_type = Option<bool>)]
    owned_resource: bool,
}

impl ImportRequest {
    /// What the app is asked to import.
    pub(crate) fn import(self, scope: Scope, type_name: TypeName) -> ImportResource {
        ImportResource {
            scope,
            type_name,
            tracked_by: self.tracked_by,
            primary_identifier: self.primary_identifier,
            properties: self.properties,
            owned: self.owned_resource,
        }
    }
}

/// What an `:import` into a group says.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct ImportGroupRequest {
    /// What to import, up to 1,000 resources.
    #[serde(default)]
    #[schema(value_type = Vec<ImportGroupResource>, required, min_items = 1, max_items = 1000)]
    resources: Vec<Value>,
}

/// One resource to import into a group.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ImportGroupResource {
    /// The alias that is to stand for it.
    #[schema(example = "my-vpc")]
    alias: Option<String>,
    /// Its reference id in this group, in place of `alias` and `type`.
    #[serde(default, deserialize_with = "parsed")]
    #[schema(value_type = Option<String>)]
    tracked_by: Option<ReferenceId>,
    /// Its type; may be left out when `scope` or `trackedBy` names it.
    #[serde(default, deserialize_with = "parsed")]
    #[schema(value_type = Option<String>, example = "AWS.EC2/VPC")]
    r#type: Option<ArmType>,
    /// Where it lives: account and region, or the collection as `mapsTo` of a reference has it.
    #[serde(default, deserialize_with = "parsed")]
    #[schema(value_type = String, required, example = "/planes/aws/aws/accounts/123456789012/regions/us-west-2")]
    scope: Option<ItemScope>,
    /// AWS's name of it; several parts are joined by `|`.
    #[schema(example = "vpc-0a1b2c3d4e5f60718")]
    primary_identifier: Option<String>,
    /// The identifier's parts, in place of `primaryIdentifier`.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    properties: Map<String, Value>,
    /// Own the resource.
    #[serde(default)]
    #[schema(value_type = Option<bool>)]
    owned_resource: bool,
}

impl ImportGroupRequest {
    /// What is to be imported into `group`, each item read or told what is wrong with it.
    pub(crate) fn items(&self, group: &GroupId) -> Vec<Result<ImportGroupItem, Detail>> {
        let read = |(index, item)| {
            let item = members::read(item).and_then(|item: ImportGroupResource| item.into(group));
            item.map_err(|message| Detail::at("BadRequest", message, format!("/resources/{index}")))
        };
        self.resources.iter().enumerate().map(read).collect()
    }
}

impl ImportGroupResource {
    fn into(self, group: &GroupId) -> Result<ImportGroupItem, String> {
        let alias = match &self.tracked_by {
            Some(id) if id.group.key() != group.key() => {
                return Err(format!("/trackedBy: names another group than {group}."));
            }
            Some(id) => id.alias.clone(),
            None => self
                .alias
                .ok_or("/alias: is missing; give it, or trackedBy.")?,
        };
        let ItemScope { scope, type_name } = self
            .scope
            .ok_or("/scope: is missing; it names account and region.")?;
        let types = [
            self.tracked_by.map(|id| id.type_name),
            self.r#type.map(|ArmType(type_name)| type_name),
            type_name,
        ];
        let mut types = types.into_iter().flatten();
        let type_name = types
            .next()
            .ok_or("/type: is missing; it is a type such as AWS.EC2/VPC.")?;
        if let Some(other) =
            types.find(|other| !other.as_str().eq_ignore_ascii_case(type_name.as_str()))
        {
            return Err(format!(
                "/type: the resource is called both an {} and an {}.",
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

/// A type as ARM spells it.
#[derive(Debug)]
struct ArmType(TypeName);

impl FromStr for ArmType {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (namespace, resource) = text
            .split_once('/')
            .ok_or("expected a type such as AWS.EC2/VPC")?;
        let type_name = TypeName::from_segments(namespace, resource);
        type_name.map(Self).map_err(|error| error.to_string())
    }
}

/// Account and region, and the type behind them if there is one.
#[derive(Debug)]
struct ItemScope {
    scope: Scope,
    type_name: Option<TypeName>,
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

/// An imported resource's reference.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ImportedReference {
    #[serde(flatten)]
    reference: ReferenceBody,
    /// What could not be found out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<WarningBody>,
}

/// What an import could not find out.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WarningBody {
    /// What kind of gap it is.
    #[schema(example = "WriteOnlyProperty")]
    code: &'static str,
    /// The JSON Pointer of the property.
    #[schema(example = "/properties/MasterUserPassword")]
    target: String,
    /// For a person.
    message: String,
}

impl ImportedReference {
    pub(crate) fn new(reference: Reference, warnings: Vec<Warning>) -> Self {
        let body = |warning: Warning| WarningBody {
            code: warning.code,
            target: warning.target,
            message: warning.message,
        };
        Self {
            reference: reference.into(),
            warnings: warnings.into_iter().map(body).collect(),
        }
    }
}
