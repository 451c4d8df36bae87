//! The use of plans.

use ucp_model::operation::{Kind, ResourceWork};
use ucp_model::{KeptPlan, Operation, OperationId, PlanPolicy, Timestamp};

use super::ended_at;
use crate::Error;

/// Returns the plan that an operation carries out from now on.
pub fn used_plan(
    plan: Option<KeptPlan>,
    member: Option<usize>,
    operation: OperationId,
    now: Timestamp,
) -> Result<KeptPlan, Error> {
    let plan = plan.ok_or(Error::NoSuchPlan)?;
    plan.judge_use(member, now).map_err(Error::PlanRefused)?;
    Ok(plan.used_by(operation, member))
}

/// Refuses a change that the policy of its group does not take.
pub fn judge_policy(policy: PlanPolicy, plan: Option<&KeptPlan>) -> Result<(), Error> {
    match (policy, plan) {
        (PlanPolicy::Optional, _) | (PlanPolicy::Required, Some(_)) => Ok(()),
        (PlanPolicy::Required | PlanPolicy::Approved, None) => Err(Error::PlanRequired),
        (PlanPolicy::Approved, Some(plan)) => match plan.is_approved() {
            true => Ok(()),
            false => Err(Error::ApprovalRequired),
        },
    }
}

/// Returns whether an operation changes something that the policy of its group is about.
pub fn is_change(work: &ResourceWork) -> bool {
    match work.kind {
        Kind::Put | Kind::Delete => work.reference.is_some(),
        Kind::Import | Kind::Resolve => false,
    }
}

/// Returns the plan after the end of the operation that has carried it out. `None` if that has not.
pub fn ended_plan(plan: KeptPlan, operation: &Operation) -> Option<KeptPlan> {
    let header = &operation.header;
    plan.ended_by(header.id, operation.ended()?, ended_at(header))
}
