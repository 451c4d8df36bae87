//! How a change ends in the resource: a delete leaves none, a create leaves one, or meets another's.

use super::super::decision::ReferenceChange;
use super::decision::{Decision, Moved};
use super::missed::missed;
use super::replacement::Replacing;
use super::replacing;
use super::retry_class::{Problem, retry_class};
use super::state::State;
use super::step::Step;
use crate::{Action, Failure, HandlerErrorCode, Identifier, Setback};

/// Decides after the resource to delete is gone.
pub(super) fn deleted(step: &Step<'_>, reason: &'static str) -> Decision {
    match &step.operation.replacing {
        Some(replacing) => replacing::deleted(step, replacing, reason),
        None => step.succeed(ReferenceChange::Removed, None, reason),
    }
}

/// Decides after AWS did not find the resource to delete. If a reference stands for it, or it is ours, that is proof only
/// together with what looks find.
pub(super) fn not_found(step: &Step<'_>) -> Decision {
    if !step.operation.must_prove_absence() {
        return deleted(step, "already gone");
    }
    let step = Step {
        sightings: step.sightings.missed_at(step.now),
        ..*step
    };
    if step.sightings.prove_absence(step.now) {
        return deleted(&step, "already gone");
    }
    missed(
        &step,
        None,
        "AWS does not find it, which proves nothing yet",
    )
}

/// Decides after a create ended without success. A resource that AWS named may exist.
pub(super) fn create_ended(
    step: &Step<'_>,
    revealed: Option<Identifier>,
    setback: Setback,
) -> Decision {
    let leaves_made = leaves_made(&setback);
    // What is derived from a declared name may be somebody else's.
    let is_told =
        is_told(step, revealed.as_ref(), leaves_made) && (leaves_made || !step.operation.has_name);
    let named = step.operation.named || is_told;
    let identifier = revealed.or_else(|| step.operation.identifier.clone());
    let reason = match (&identifier, named) {
        (None, _) => {
            return step.end_create(setback, None, "the create failed and named nothing");
        }
        (Some(_), true) => "the create failed but named a resource",
        (Some(_), false) => "the create failed: is there something of its name?",
    };
    let moved = Moved {
        identifier,
        named,
        ..step.to(State::Salvaging(Action::Create, setback))
    };
    moved.then_read(reason)
}

/// Returns whether an event of a create tells a name. What repeats a declared one tells none, unless the code says that the create
/// was under way.
pub(super) fn is_told(step: &Step<'_>, revealed: Option<&Identifier>, leaves_made: bool) -> bool {
    let declared = step.operation.identifier.as_ref();
    revealed.is_some_and(|revealed| {
        let is_repeated = declared.is_some_and(|declared| declared.is_spelled_like(revealed));
        leaves_made || !is_repeated
    })
}

/// Returns whether a create that ended so was under way.
pub(super) fn leaves_made(setback: &Setback) -> bool {
    match setback {
        Setback::Canceled(_) => true,
        Setback::Failed(failure) => {
            let code = HandlerErrorCode::of(&failure.code);
            retry_class(&Problem::Failed(code), Action::Create).leaves_made()
        }
    }
}

/// Decides after a create was refused because its identifier belongs to another resource: `revealed`, if AWS names it.
pub(super) fn taken(step: &Step<'_>, revealed: Option<Identifier>, failure: Failure) -> Decision {
    let operation = step.operation;
    let named = operation.identifier.is_none() && revealed.is_some();
    let identifier = operation.identifier.clone().or(revealed);
    let replacing = match (&operation.replacing, &identifier) {
        // What seemed to be lost is there.
        (Some(Replacing::Lost { old }), Some(identifier)) if identifier == old => None,
        (replacing, None) => {
            const REASON: &str = "something else stands in the way";
            let setback = Setback::Failed(failure);
            return match replacing {
                Some(Replacing::NewFirst { old, .. }) => {
                    replacing::met_unnamed(step, old, setback, REASON)
                }
                Some(
                    Replacing::OldFirst
                    | Replacing::OldGone { .. }
                    | Replacing::Lost { .. }
                    | Replacing::OldLast { .. }
                    | Replacing::OldLeft { .. }
                    | Replacing::Undoing { .. },
                )
                | None => step.end_create(setback, None, REASON),
            };
        }
        (Some(Replacing::NewFirst { old, .. }), Some(identifier)) if identifier == old => {
            return replacing::met_old(step, old, Setback::Failed(failure));
        }
        (Some(Replacing::NewFirst { .. } | Replacing::Lost { .. }), Some(_)) => {
            let setback = Setback::Failed(failure);
            let moved = Moved {
                identifier,
                ..step.to(State::Salvaging(Action::Create, setback))
            };
            return moved.then_read("something has the new identifier: is it ours?");
        }
        (other, Some(_)) => other.clone(),
    };
    let moved = Moved {
        identifier,
        created: false,
        named,
        replacing,
        ..step.to(State::Adopting(failure))
    };
    moved.then_look("the identifier is taken")
}
