//! Deletes that carry out a plan.

use std::collections::BTreeMap;

use ucp_access::Right;
use ucp_look::PlannedMember;
use ucp_model::{PlanId, ReferenceId, Scope, TypeName};

use crate::plans::plan_to_apply::MemberToApply;
use crate::{Caller, Rejection, ResourceCases, Selector};

/// The resource that a request deletes by a plan.
pub(crate) struct PlannedDelete<'a> {
    pub(crate) plan: PlanId,
    pub(crate) scope: &'a Scope,
    pub(crate) type_name: &'a TypeName,
    /// What says which of those that the plan deletes is meant.
    pub(crate) resource: &'a Selector,
}

impl ResourceCases {
    /// Returns the member of a plan that a delete carries out, and its reference.
    pub(crate) async fn planned_delete(
        &self,
        delete: PlannedDelete<'_>,
        caller: &Caller,
    ) -> Result<(ReferenceId, MemberToApply), Rejection> {
        let PlannedDelete {
            plan,
            scope,
            type_name,
            resource,
        } = delete;
        let schema = self.types.recorded_schema(scope, type_name).await?;
        let reference = match resource {
            Selector::Reference(tracked_by) => Some(self.types.reference_id(
                tracked_by,
                &schema,
                (caller, Right::Write),
            )?),
            Selector::Name(_) | Selector::Parts(_) => None,
        };
        let names = |member: &PlannedMember| match (resource, &reference) {
            (_, Some(id)) => member
                .reference
                .as_ref()
                .is_some_and(|own| own.key() == id.key()),
            (Selector::Name(name), None) => {
                let identifier = member.identifier.as_ref();
                identifier.is_some_and(|identifier| identifier.as_str() == name)
            }
            // It does not say which.
            (Selector::Parts(parts), None) => parts.is_empty(),
            (Selector::Reference(_), None) => false,
        };
        let plan = self.plans.plan_to_apply(plan, caller).await?;
        let index = plan.the_only(|member| {
            member.put.is_none()
                && member.scope.is_same_place(scope)
                && member.type_name == *schema.type_name()
                && names(member)
        })?;
        let member = plan.members[index].clone();
        let Some(reference) = member.reference.clone() else {
            return Err(Rejection::plan_mismatch(
                "The plan names no reference to delete.",
            ));
        };
        let action = format!("{}/delete", reference.arm_type());
        caller.judge_group(Right::Write, &reference.group, &action)?;
        plan.judge_use(Some(index), self.ground.now())?;
        let to_apply = MemberToApply {
            used: plan.used(index),
            member,
            default_tags: BTreeMap::new(),
        };
        Ok((reference, to_apply))
    }
}
