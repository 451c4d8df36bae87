//! The use of plans.

use ucp_model::operation::{Kind, ResourceWork, State};
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

/// Refuses an operation that the policy of its group does not take. One that [lowers the protection](crate::NewOperation::lowers_protection)
/// takes a plan that was approved.
pub fn judge_operation(
    policy: PlanPolicy,
    plan: Option<&KeptPlan>,
    lowers_protection: bool,
) -> Result<(), Error> {
    let is_approved = plan.is_some_and(|plan| is_approved(policy, plan));
    judge_forgetting(policy, lowers_protection && !is_approved)?;
    judge_policy(policy, plan)
}

/// Refuses a change that the policy of its group does not take.
pub fn judge_policy(policy: PlanPolicy, plan: Option<&KeptPlan>) -> Result<(), Error> {
    match (policy, plan) {
        (PlanPolicy::Optional, _) | (PlanPolicy::Required, Some(_)) => Ok(()),
        (_, None) => Err(Error::PlanRequired),
        (PlanPolicy::Approved | PlanPolicy::ApprovedByAnother, Some(plan)) => {
            if is_approved(policy, plan) {
                Ok(())
            } else {
                Err(Error::ApprovalRequired)
            }
        }
    }
}

/// Returns whether the plan is approved as the policy asks for it.
fn is_approved(policy: PlanPolicy, plan: &KeptPlan) -> bool {
    match policy {
        PlanPolicy::Optional | PlanPolicy::Required | PlanPolicy::Approved => plan.is_approved(),
        PlanPolicy::ApprovedByAnother => plan.is_approved_by_another(),
    }
}

/// Refuses a change of an AWS resource that the policy of another group does not take, one that has a reference to it. What
/// was approved was approved for another group.
pub fn judge_policy_elsewhere(policy: PlanPolicy, is_planned: bool) -> Result<(), Error> {
    match (policy, is_planned) {
        (PlanPolicy::Optional, _) | (PlanPolicy::Required, true) => Ok(()),
        (PlanPolicy::Required, false)
        | (PlanPolicy::Approved | PlanPolicy::ApprovedByAnother, _) => {
            Err(Error::PolicyElsewhere(policy))
        }
    }
}

/// Refuses to forget a reference of a group with a policy, which protects what the reference stands for.
pub fn judge_forgetting(policy: PlanPolicy, keeps_plan_policy: bool) -> Result<(), Error> {
    if keeps_plan_policy && !policy.is_optional() {
        Err(Error::PolicyLowered)
    } else {
        Ok(())
    }
}

/// Returns whether an operation changes something that the policies of groups are about.
pub fn is_change(work: &ResourceWork) -> bool {
    match work.kind {
        Kind::Put | Kind::Delete => true,
        Kind::Import | Kind::Resolve => false,
    }
}

/// Returns whether a step to an [unchecked target](super::unchecked_target) records the first call of the operation. Policies
/// are judged before anything is sent, and not again.
pub fn begins_change(work: &ResourceWork) -> bool {
    match &work.state {
        // One whose reply was lost waits in the same state for another attempt.
        State::Submitting(intent) => {
            intent.unanswered <= 1 && work.attempt == 0 && work.retrying.is_none()
        }
        State::Accepted
        | State::Missing(_)
        | State::Waiting(..)
        | State::Observing(_)
        | State::Salvaging(..)
        | State::Adopting(_)
        | State::Ended(_) => false,
    }
}

/// Returns the plan after the end of the operation that has carried it out. `None` if that has not.
pub fn ended_plan(plan: KeptPlan, operation: &Operation) -> Option<KeptPlan> {
    let header = &operation.header;
    plan.ended_by(header.id, operation.ended()?, ended_at(header))
}
