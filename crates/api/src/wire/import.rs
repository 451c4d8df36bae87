//! Importing: one resource, or many into a group.

use serde::Serialize;
use serde_json::{Map, Value};
use ucp_app::{ImportGroupItem, Warning};
use ucp_model::group_operation::{ImportOutcome, Task};
use ucp_model::{Detail, GroupId, GroupOperation, Reference, ReferenceId, Scope, TypeName};
use utoipa::ToSchema;

use super::members::Members;
use super::{ErrorBody, ReferenceBody};
use crate::json::kind;
use crate::problem::Problem;

/// What an `:import` says.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct ImportRequest {
    /// The user's own name for the resource; a label, the key is `trackedBy`.
    #[expect(
        dead_code,
        reason = "part of the contract, and read by nobody: trackedBy is the key"
    )]
    #[schema(example = "my-vpc")]
    alias: Option<String>,
    /// The tracking id that is to stand for the resource.
    #[schema(
        value_type = String,
        example = "/planes/radius/local/resourceGroups/demo/providers/AWS.EC2/VPC:reference/my-vpc"
    )]
    pub(crate) tracked_by: Option<String>,
    /// AWS's name of the resource; several parts are joined by `|`.
    #[schema(example = "vpc-0a1b2c3d4e5f60718")]
    pub(crate) primary_identifier: Option<String>,
    /// The identifier's parts, in place of `primaryIdentifier`.
    #[schema(value_type = Option<Object>)]
    pub(crate) properties: Map<String, Value>,
    /// Own the resource: deleting the reference, or its group, then deletes it.
    #[schema(value_type = Option<bool>)]
    pub(crate) owned_resource: bool,
}

impl ImportRequest {
    /// Reads a body; members that are not of the contract are ignored, as templates carry all kinds of them.
    pub(crate) fn read(body: Map<String, Value>) -> Result<Self, Problem> {
        const KNOWN: [&str; 5] = [
            "alias",
            "trackedBy",
            "primaryIdentifier",
            "properties",
            "ownedResource",
        ];
        let mut members = Members(body);
        members.spelled_as(&KNOWN).map_err(Problem::bad_request)?;
        Ok(Self {
            alias: members.text("alias").map_err(Problem::bad_request)?,
            tracked_by: members.text("trackedBy").map_err(Problem::bad_request)?,
            primary_identifier: members
                .text("primaryIdentifier")
                .map_err(Problem::bad_request)?,
            properties: members
                .object("properties")
                .map_err(Problem::bad_request)?
                .unwrap_or_default(),
            owned_resource: members
                .flag("ownedResource")
                .map_err(Problem::bad_request)?
                .unwrap_or_default(),
        })
    }
}

/// What an `:import` into a group says.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body, which is read item by item")]
pub(crate) struct ImportGroupRequest {
    /// What to import, up to 1,000 resources.
    #[schema(min_items = 1, max_items = 1000)]
    resources: Vec<ImportGroupResource>,
}

/// One resource to import into a group.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes the body, which is read item by item")]
pub(crate) struct ImportGroupResource {
    /// The alias that is to stand for it.
    #[schema(example = "my-vpc")]
    alias: Option<String>,
    /// Its tracking id in this group, in place of `alias` and `type`.
    tracked_by: Option<String>,
    /// Its type; may be left out when `scope` or `trackedBy` names it.
    #[schema(example = "AWS.EC2/VPC")]
    r#type: Option<String>,
    /// Where it lives: account and region, or the collection as `mapsTo` of a reference has it.
    #[schema(example = "/planes/aws/aws/accounts/123456789012/regions/us-west-2")]
    scope: String,
    /// AWS's name of it; several parts are joined by `|`.
    #[schema(example = "vpc-0a1b2c3d4e5f60718")]
    primary_identifier: Option<String>,
    /// The identifier's parts, in place of `primaryIdentifier`.
    #[schema(value_type = Option<Object>)]
    properties: Option<Map<String, Value>>,
    /// Own the resource.
    owned_resource: Option<bool>,
}

/// The items of an `:import` into `group`, each read or told what is wrong with it.
pub(crate) fn read_items(
    group: &GroupId,
    mut body: Map<String, Value>,
) -> Result<Vec<Result<ImportGroupItem, Detail>>, Problem> {
    let items = match body.shift_remove("resources") {
        Some(Value::Array(items)) => items,
        Some(other) => {
            return Err(Problem::bad_request(format!(
                "/resources: expected an array, got {}.",
                kind(&other)
            )));
        }
        None => return Err(Problem::bad_request("/resources: is missing.")),
    };
    let read = |(index, item)| {
        let read = match item {
            Value::Object(members) => item_of(group, Members(members)),
            other => Err(format!("expected an object, got {}.", kind(&other))),
        };
        read.map_err(|message| Detail::at("BadRequest", message, format!("/resources/{index}")))
    };
    Ok(items.into_iter().enumerate().map(read).collect())
}

fn item_of(group: &GroupId, mut members: Members) -> Result<ImportGroupItem, String> {
    const KNOWN: [&str; 7] = [
        "alias",
        "trackedBy",
        "type",
        "scope",
        "primaryIdentifier",
        "properties",
        "ownedResource",
    ];
    members.spelled_as(&KNOWN)?;
    let tracked = match members.text("trackedBy")? {
        None => None,
        Some(text) => {
            let id: ReferenceId = text
                .parse()
                .map_err(|error| format!("/trackedBy: {error}."))?;
            if id.group.key() != group.key() {
                return Err(format!("/trackedBy: names another group than {group}."));
            }
            Some(id)
        }
    };
    let alias = members.text("alias")?;
    let alias = match &tracked {
        Some(id) => id.alias.clone(),
        None => alias.ok_or("/alias: is missing; give it, or trackedBy.")?,
    };
    let scope = members
        .text("scope")?
        .ok_or("/scope: is missing; it names account and region.")?;
    let (scope, of_scope) = place(&scope)?;
    let of_type = match members.text("type")? {
        None => None,
        Some(text) => Some(type_name(&text)?),
    };
    let types = [tracked.map(|id| id.type_name), of_type, of_scope];
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
        primary_identifier: members.text("primaryIdentifier")?,
        properties: members.object("properties")?.unwrap_or_default(),
        owned: members.flag("ownedResource")?.unwrap_or_default(),
    })
}

fn type_name(text: &str) -> Result<TypeName, String> {
    let (namespace, resource) = text
        .split_once('/')
        .ok_or("/type: expected a type such as AWS.EC2/VPC.")?;
    TypeName::from_segments(namespace, resource).map_err(|error| format!("/type: {error}."))
}

/// Account and region, and the type behind them if there is one.
fn place(text: &str) -> Result<(Scope, Option<TypeName>), String> {
    const SHAPE: &str = "/scope: expected /planes/aws/{plane}/accounts/{account}/regions/{region}.";
    let path = text.strip_prefix('/').ok_or(SHAPE)?;
    let segments: Vec<&str> = path.strip_suffix('/').unwrap_or(path).split('/').collect();
    let (keywords, [plane, account, region], rest) = match segments[..] {
        [
            planes,
            aws,
            plane,
            accounts,
            account,
            regions,
            region,
            ref rest @ ..,
        ] => (
            [planes, aws, accounts, regions],
            [plane, account, region],
            rest,
        ),
        _ => return Err(SHAPE.to_owned()),
    };
    let expected = ["planes", "aws", "accounts", "regions"];
    let is_scope = keywords
        .iter()
        .zip(expected)
        .all(|(given, expected)| given.eq_ignore_ascii_case(expected));
    if !is_scope {
        return Err(SHAPE.to_owned());
    }
    let type_name = match rest {
        [] => None,
        [providers, namespace, resource] if providers.eq_ignore_ascii_case("providers") => Some(
            TypeName::from_segments(namespace, resource)
                .map_err(|error| format!("/scope: {error}."))?,
        ),
        _ => return Err(SHAPE.to_owned()),
    };
    let scope = Scope::new(plane, account, region).map_err(|error| format!("/scope: {error}."))?;
    Ok((scope, type_name))
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
    #[schema(example = "WriteOnlyProperty")]
    code: &'static str,
    /// The JSON Pointer of the property.
    #[schema(example = "/properties/MasterUserPassword")]
    target: String,
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

/// What an import into a group came to, item by item.
#[derive(Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ImportResult {
    /// The alias stands for the resource now.
    imported: Vec<ImportResultItem>,
    /// AWS does not have the resource.
    missing: Vec<ImportResultItem>,
    /// The alias stood for a resource before, and was left as it is.
    already_tracked: Vec<ImportResultItem>,
    /// AWS refuses the read, or something stands in the way.
    failed: Vec<ImportResultItem>,
}

/// What one item of an import came to.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ImportResultItem {
    /// Its place in the request.
    index: usize,
    alias: String,
    /// Its tracking id.
    id: String,
    /// The AWS resource's id.
    resource_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorBody>,
}

impl ImportResult {
    /// The outcomes of an import; none when the operation is something else.
    pub(crate) fn of(operation: &GroupOperation) -> Option<Self> {
        let Task::Import(items) = &operation.task else {
            return None;
        };
        let mut result = Self::default();
        for (index, outcome) in &operation.outcomes {
            let Some(item) = items.get(*index) else {
                continue;
            };
            let (list, failure) = match outcome {
                ImportOutcome::Imported => (&mut result.imported, None),
                ImportOutcome::Missing => (&mut result.missing, None),
                ImportOutcome::AlreadyTracked => (&mut result.already_tracked, None),
                ImportOutcome::Failed(failure) => (&mut result.failed, Some(failure.clone())),
            };
            let type_name = &item.reference.type_name;
            list.push(ImportResultItem {
                index: *index,
                alias: item.reference.alias.clone(),
                id: item.reference.to_string(),
                resource_id: item.scope.resource(type_name, &item.identifier),
                error: failure.map(ErrorBody::from),
            });
        }
        Some(result)
    }
}
