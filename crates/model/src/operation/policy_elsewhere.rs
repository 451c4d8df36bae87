//! What is said of a change that the policy of another group does not take.

use crate::{ErrorCode, Failure, PlanPolicy};

/// Returns the failure. Who makes the change may not read that group, so it is not named.
pub fn policy_elsewhere(policy: PlanPolicy) -> Failure {
    let (code, message) = match policy {
        PlanPolicy::Optional | PlanPolicy::Required => (
            ErrorCode::PlanRequired,
            "A reference of another resource group stands for the resource, and that group takes only changes that were planned. Nothing was sent. Ask for a plan with :whatIf, and name it with planId.",
        ),
        PlanPolicy::Approved | PlanPolicy::ApprovedByAnother => (
            ErrorCode::ApprovalRequired,
            "A reference of another resource group stands for the resource, and that group takes only changes whose plan was approved for it. Nothing was sent. Change the resource under its alias in that group, with a plan that was approved.",
        ),
    };
    Failure::new(code, message)
}
