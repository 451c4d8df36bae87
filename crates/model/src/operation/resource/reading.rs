//! Transitions after the read that follows the end of a Cloud Control request.

use std::time::Duration;

use serde_json::Value;

use super::super::decision::{Presence, ReferenceChange};
use super::decision::{Decision, Finish};
use super::replacement::Replacing;
use super::replacing;
use super::step::Step;
use crate::{Action, ErrorCode, Failure, Identifier, RetryClass, Setback};

/// How long "not found" after a confirmed create or update is attributed to eventual consistency.
pub const CONSISTENCY_BOUND: Duration = Duration::from_secs(60);

/// The minimum number of reads before absence is believed, however much time has passed.
const LOOKS_MIN: u32 = 3;

/// Decides after a create or update that AWS reports as successful.
pub(super) fn confirmed(step: &Step<'_>, action: Action, presence: Presence) -> Decision {
    let within_bound = step.operation.attempt < LOOKS_MIN
        || step.now.since(step.operation.state_since) < CONSISTENCY_BOUND;
    match presence {
        Presence::Present { live, .. } => succeed(step, Some(live), "done"),
        Presence::Absent if within_bound => step.retry(None, "not visible yet"),
        Presence::Absent => {
            let name = step
                .operation
                .identifier
                .as_ref()
                .map_or("", Identifier::as_str);
            let message = format!(
                "AWS reports that the {action} of '{name}' succeeded, but it is not found {} seconds later. Put it again to create it anew.",
                CONSISTENCY_BOUND.as_secs()
            );
            step.fail(
                Failure::new(ErrorCode::NotFound, message),
                "never became visible",
            )
        }
        Presence::Unknown(fault) if fault.retry_class() == RetryClass::Later && within_bound => {
            step.retry(None, "the result cannot be read yet")
        }
        Presence::Unreadable(_) | Presence::Unknown(_) => {
            succeed(step, None, "done, though it cannot be read")
        }
    }
}

fn succeed(step: &Step<'_>, live: Option<Value>, reason: &'static str) -> Decision {
    if let Some(decision) = replacing::stands(step, live.as_ref()) {
        return decision;
    }
    let owned = step.operation.created || step.operation.options.take_ownership;
    step.succeed(ReferenceChange::Applied { owned }, live, reason)
}

/// Decides after a change that ended without success and may have left a resource.
pub(super) fn salvaged(
    step: &Step<'_>,
    action: Action,
    setback: &Setback,
    presence: Presence,
) -> Decision {
    let operation = step.operation;
    let setback = setback.clone();
    let live = match presence {
        Presence::Unknown(fault)
            if fault.retry_class() == RetryClass::Later && !step.out_of_patience() =>
        {
            return step.retry(None, "what is left cannot be read yet");
        }
        Presence::Absent if operation.attempt < LOOKS_MIN => {
            return step.retry(None, "nothing is visible yet");
        }
        Presence::Absent => return nothing_left(step, action, setback),
        Presence::Present { live, .. } => Some(live),
        Presence::Unreadable(_) | Presence::Unknown(_) => None,
    };
    if let Some(Replacing::NewFirst { old, is_named }) = &operation.replacing
        && let Some(left) = &operation.identifier
    {
        return replacing::undo(step, left, old, *is_named, setback);
    }
    match (action, &live) {
        (Action::Update | Action::Delete, Some(_)) => step.end(setback, live, "it is still there"),
        (Action::Update | Action::Delete, None) => {
            step.end(setback, None, "what is left cannot be read")
        }
        (Action::Create, Some(_)) => step.end(
            left_behind(step, setback),
            live,
            "the failed create left a resource",
        ),
        (Action::Create, None) => step.end(
            left_behind(step, setback),
            None,
            "the failed create may have left a resource",
        ),
    }
}

fn nothing_left(step: &Step<'_>, action: Action, setback: Setback) -> Decision {
    if replacing::is_beside_old(step) {
        return step.end(setback, None, "the failed create left nothing");
    }
    let finish = Finish {
        ended: setback.into(),
        identifier: match action {
            // The resource that a failed create named never existed.
            Action::Create => None,
            Action::Update | Action::Delete => step.operation.identifier.clone(),
        },
        reference: ReferenceChange::Removed,
        live: None,
    };
    step.finish(finish, "nothing is left")
}

/// Adds to the message what is left in AWS.
fn left_behind(step: &Step<'_>, setback: Setback) -> Setback {
    let name = step
        .operation
        .identifier
        .as_ref()
        .map_or("", Identifier::as_str);
    let advice = if step.operation.reference.is_some() {
        "Put again to repair it, or delete it."
    } else {
        "Delete it."
    };
    let message = format!(
        "{} The failed create left '{name}' in AWS. {advice}",
        setback.failure().message
    );
    setback.told_as(message)
}
