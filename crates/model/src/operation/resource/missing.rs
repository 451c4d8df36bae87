//! Transitions while what a reference stands for is not found. Absence is a claim of AWS that must be proven before
//! anything is created in its place, or a reference ends.

use super::super::decision::{Effect, Listing, PlanOutcome, Presence};
use super::decision::{Decision, Moved};
use super::intent::Intent;
use super::looking;
use super::missed::missed;
use super::state::State;
use super::step::Step;
use super::submitting;
use crate::{ErrorCode, Failure, Identifier, RetryClass, Setback};

/// Goes on with the proof.
pub(super) fn resumed(step: &Step<'_>) -> Decision {
    let subject = step.operation.subject().cloned();
    list_first(step)
        .unwrap_or_else(|| Decision::then(Effect::Look(subject), "is it still not found?"))
}

/// Asks for a list of the type just before the look that would complete the proof.
pub(super) fn list_first(step: &Step<'_>) -> Option<Decision> {
    let subject = step.operation.subject()?;
    let list = || {
        Decision::then(
            Effect::List(subject.clone()),
            "does a list of the type hold it?",
        )
    };
    step.sightings.need_a_list(step.now).then(list)
}

/// Decides after another look.
pub(super) fn looked(
    step: &Step<'_>,
    intent: Option<&Intent>,
    presence: Presence,
    plan: PlanOutcome,
) -> Decision {
    if step.operation.looks_only {
        return looking::only(step, &presence);
    }
    match (presence, intent) {
        (Presence::Absent, Some(intent))
            if step.sightings.prove_absence(step.now)
                && submitting::may_be_in_flight(step, intent) =>
        {
            submitting::send_again(step, intent, "it does not exist: is the update in flight?")
        }
        (Presence::Absent, _)
            if step.sightings.prove_absence(step.now)
                && step.is_to_be_cancelled
                && !step.operation.deletes() =>
        {
            step.end(
                cancelled(step),
                None,
                "cancelled before anything was created in its place",
            )
        }
        (Presence::Absent, _) if step.sightings.prove_absence(step.now) => {
            looking::follow(step, None, plan)
        }
        (Presence::Absent, _) => missed(step, intent, "not found again"),
        (presence, Some(intent)) => looking::after_lost_reply(step, intent, presence, plan),
        (presence, None) => looking::at_first(step, presence, plan),
    }
}

/// Decides after a list of the type. Whatever it says, another look follows.
pub(super) fn listed(step: &Step<'_>, listing: &Listing) -> Decision {
    let look = |sightings, reason| {
        let state = step.operation.state.clone();
        let reads = matches!(state, State::Salvaging(..));
        let moved = Moved {
            attempt: step.operation.attempt,
            sightings,
            ..step.to(state)
        };
        if reads {
            moved.then_read(reason)
        } else {
            moved.then_look(reason)
        }
    };
    match listing {
        Listing::Unknown(fault)
            if fault.retry_class() == RetryClass::Later && !step.sightings.are_old(step.now) =>
        {
            step.retry(fault.retry_after, "the type cannot be listed yet")
        }
        Listing::Holds => look(step.sightings, "a list of the type holds it"),
        Listing::Lacks => look(step.sightings, "a list of the type lacks it too"),
        Listing::Unlisted | Listing::Unknown(_) => look(
            step.sightings.listed_as(false),
            "no list can tell whether it exists",
        ),
    }
}

/// The end of a put that was cancelled while it was being proven that its resource does not exist.
fn cancelled(step: &Step<'_>) -> Setback {
    let name = step.operation.subject().map_or("", Identifier::as_str);
    let message =
        format!("Cancelled. '{name}' does not exist, and nothing was created in its place.");
    Setback::Canceled(Failure::new(ErrorCode::Canceled, message))
}
