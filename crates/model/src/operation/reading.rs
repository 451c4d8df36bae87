//! AWS's verdict is in: what reading the resource afterwards means.

use super::decide::{Decision, Finish, MappingChange, Presence, Step};
use super::{Action, CONSISTENCY_BOUND, Replacing, State, replacing};
use crate::{Failure, Identifier, RetryClass};

/// How often absence is looked at again, however much time has passed.
const LOOKS_MIN: u32 = 3;

/// After a create or update that AWS reports as successful.
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
            step.fail(Failure::new("NotFound", message), "never became visible")
        }
        Presence::Unknown(fault) if fault.retry_class() == RetryClass::Later && within_bound => {
            step.retry(None, "the result cannot be read yet")
        }
        Presence::Unreadable | Presence::Unknown(_) => {
            succeed(step, None, "done, though it cannot be read")
        }
    }
}

fn succeed(step: &Step<'_>, live: Option<serde_json::Value>, reason: &'static str) -> Decision {
    if let Some(decision) = replacing::stands(step, live.as_ref()) {
        return decision;
    }
    let operation = step.operation;
    let mapping = MappingChange::Applied {
        owned: operation.created || operation.options.take_ownership,
    };
    let identifier = operation.identifier.clone();
    step.finish(
        Finish {
            state: State::Succeeded,
            identifier,
            mapping,
            live,
        },
        reason,
    )
}

/// After a change that ended without success and may have left something.
pub(super) fn salvaged(
    step: &Step<'_>,
    action: Action,
    failure: &Failure,
    presence: Presence,
) -> Decision {
    let end = replacing::terminal;
    let identifier = step.operation.identifier.clone();
    let replacing = step.operation.replacing.as_ref();
    match presence {
        Presence::Unknown(fault)
            if fault.retry_class() == RetryClass::Later && !step.out_of_patience() =>
        {
            step.retry(None, "what is left cannot be read yet")
        }
        Presence::Absent if step.operation.attempt < LOOKS_MIN => {
            step.retry(None, "nothing to see of it, yet")
        }
        Presence::Absent if matches!(replacing, Some(Replacing::NewFirst { .. })) => {
            step.end(end(failure.clone()), None, "the failed create left nothing")
        }
        Presence::Absent => {
            let finish = Finish {
                state: end(failure.clone()),
                // What a failed create named never was.
                identifier: identifier.filter(|_| action != Action::Create),
                mapping: MappingChange::Removed,
                live: None,
            };
            step.finish(finish, "nothing is left")
        }
        Presence::Present { .. } | Presence::Unreadable | Presence::Unknown(_)
            if let Some(Replacing::NewFirst { old, is_named }) = replacing =>
        {
            replacing::undo(step, old, *is_named, failure.clone())
        }
        Presence::Present { live, .. } if action != Action::Create => {
            step.end(end(failure.clone()), Some(live), "it is still there")
        }
        Presence::Unreadable | Presence::Unknown(_) if action != Action::Create => {
            step.end(end(failure.clone()), None, "what is left cannot be read")
        }
        Presence::Present { live, .. } => {
            let failure = left_behind(step, failure);
            step.end(
                end(failure),
                Some(live),
                "the failed create left a resource",
            )
        }
        Presence::Unreadable | Presence::Unknown(_) => {
            let failure = left_behind(step, failure);
            step.end(
                end(failure),
                None,
                "the failed create may have left a resource",
            )
        }
    }
}

/// The failure, naming what stays in AWS.
fn left_behind(step: &Step<'_>, failure: &Failure) -> Failure {
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
        failure.message
    );
    Failure {
        message,
        ..failure.clone()
    }
}
