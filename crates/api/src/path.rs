//! Path parameters. Each type is both the extractor of a path and the description of its parameters.

use axum::extract::{FromRequestParts, Path};
use axum::http::StatusCode;
use serde::Deserialize;
use ucp_model::ids::InvalidId;
use ucp_model::{
    CredentialId, ErrorCode, Failure, GroupId, LeftoverId, PlaneId, PlaneKind, ReferenceId,
    Register, RoleAssignmentId, Scope, TypeName, excerpt,
};
use utoipa::IntoParams;

use crate::problem::Problem;
use crate::validation::InvalidName;

/// The suffix of a reference's type.
const REFERENCE: &str = ":reference";

/// All planes of a type.
#[derive(Debug, Deserialize, FromRequestParts, IntoParams)]
#[from_request(via(Path), rejection(Problem))]
#[into_params(parameter_in = Path)]
pub(crate) struct PlaneTypePath {
    /// The plane type: `aws` or `radius`.
    r#type: String,
}

impl PlaneTypePath {
    pub(crate) fn kind(&self) -> Result<PlaneKind, Problem> {
        plane_kind(&self.r#type)
    }
}

/// A plane.
#[derive(Debug, Deserialize, FromRequestParts, IntoParams)]
#[from_request(via(Path), rejection(Problem))]
#[into_params(parameter_in = Path)]
pub(crate) struct PlanePath {
    /// The plane type: `aws` or `radius`.
    r#type: String,
    /// The name of the plane.
    plane: String,
}

impl PlanePath {
    pub(crate) fn kind(&self) -> Result<PlaneKind, Problem> {
        plane_kind(&self.r#type)
    }

    pub(crate) fn name(&self, kind: PlaneKind) -> Result<PlaneId, InvalidName> {
        Ok(PlaneId::new(kind, &self.plane)?)
    }

    pub(crate) fn id(&self) -> Result<PlaneId, Problem> {
        Ok(self.name(self.kind()?)?)
    }
}

/// A radius plane.
#[derive(Debug, Deserialize, FromRequestParts, IntoParams)]
#[from_request(via(Path), rejection(Problem))]
#[into_params(parameter_in = Path)]
pub(crate) struct RadiusPlanePath {
    /// The name of the radius plane.
    plane: String,
}

impl RadiusPlanePath {
    pub(crate) fn id(&self) -> Result<PlaneId, InvalidName> {
        Ok(PlaneId::new(PlaneKind::Radius, &self.plane)?)
    }
}

/// A resource provider of a radius plane.
#[derive(Debug, Deserialize, FromRequestParts, IntoParams)]
#[from_request(via(Path), rejection(Problem))]
#[into_params(parameter_in = Path)]
pub(crate) struct ResourceProviderPath {
    /// The name of the radius plane.
    plane: String,
    /// The namespace of the resource provider.
    pub(crate) namespace: String,
}

impl ResourceProviderPath {
    pub(crate) fn plane(&self) -> Result<PlaneId, InvalidName> {
        Ok(PlaneId::new(PlaneKind::Radius, &self.plane)?)
    }
}

/// A resource group.
#[derive(Debug, Deserialize, FromRequestParts, IntoParams)]
#[from_request(via(Path), rejection(Problem))]
#[into_params(parameter_in = Path)]
pub(crate) struct GroupPath {
    /// The name of the radius plane.
    plane: String,
    /// The name of the resource group: 1 to 90 letters and digits of any script, `_`, `.`, `(`, `)` and `-`, not ending with
    /// a period.
    group: String,
}

impl GroupPath {
    pub(crate) fn id(&self) -> Result<GroupId, InvalidName> {
        Ok(GroupId::new(&self.plane, &self.group)?)
    }
}

/// The references of a type in a resource group.
#[derive(Debug, Deserialize, FromRequestParts, IntoParams)]
#[from_request(via(Path), rejection(Problem))]
#[into_params(parameter_in = Path)]
pub(crate) struct ReferencesPath {
    /// The name of the radius plane.
    plane: String,
    /// The name of the resource group: 1 to 90 letters and digits of any script, `_`, `.`, `(`, `)` and `-`, not ending with
    /// a period.
    group: String,
    /// The namespace of the resource type: `AWS.` and the service.
    namespace: String,
    /// The resource type without its namespace, followed by `:reference`.
    r#type: String,
}

impl ReferencesPath {
    pub(crate) fn group(&self) -> Result<GroupId, InvalidName> {
        Ok(GroupId::new(&self.plane, &self.group)?)
    }

    pub(crate) fn type_name(&self) -> Result<TypeName, Problem> {
        referenced_type(&self.namespace, &self.r#type)
    }
}

/// A reference.
#[derive(Debug, Deserialize, FromRequestParts, IntoParams)]
#[from_request(via(Path), rejection(Problem))]
#[into_params(parameter_in = Path)]
pub(crate) struct ReferencePath {
    /// The name of the radius plane.
    plane: String,
    /// The name of the resource group: 1 to 90 letters and digits of any script, `_`, `.`, `(`, `)` and `-`, not ending with
    /// a period.
    group: String,
    /// The namespace of the resource type: `AWS.` and the service.
    namespace: String,
    /// The resource type without its namespace, followed by `:reference`.
    r#type: String,
    /// The alias: the user's own name for the resource.
    alias: String,
}

impl ReferencePath {
    pub(crate) fn id(&self) -> Result<ReferenceId, Problem> {
        let type_name = referenced_type(&self.namespace, &self.r#type)?;
        let group = GroupId::new(&self.plane, &self.group).map_err(InvalidName::from)?;
        Ok(ReferenceId::new(group, type_name, &self.alias)?)
    }
}

/// A leftover of a resource group.
#[derive(Debug, Deserialize, FromRequestParts, IntoParams)]
#[from_request(via(Path), rejection(Problem))]
#[into_params(parameter_in = Path)]
pub(crate) struct LeftoverPath {
    /// The name of the radius plane.
    plane: String,
    /// The name of the resource group: 1 to 90 letters and digits of any script, `_`, `.`, `(`, `)` and `-`, not ending with
    /// a period.
    group: String,
    /// The name of the leftover.
    id: String,
}

impl LeftoverPath {
    pub(crate) fn id(&self) -> Result<LeftoverId, Problem> {
        let group = GroupId::new(&self.plane, &self.group).map_err(InvalidName::from)?;
        leftover_id(Register::Group(group), &self.id)
    }
}

/// A leftover of an account and region.
#[derive(Debug, Deserialize, FromRequestParts, IntoParams)]
#[from_request(via(Path), rejection(Problem))]
#[into_params(parameter_in = Path)]
pub(crate) struct RegionLeftoverPath {
    /// The name of the AWS plane.
    plane: String,
    /// The AWS account.
    account: String,
    /// The AWS region.
    region: String,
    /// The name of the leftover.
    id: String,
}

impl RegionLeftoverPath {
    pub(crate) fn id(&self) -> Result<LeftoverId, Problem> {
        let scope = Scope::new(&self.plane, &self.account, &self.region)?;
        leftover_id(Register::Place(scope), &self.id)
    }
}

/// The resource providers in an account and region.
#[derive(Debug, Deserialize, FromRequestParts, IntoParams)]
#[from_request(via(Path), rejection(Problem))]
#[into_params(parameter_in = Path)]
pub(crate) struct AwsResourceProvidersPath {
    /// The name of the AWS plane.
    plane: String,
    /// The AWS account.
    account: String,
    /// The AWS region.
    region: String,
}

impl AwsResourceProvidersPath {
    pub(crate) fn scope(&self) -> Result<Scope, InvalidId> {
        Scope::new(&self.plane, &self.account, &self.region)
    }
}

/// A resource provider in an account and region.
#[derive(Debug, Deserialize, FromRequestParts, IntoParams)]
#[from_request(via(Path), rejection(Problem))]
#[into_params(parameter_in = Path)]
pub(crate) struct AwsResourceProviderPath {
    /// The name of the AWS plane.
    plane: String,
    /// The AWS account.
    account: String,
    /// The AWS region.
    region: String,
    /// The namespace of the resource types: `AWS.` and the service.
    pub(crate) namespace: String,
}

impl AwsResourceProviderPath {
    pub(crate) fn scope(&self) -> Result<Scope, InvalidId> {
        Scope::new(&self.plane, &self.account, &self.region)
    }
}

/// The resources of a type in an account and region.
#[derive(Debug, Deserialize, FromRequestParts, IntoParams)]
#[from_request(via(Path), rejection(Problem))]
#[into_params(parameter_in = Path)]
pub(crate) struct CollectionPath {
    /// The name of the AWS plane.
    plane: String,
    /// The AWS account.
    account: String,
    /// The AWS region.
    region: String,
    /// The namespace of the resource type: `AWS.` and the service.
    namespace: String,
    /// The resource type, without its namespace.
    r#type: String,
}

impl CollectionPath {
    pub(crate) fn scope(&self) -> Result<Scope, InvalidId> {
        Scope::new(&self.plane, &self.account, &self.region)
    }

    pub(crate) fn type_name(&self) -> Result<TypeName, InvalidId> {
        TypeName::from_segments(&self.namespace, &self.r#type)
    }
}

/// An AWS resource.
#[derive(Debug, Deserialize, FromRequestParts, IntoParams)]
#[from_request(via(Path), rejection(Problem))]
#[into_params(parameter_in = Path)]
pub(crate) struct ResourcePath {
    /// The name of the AWS plane.
    plane: String,
    /// The AWS account.
    account: String,
    /// The AWS region.
    region: String,
    /// The namespace of the resource type: `AWS.` and the service.
    namespace: String,
    /// The resource type, without its namespace.
    r#type: String,
    /// The primary identifier; multiple parts are joined by `|`, or are a JSON object if one of them contains `|`.
    pub(crate) identifier: String,
}

impl ResourcePath {
    pub(crate) fn scope(&self) -> Result<Scope, InvalidId> {
        Scope::new(&self.plane, &self.account, &self.region)
    }

    pub(crate) fn type_name(&self) -> Result<TypeName, InvalidId> {
        TypeName::from_segments(&self.namespace, &self.r#type)
    }
}

/// An AWS plane.
#[derive(Debug, Deserialize, FromRequestParts, IntoParams)]
#[from_request(via(Path), rejection(Problem))]
#[into_params(parameter_in = Path)]
pub(crate) struct AwsPlanePath {
    /// The name of the AWS plane.
    plane: String,
}

impl AwsPlanePath {
    pub(crate) fn id(&self) -> Result<PlaneId, InvalidName> {
        Ok(PlaneId::new(PlaneKind::Aws, &self.plane)?)
    }
}

/// How good the plans of the puts of a type were.
#[derive(Debug, Deserialize, FromRequestParts, IntoParams)]
#[from_request(via(Path), rejection(Problem))]
#[into_params(parameter_in = Path)]
pub(crate) struct PredictionPath {
    /// The name of the AWS plane.
    plane: String,
    /// The resource type, as CloudFormation spells it.
    r#type: String,
}

impl PredictionPath {
    pub(crate) fn plane(&self) -> Result<PlaneId, InvalidName> {
        Ok(PlaneId::new(PlaneKind::Aws, &self.plane)?)
    }

    pub(crate) fn type_name(&self) -> Result<TypeName, InvalidId> {
        TypeName::from_cloudformation(&self.r#type)
    }
}

/// A credential.
#[derive(Debug, Deserialize, FromRequestParts, IntoParams)]
#[from_request(via(Path), rejection(Problem))]
#[into_params(parameter_in = Path)]
pub(crate) struct CredentialPath {
    /// The name of the AWS plane.
    plane: String,
    /// The name of the credential.
    credential: String,
}

impl CredentialPath {
    pub(crate) fn id(&self) -> Result<CredentialId, InvalidName> {
        Ok(CredentialId::new(&self.plane, &self.credential)?)
    }
}

/// A role assignment.
#[derive(Debug, Deserialize, FromRequestParts, IntoParams)]
#[from_request(via(Path), rejection(Problem))]
#[into_params(parameter_in = Path)]
pub(crate) struct RoleAssignmentPath {
    /// The name of the radius plane.
    plane: String,
    /// The name of the role assignment: 1 to 63 letters, digits and hyphens, such as a UUID.
    assignment: String,
}

impl RoleAssignmentPath {
    pub(crate) fn id(&self) -> Result<RoleAssignmentId, InvalidName> {
        Ok(RoleAssignmentId::new(&self.plane, &self.assignment)?)
    }
}

/// A plan.
#[derive(Debug, Deserialize, FromRequestParts, IntoParams)]
#[from_request(via(Path), rejection(Problem))]
#[into_params(parameter_in = Path)]
pub(crate) struct PlanPath {
    /// The name of the radius plane.
    pub(crate) plane: String,
    /// The id of the plan, a UUID.
    pub(crate) plan: String,
}

/// A refactor.
#[derive(Debug, Deserialize, FromRequestParts, IntoParams)]
#[from_request(via(Path), rejection(Problem))]
#[into_params(parameter_in = Path)]
pub(crate) struct RefactorPath {
    /// The name of the radius plane.
    pub(crate) plane: String,
    /// The id of the refactor, a UUID.
    pub(crate) refactor: String,
}

/// The credentials of an Azure plane.
#[derive(Debug, Deserialize, FromRequestParts, IntoParams)]
#[from_request(via(Path), rejection(Problem))]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "any name is accepted")]
pub(crate) struct AzureCredentialsPath {
    /// The name of the Azure plane.
    plane: String,
}

/// A credential of an Azure plane.
#[derive(Debug, Deserialize, FromRequestParts, IntoParams)]
#[from_request(via(Path), rejection(Problem))]
#[into_params(parameter_in = Path)]
pub(crate) struct AzureCredentialPath {
    /// The name of the Azure plane.
    #[expect(dead_code, reason = "any name is accepted")]
    plane: String,
    /// The name of the credential.
    pub(crate) credential: String,
}

/// An operation on an AWS resource.
#[derive(Debug, Deserialize, FromRequestParts, IntoParams)]
#[from_request(via(Path), rejection(Problem))]
#[into_params(parameter_in = Path)]
pub(crate) struct OperationPath {
    /// The name of the AWS plane.
    pub(crate) plane: String,
    /// The AWS account.
    pub(crate) account: String,
    /// The AWS region.
    pub(crate) region: String,
    /// The namespace of the resource type: `AWS.` and the service.
    pub(crate) namespace: String,
    /// The id of the operation.
    pub(crate) id: String,
}

/// An operation on a reference or a resource group.
#[derive(Debug, Deserialize, FromRequestParts, IntoParams)]
#[from_request(via(Path), rejection(Problem))]
#[into_params(parameter_in = Path)]
pub(crate) struct PlaneOperationPath {
    /// The name of the radius plane.
    pub(crate) plane: String,
    /// The id of the operation.
    pub(crate) id: String,
}

/// An error code.
#[derive(Debug, Deserialize, FromRequestParts, IntoParams)]
#[from_request(via(Path), rejection(Problem))]
#[into_params(parameter_in = Path)]
pub(crate) struct ErrorCodePath {
    /// The error code, with or without the suffix `.md`.
    #[param(example = "AlreadyExists")]
    pub(crate) code: String,
}

/// Refuses a path below an unknown plane type.
pub(crate) fn judge_plane_type(path: &str) -> Result<(), Problem> {
    let mut segments = path.split('/').skip(1);
    match (segments.next(), segments.next()) {
        (Some("planes"), Some(word)) => plane_kind(word).map(|_| ()),
        _ => Ok(()),
    }
}

fn plane_kind(word: &str) -> Result<PlaneKind, Problem> {
    word.parse().map_err(|error: InvalidId| {
        let failure = Failure::new(ErrorCode::InvalidPlaneType, error.to_string());
        Problem::new(StatusCode::BAD_REQUEST, failure)
    })
}

fn leftover_id(register: Register, name: &str) -> Result<LeftoverId, Problem> {
    let name = name.parse().map_err(|_| {
        Problem::not_found(format!(
            "There is no leftover '{}'. Their names are UUIDs.",
            excerpt(name)
        ))
    })?;
    Ok(LeftoverId { register, name })
}

fn referenced_type(namespace: &str, r#type: &str) -> Result<TypeName, Problem> {
    let at = r#type.len().checked_sub(REFERENCE.len());
    let split = at.and_then(|at| r#type.split_at_checked(at));
    match split.filter(|(_, suffix)| suffix.eq_ignore_ascii_case(REFERENCE)) {
        Some((resource, _)) => Ok(TypeName::from_segments(namespace, resource)?),
        None => Err(Problem::not_found(
            "A resource group contains references, such as AWS.EC2/VPC:reference/my-vpc.",
        )),
    }
}
