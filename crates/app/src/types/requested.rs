//! The types and the references that requests name.

use std::sync::Arc;

use ucp_access::Right;
use ucp_model::{GroupId, ReferenceId, Scope, TypeName};
use ucp_schema::ResourceSchema;

use crate::{Caller, Rejection, TrackedBy, TypeCases};

impl TypeCases {
    /// Returns the schema of a type that a request names, in a region that it may name. The name of the type compares
    /// case-insensitively.
    pub(crate) async fn schema(
        &self,
        scope: &Scope,
        type_name: &TypeName,
    ) -> Result<Arc<ResourceSchema>, Rejection> {
        self.admit_region(scope)?;
        self.recorded_schema(scope, type_name).await
    }

    /// Returns the schema of the type of a reference. What there is can be deleted, in any region.
    pub(crate) async fn recorded_schema(
        &self,
        scope: &Scope,
        type_name: &TypeName,
    ) -> Result<Arc<ResourceSchema>, Rejection> {
        let schema = self.source.get(scope, type_name).await;
        schema.map_err(|unknown| Rejection::unknown_type(type_name, unknown))
    }

    /// Parses `trackedBy`: the id of a reference, or of a group in which `alias` names one. The type must be that of
    /// `schema`, whose canonical spelling it gets. The caller needs the right over its group.
    pub(crate) fn reference_id(
        &self,
        tracked_by: &TrackedBy,
        schema: &ResourceSchema,
        (caller, right): (&Caller, Right),
    ) -> Result<ReferenceId, Rejection> {
        let id = parsed(tracked_by, schema)?;
        let verb = match right {
            Right::Read => "read",
            Right::Write | Right::Approve | Right::ManageCredentials | Right::ManageAccess => {
                "write"
            }
        };
        let action = format!("{}/{verb}", id.arm_type());
        caller.judge_group(right, &id.group, &action)?;
        Ok(id)
    }
}

fn parsed(tracked_by: &TrackedBy, schema: &ResourceSchema) -> Result<ReferenceId, Rejection> {
    let TrackedBy { id, alias } = tracked_by;
    if let Ok(group) = id.parse::<GroupId>() {
        let alias = alias.as_deref().ok_or_else(|| {
            Rejection::bad_request(
                "/alias: is required, since trackedBy is the id of a resource group. Add it, or use the id of the reference.",
            )
        })?;
        let id = ReferenceId::new(group, schema.type_name().clone(), alias);
        return id
            .map_err(|error| Rejection::bad_request_at("/alias", format!("/alias: {error}.")));
    }
    let id: ReferenceId = id.parse().map_err(|error| {
        Rejection::bad_request_at("/trackedBy", format!("/trackedBy: {error}."))
    })?;
    if !id
        .type_name
        .as_str()
        .eq_ignore_ascii_case(schema.type_name().as_str())
    {
        return Err(Rejection::bad_request(format!(
            "/trackedBy: the type is {}, but that of the URL is {}. Use the same type in both.",
            id.type_name.arm(),
            schema.type_name().arm()
        )));
    }
    Ok(ReferenceId {
        type_name: schema.type_name().clone(),
        ..id
    })
}
