use serde::Serialize;
use ucp_access::GrantChange;
use ucp_app::{AuditOutcome, StoredAuditEvent};
use utoipa::ToSchema;
use utoipa::openapi::{ObjectBuilder, Type};

use super::role_assignments::RoleAssignmentProperties;

/// An event of the audit: a request that changes something, or that was refused.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AuditEventBody {
    /// The name, which no other event has.
    #[schema(example = "1767323045120-42")]
    name: String,
    /// The ARM type.
    #[schema(example = "System.Resources/auditEvents")]
    r#type: &'static str,
    /// What was recorded.
    properties: AuditEventProperties,
}

/// What was recorded of a request. It has nothing of the body, the query and the headers of the request but ids, what a role
/// assignment gives, and the names of what a write changed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuditEventProperties {
    /// When it was answered.
    #[schema(format = DateTime, example = "2026-01-02T03:04:05.12Z")]
    at: String,
    /// Who sent it.
    #[schema(example = "token:ci")]
    caller: String,
    /// The address that it came from. Behind a proxy it is the proxy's.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "192.0.2.1")]
    peer: Option<String>,
    /// What was asked for; the method if the request names nothing that there is.
    #[schema(example = "System.Resources/resourceGroups/write")]
    action: String,
    /// The id of what it is about: of the reference, if the body names one.
    #[schema(example = "/planes/radius/local/resourcegroups/demo")]
    id: String,
    #[schema(schema_with = outcomes)]
    outcome: &'static str,
    /// The status of the reply; absent if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = 200)]
    status: Option<u16>,
    /// The error code of the reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "Conflict")]
    code: Option<String>,
    /// The `x-ms-correlation-request-id` of the request.
    correlation_id: String,
    /// The `x-ms-request-id` of the reply.
    request_id: String,
    /// The UUID of the operation that was accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = "uuid")]
    operation_id: Option<String>,
    /// What it changed of a role assignment.
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<AuditChange>,
    /// Where it changed a plane, a resource group or a credential: JSON Pointers into that, at most 64, without values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(example = json!(["/properties/planPolicy", "/tags/team"]))]
    paths: Vec<String>,
    /// How many events were not kept since the one before, because there were too many.
    #[serde(skip_serializing_if = "is_zero")]
    suppressed: u64,
}

/// What a role assignment gave before a request, and what it gives since.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AuditChange {
    /// What it gave; absent if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<RoleAssignmentProperties>,
    /// What it gives; absent if it was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<RoleAssignmentProperties>,
}

impl From<GrantChange> for AuditChange {
    fn from(change: GrantChange) -> Self {
        Self {
            before: change.before.map(Into::into),
            after: change.after.map(Into::into),
        }
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn outcomes() -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some(
            "What came of it. `Allowed`: it was done or accepted. `Refused`: the caller is unknown, is not allowed to do this, or does it too often. `Failed`: it could not be done. `Unanswered`: it may have been done, since it was not known in time what comes of it; once it is, another event with the same `requestId` says so. `Unchanged`, that there was nothing to do, is only in the audit log.",
        ))
        .enum_values(Some(AuditOutcome::ALL.map(AuditOutcome::as_str)))
}

impl From<StoredAuditEvent> for AuditEventBody {
    fn from(stored: StoredAuditEvent) -> Self {
        let StoredAuditEvent { place, event } = stored;
        Self {
            name: place.to_string(),
            // Of its own, in whichever plane it is listed.
            r#type: "System.Resources/auditEvents",
            properties: AuditEventProperties {
                at: event.at.to_string(),
                caller: event.caller,
                peer: event.peer,
                action: event.action,
                id: event.id,
                outcome: event.outcome.as_str(),
                status: event.status,
                code: event.code,
                correlation_id: event.correlation_id.as_str().to_owned(),
                request_id: event.request_id,
                operation_id: event.operation.map(|id| id.to_string()),
                change: event.change.map(Into::into),
                paths: event.paths,
                suppressed: event.suppressed,
            },
        }
    }
}
