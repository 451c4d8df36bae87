//! Transitions while it is searched for what a failed create may have made. Until the settling window has passed, that
//! nothing bears the mark proves nothing.

use std::time::Duration;

use super::super::decision::{Effect, Search};
use super::concluding::taken;
use super::decision::{Decision, Moved};
use super::intent::Call;
use super::patience::{as_sentence, told};
use super::progressing::{go_on, send_anew};
use super::retry_class::{Class, Course, Left};
use super::sightings::{SETTLING_WINDOW, Sightings};
use super::state::State;
use super::step::Step;
use super::tries::Retrying;
use super::{replacing, retrying};
use crate::{Action, ErrorCode, Failure, Identifier, RetryClass, Setback};

/// How many searches in a row must find nothing.
const SEARCHES_MIN: u32 = 3;
/// When it is searched for the second time.
const SOON: Duration = Duration::from_secs(5);
/// How long it goes on while AWS cannot be asked.
const LONGEST: Duration = Duration::from_secs(15 * 60);

/// Decides after a search. The failure of the create calls for `class`.
pub(super) fn searched(
    step: &Step<'_>,
    setback: &Setback,
    class: Class,
    search: Search,
) -> Decision {
    // Mostly a denial is all that came of it, and who was denied shall know at once.
    let is_once = class == Class::Permission && !step.may_be_permitted_soon();
    let settled_at = step.operation.state_since.after(SETTLING_WINDOW);
    let may_be_searchable_yet = step.now < settled_at || step.operation.attempt < SEARCHES_MIN;
    match search {
        Search::Found(identifier) => found(step, setback, class, identifier),
        Search::More | Search::Lacks { .. } | Search::Unknown(_) if is_once => {
            not_found(step, setback, class, Left::Unnamed)
        }
        Search::More => step
            .to(step.operation.state.clone())
            .then(Effect::Search, "the search is not over"),
        // Each search can be many calls, so there are few: at once, soon, and when AWS shows what there is.
        Search::Lacks { began_at }
            if began_at < settled_at || step.sightings.missed < SEARCHES_MIN =>
        {
            let soon = step.now.after(SOON);
            let due_at = match step.sightings.missed {
                0 | 1 => soon,
                _ => soon.max(settled_at),
            };
            let moved = Moved {
                due_at,
                ..step.to(step.operation.state.clone())
            };
            moved.wait("nothing that bears the mark is visible yet")
        }
        Search::Lacks { .. } => not_found(step, setback, class, Left::Absent),
        Search::Unknown(fault)
            if may_be_searchable_yet
                || fault.retry_class() == RetryClass::Later
                    && !step.is_to_be_cancelled
                    && step.now.since(step.operation.state_since) < LONGEST =>
        {
            step.retry(fault.retry_after, "it cannot be searched for yet")
        }
        // What the create has made may be among those that were not seen.
        Search::TooMany
            if matches!(setback, Setback::Failed(_))
                && class.course(Action::Create, Left::Unnamed) == Course::Again =>
        {
            unknown(
                step,
                setback.failure().clone(),
                "there are too many to search",
            )
        }
        Search::TooMany | Search::Unsearchable | Search::Unknown(_) => {
            not_found(step, setback, class, Left::Unnamed)
        }
    }
}

/// Decides after a search has found what the create made.
fn found(step: &Step<'_>, setback: &Setback, class: Class, identifier: Identifier) -> Decision {
    let failure = setback.failure();
    let keep = |setback| {
        let moved = Moved {
            identifier: Some(identifier.clone()),
            named: true,
            sightings: Sightings::since(Some(step.now)),
            searching: None,
            ..step.to(State::Salvaging(Action::Create, setback))
        };
        moved.then_read("the failed create has made a resource, which bears its mark")
    };
    match (setback, class.course(Action::Create, Left::Present)) {
        (Setback::Canceled(_), _) => keep(setback.clone()),
        (Setback::Failed(_), _) if step.is_to_be_cancelled => {
            let message = format!(
                "Cancelled after the create had failed: {}: {}",
                failure.code,
                as_sentence(&failure.message)
            );
            keep(Setback::Canceled(Failure::new(
                ErrorCode::Canceled,
                message,
            )))
        }
        // A replacement gives up what is half made, and keeps the old resource.
        (Setback::Failed(_), _) if replacing::is_beside_old(step) => keep(setback.clone()),
        (Setback::Failed(_), course @ (Course::GoOn | Course::Watch | Course::Prove)) => {
            // What was in the way is what the create itself made, as its mark proves.
            let is_taken = course == Course::Prove;
            let class = if is_taken {
                Class::LookThenAgain
            } else {
                class
            };
            let retrying = Retrying::after(step, Action::Create, class, failure.clone(), true);
            match retrying {
                Some(retrying) => go_on(step, retrying, Some(identifier)),
                None => keep(Setback::Failed(told(step, Action::Create, failure.clone()))),
            }
        }
        (
            Setback::Failed(_),
            Course::Again | Course::Follow | Course::Succeed | Course::Unknown | Course::Fail,
        ) => keep(Setback::Failed(told(step, Action::Create, failure.clone()))),
    }
}

/// Decides after searches have found nothing, or cannot tell.
fn not_found(step: &Step<'_>, setback: &Setback, class: Class, left: Left) -> Decision {
    const REASON: &str = "the create failed and named nothing";
    let failure = setback.failure().clone();
    if let Setback::Canceled(_) = setback {
        return step.end_create(setback.clone(), None, REASON);
    }
    match class.course(Action::Create, left) {
        Course::Again => {
            match Retrying::after(step, Action::Create, class, failure.clone(), false) {
                Some(again) if step.is_to_be_cancelled => retrying::cancelled(step, &again),
                Some(again) => send_anew(step, &Call::Create, None, again),
                None => {
                    let failure = told(step, Action::Create, failure);
                    step.end_create(Setback::Failed(failure), None, REASON)
                }
            }
        }
        Course::Unknown => unknown(step, failure, "nothing that bears the mark was found"),
        Course::Prove => taken(step, None, failure),
        Course::GoOn | Course::Watch | Course::Follow | Course::Succeed | Course::Fail => {
            let failure = told(step, Action::Create, failure);
            step.end_create(Setback::Failed(failure), None, REASON)
        }
    }
}

/// Ends with the outcome of the create unknown, after it failed so.
fn unknown(step: &Step<'_>, failure: Failure, reason: &'static str) -> Decision {
    let failure = if failure.code == ErrorCode::OutcomeUnknown.as_str() {
        failure
    } else {
        let message = format!(
            "AWS does not say what came of the create: {}: {} Find out in AWS whether there is such a {} before putting it again: another put may make a second one.",
            failure.code,
            as_sentence(&failure.message),
            step.operation.type_name
        );
        Failure::new(ErrorCode::OutcomeUnknown, message)
            .with_additional_info(failure.additional_info)
    };
    step.create_unknown(failure, reason)
}
