use serde::Serialize;
use ucp_model::{Failure, Leftover, LeftoverReason, Register};
use utoipa::ToSchema;
use utoipa::openapi::{ObjectBuilder, Type};

/// A leftover: an AWS resource that lives because of ucp, or may, although no alias stands for it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LeftoverBody {
    /// The id.
    #[schema(
        example = "/planes/radius/local/resourcegroups/demo/leftovers/2b1c5a52-93d1-4a0e-8b7c-0d6f0b1c2d3e"
    )]
    id: String,
    /// The name: the UUID of the operation that entered it first.
    #[schema(format = "uuid")]
    name: String,
    /// The ARM type.
    #[schema(example = "System.Resources/resourceGroups/leftovers")]
    r#type: &'static str,
    /// What is known of it.
    properties: LeftoverProperties,
}

/// What is known of a leftover.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LeftoverProperties {
    /// The id of the AWS resource, if it is known which one it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(
        example = "/planes/aws/aws/accounts/123456789012/regions/us-west-2/providers/AWS.EC2/VPC/vpc-0a1b2c3d4e5f60718"
    )]
    resource_id: Option<String>,
    /// The resource type.
    #[schema(example = "AWS.EC2/VPC")]
    resource_type: String,
    /// The path of the account and region.
    #[schema(example = "/planes/aws/aws/accounts/123456789012/regions/us-west-2")]
    scope: String,
    /// The primary identifier, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "vpc-0a1b2c3d4e5f60718")]
    primary_identifier: Option<String>,
    #[schema(schema_with = reasons)]
    reason: &'static str,
    /// The id of the reference that stood for it, or should have.
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<String>,
    /// The UUID of the operation that entered it last.
    #[schema(format = "uuid")]
    operation_id: String,
    /// When it was entered first.
    #[schema(format = DateTime, example = "2026-01-02T03:04:05Z")]
    since: String,
    /// How often ucp has tried to settle it since it was entered.
    tries: u32,
    /// Why the latest try failed, or the delete before its entry; what went wrong with a create of unknown outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_error: Option<LeftoverError>,
    /// When ucp tries next to delete it, or to find out what came of its create; absent if ucp does neither.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime, example = "2026-01-02T03:05:05Z")]
    next_try_at: Option<String>,
}

/// Why a try failed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LeftoverError {
    /// The error code of AWS.
    #[schema(example = "DependencyViolation")]
    code: String,
    /// The message of AWS.
    message: String,
}

fn reasons() -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some(
            "Why it is left. `Undeleted`: deleting it failed, after a replacement or a failed create. `Salvage`: a failed create may have left it. `Misnamed`: AWS created it under another name than the request asked for. `OutcomeUnknown`: the outcome of its create cannot be determined. ucp deletes `Undeleted` again, looks what came of an `OutcomeUnknown` that an alias waits for, and removes the others once they are seen gone.",
        ))
        .enum_values(Some(LeftoverReason::ALL.map(LeftoverReason::as_str)))
}

impl From<Leftover> for LeftoverBody {
    fn from(leftover: Leftover) -> Self {
        let target = leftover.target();
        let resource_id =
            target.map(|target| target.scope.resource(target.type_name, target.identifier));
        let next_try_at = leftover
            .is_tried()
            .then(|| leftover.next_try_at.to_string());
        let id = leftover.id;
        Self {
            r#type: match id.register {
                Register::Group(_) => "System.Resources/resourceGroups/leftovers",
                Register::Place(_) => "System.AWS/leftovers",
            },
            id: id.to_string(),
            name: id.name.to_string(),
            properties: LeftoverProperties {
                resource_id,
                resource_type: leftover.type_name.arm(),
                scope: leftover.scope.to_string(),
                primary_identifier: leftover.identifier.map(|identifier| identifier.to_string()),
                reason: leftover.reason.as_str(),
                reference: leftover.reference.map(|reference| reference.to_string()),
                operation_id: leftover.operation.to_string(),
                since: leftover.since.to_string(),
                tries: leftover.tries,
                last_error: leftover.last_error.map(LeftoverError::from),
                next_try_at,
            },
        }
    }
}

impl From<Failure> for LeftoverError {
    fn from(failure: Failure) -> Self {
        Self {
            code: failure.code,
            message: failure.message,
        }
    }
}
