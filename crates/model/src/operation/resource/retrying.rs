//! Transitions of a change that waits for another try.

use serde_json::Value;

use super::super::decision::{PlanOutcome, Presence};
use super::concluding;
use super::decision::{Decision, Moved};
use super::looking;
use super::missed::missed;
use super::patience::{as_sentence, told};
use super::progressing::ended;
use super::retry_class::{Course, Left};
use super::sightings::{LOOKS_MIN, SETTLING_WINDOW};
use super::state::State;
use super::step::Step;
use super::tries::Retrying;
use crate::{Action, ErrorCode, Failure, Identifier, Ownership, Setback};

/// Decides after the look that precedes another try.
pub(super) fn looked(
    step: &Step<'_>,
    retrying: &Retrying,
    presence: Presence,
    plan: PlanOutcome,
) -> Decision {
    let Retrying {
        action,
        class,
        failure,
        is_named,
        ..
    } = retrying;
    let named = step.operation.identifier.clone().filter(|_| *is_named);
    let is_named_create = *action == Action::Create && *is_named;
    let as_told = || ended(step, *action, named, told(step, *action, failure.clone()));
    let left = match &presence {
        Presence::Unknown(_) => return looking::at_first(step, presence, plan),
        Presence::Absent if is_named_create && step.may_exist_yet() => {
            let state = step.operation.state.clone();
            return step.look_later(state, "what AWS named is not visible yet");
        }
        Presence::Absent if is_named_create && step.is_contradicted() => return as_told(),
        Presence::Unreadable(_) if is_named_create => return as_told(),
        // AWS refuses a second one of its name.
        Presence::Absent | Presence::Unreadable(_) => Left::Absent,
        Presence::Present { .. } => Left::Present,
    };
    // What AWS has named bears a declared name, which somebody else's may bear, too.
    let is_derived = is_named_create && step.operation.has_name;
    // It would bear the mark if this create had made it. Tags lag.
    if let (true, Presence::Present { ownership, .. }) =
        (is_derived && step.operation.marked, &presence)
        && *ownership == Ownership::Unmarked
        && step.now.since(step.operation.state_since) < SETTLING_WINDOW
    {
        return step.retry(None, "it does not bear the mark, which proves nothing yet");
    }
    match (class.course(*action, left), presence, plan) {
        (Course::Watch, Presence::Present { live, .. }, plan) => {
            watched(step, retrying, live, &plan)
        }
        // Nothing proves that it is ours, and it may be: the end leaves an entry in the register.
        (Course::GoOn, Presence::Present { ownership, .. }, _)
            if is_derived && !ownership.is_ours() =>
        {
            let failure = told(step, *action, failure.clone());
            step.to(State::Salvaging(*action, Setback::Failed(failure)))
                .then_read("it does not bear the mark: see what is left")
        }
        (Course::GoOn, Presence::Present { .. }, plan)
            if *action == Action::Create && !is_named =>
        {
            // The plan is made again when it is known whose the resource is.
            drop(plan);
            concluding::taken(step, None, failure.clone())
        }
        (Course::GoOn, Presence::Present { live, .. }, PlanOutcome::Replace { .. })
            if *action == Action::Create =>
        {
            let failure = told(step, *action, failure.clone());
            step.end(
                Setback::Failed(failure),
                Some(live),
                "it is not what was declared",
            )
        }
        (Course::Again | Course::GoOn, presence, plan) => match action {
            Action::Create => looking::follow_presence(step, presence, plan),
            Action::Update | Action::Delete => looking::at_first(step, presence, plan),
        },
        (Course::Succeed, _, _)
            if step.operation.must_prove_absence() && !step.sightings.prove_absence(step.now) =>
        {
            missed(step, None, "not found, which proves nothing yet")
        }
        (Course::Succeed, _, _) => concluding::deleted(step, "it is gone"),
        (Course::Unknown, _, _) => {
            let name = step.operation.subject().map_or("", Identifier::as_str);
            let message = format!(
                "AWS does not say what came of the {action}: {}: {} '{name}' is not there. Find out in AWS whether there is such a {} before putting it again: another put may make a second one.",
                failure.code,
                as_sentence(&failure.message),
                step.operation.type_name
            );
            let failure = Failure::new(ErrorCode::OutcomeUnknown, message)
                .with_additional_info(failure.additional_info.clone());
            match action {
                Action::Create => step.create_unknown(failure, "what came of it is not known"),
                Action::Update | Action::Delete => {
                    step.fail(failure, "what came of it is not known")
                }
            }
        }
        (Course::Watch | Course::Prove | Course::Follow | Course::Fail, _, _) => as_told(),
    }
}

/// Decides after a look at a resource that its handler gave up waiting for. It stands once it has been as declared for
/// as long as AWS may show what was before.
fn watched(step: &Step<'_>, retrying: &Retrying, live: Value, plan: &PlanOutcome) -> Decision {
    let watched = step.now.since(step.operation.state_since);
    let is_as_declared = matches!(plan, PlanOutcome::Nothing) && !step.operation.deletes();
    if is_as_declared && watched >= SETTLING_WINDOW && step.operation.attempt >= LOOKS_MIN {
        return Moved {
            retrying: None,
            ..step.to(State::Observing(retrying.action))
        }
        .then_read("it is as declared");
    }
    let bound = retrying.class.bound();
    if bound.is_some_and(|bound| watched < bound.time || step.operation.attempt < bound.tries) {
        return step.retry(None, "its handler gave up: watch it");
    }
    let failure = told(step, retrying.action, retrying.failure.clone());
    step.end(
        Setback::Failed(failure),
        Some(live),
        "it did not become as declared",
    )
}

/// Cancels a change that waits for another try. What the last one left must still be read.
pub(super) fn cancelled(step: &Step<'_>, retrying: &Retrying) -> Decision {
    let Retrying {
        action, failure, ..
    } = retrying;
    let message = format!(
        "Cancelled before another try of the {action}. The last one failed: {}: {}",
        failure.code,
        as_sentence(&failure.message)
    );
    let setback = Setback::Canceled(Failure::new(ErrorCode::Canceled, message));
    step.to(State::Salvaging(*action, setback))
        .then_read("cancelled before another try: see what is left")
}
