//! Replacements: one operation that creates a new resource and deletes the old one, in either order. The alias stands
//! for the old one until the new one exists. Whatever fails, every resource left in AWS is referenced or named in the
//! message.

use serde_json::Value;

use super::super::decision::{Effect, Presence, ReferenceChange};
use super::super::persistence::{DELETE_TRIES_MAX, delete_again_after, tells_of_dependency};
use super::decision::{Decision, Finish, Moved};
use super::intent::{Call, Change, Intent};
use super::patience::as_sentence;
use super::replacement::{ReplacementOrder, Replacing};
use super::sightings::Sightings;
use super::state::State;
use super::step::Step;
use crate::{
    Action, Ended, ErrorCode, Failure, HandlerErrorCode, Identifier, LeftoverReason, NewLeftover,
    Ownership, Setback,
};

/// What becomes of a resource that could not be deleted.
const LEFT_OVER: &str =
    "among the leftovers of the resource group, and deleting it is tried again from there";

/// How to replace a resource with a name of its own.
const WAYS_OUT: &str = "Declare another name, or put with replacementPolicy deleteBeforeCreate, which deletes the old one first.";

/// Begins a planned replacement of `old`.
pub(super) fn begin(
    step: &Step<'_>,
    old: Identifier,
    order: ReplacementOrder,
    identifier: Option<Identifier>,
    changes: Vec<Change>,
) -> Decision {
    match order {
        ReplacementOrder::CreateBeforeDelete => {
            let intent = step.intend(Call::Create, None);
            let is_named = identifier.is_some();
            let moved = Moved {
                identifier,
                created: true,
                named: false,
                sightings: Sightings::default(),
                replacing: Some(Replacing::NewFirst { old, is_named }),
                planned: Some(changes),
                ..step.to(State::Submitting(intent.clone()))
            };
            moved.then(Effect::Submit(intent), "the new one first")
        }
        ReplacementOrder::DeleteBeforeCreate => {
            let replacing = Replacing::OldFirst;
            let reason = "the old one has to make room";
            delete(step, old, Some(replacing), changes, reason)
        }
    }
}

/// Deletes `identifier`, which is the subject at this step of the replacement.
fn delete(
    step: &Step<'_>,
    identifier: Identifier,
    replacing: Option<Replacing>,
    changes: Vec<Change>,
    reason: &'static str,
) -> Decision {
    // What was seen of the new resource says nothing about the old one.
    let is_seen = step.operation.subject() == Some(&identifier);
    let sightings = if is_seen {
        step.sightings
    } else {
        Sightings::default()
    };
    let intent = step.intend(Call::Delete(identifier), None);
    let moved = Moved {
        sightings,
        replacing,
        // It is another change than the one that was tried again.
        retrying: None,
        planned: Some(changes),
        ..step.to(State::Submitting(intent.clone()))
    };
    moved.then(Effect::Submit(intent), reason)
}

/// Decides after the new resource exists: the alias moves to it, and the old one is deleted if it is owned. Returns
/// `None` if there is nothing left to do.
pub(super) fn stands(step: &Step<'_>, live: Option<&Value>) -> Option<Decision> {
    let operation = step.operation;
    match &operation.replacing {
        Some(Replacing::NewFirst { old, .. }) if operation.identifier.as_ref() == Some(old) => {
            Some(names_old(step, old))
        }
        Some(Replacing::NewFirst { old, .. }) if operation.was_owned => Some(delete(
            step,
            old.clone(),
            Some(Replacing::OldLast {
                old: old.clone(),
                tries: 0,
            }),
            operation.changes.clone(),
            "the new one stands, so the old one can go",
        )),
        Some(Replacing::OldLeft { failure, leftover }) => {
            let finish = Finish {
                ended: Ended::Failed(failure.clone()),
                identifier: operation.identifier.clone(),
                reference: ReferenceChange::Applied { owned: true },
                live: live.cloned(),
                leftover: leftover.clone(),
                told: None,
            };
            Some(step.finish(finish, "the new one stands beside the old one"))
        }
        Some(
            Replacing::NewFirst { .. }
            | Replacing::OldFirst
            | Replacing::OldGone { .. }
            | Replacing::Lost { .. }
            | Replacing::OldLast { .. }
            | Replacing::Undoing { .. },
        )
        | None => None,
    }
}

/// Decides after AWS has dropped a part of the new resource, which requires proof: it does not take the place of the old
/// one. It is deleted if it is proven that the create has made it: a create of a name may succeed with what there was.
/// Returns `None` if the old one is gone.
pub(super) fn unproven(
    step: &Step<'_>,
    ownership: Option<&Ownership>,
    failure: &Failure,
) -> Option<Decision> {
    let Some(Replacing::NewFirst { old, is_named }) = &step.operation.replacing else {
        return None;
    };
    let new = step.operation.identifier.as_ref()?;
    if new == old {
        return None;
    }
    let setback = Setback::Failed(failure.clone());
    let is_named = *is_named || step.operation.has_name;
    if !has_made(step, ownership, old, is_named) {
        return Some(spared(step, new, old, setback));
    }
    let message = format!(
        "{} The alias still stands for '{old}', and '{new}', which was to take its place, is not kept.",
        failure.message
    );
    Some(undo(step, new, old, setback.told_as(message)))
}

/// Returns whether it is proven that the create of this operation has made what has its identifier, beside `old`:
/// the resource bears the mark of this very create, or it bears none and AWS has named it in an event other than the
/// refusal of a second one. An event that repeats a declared name (`is_named`) is no proof, and neither is the mark of
/// the reference, which the old resource bears too. `ownership` is `None` if the resource cannot be read.
pub(super) fn has_made(
    step: &Step<'_>,
    ownership: Option<&Ownership>,
    old: &Identifier,
    is_named: bool,
) -> bool {
    let operation = step.operation;
    let is_old = operation.identifier.as_ref() == Some(old);
    !is_old
        && match ownership {
            Some(Ownership::Made) => true,
            Some(Ownership::Ours | Ownership::Others) => false,
            Some(Ownership::Unmarked) | None => operation.named && !is_named,
        }
}

/// Decides after the create beside `old` failed and left `left`, or met it. If it is proven that the create has made it, it
/// is deleted. If not, it may be someone else's and is only named in the message.
pub(super) fn left(
    step: &Step<'_>,
    left: &Identifier,
    ownership: Option<&Ownership>,
    (old, is_named): (&Identifier, bool),
    setback: Setback,
) -> Decision {
    if has_made(step, ownership, old, is_named || step.operation.has_name) {
        undo(step, left, old, setback)
    } else {
        spared(step, left, old, setback)
    }
}

/// Deletes what the create of this operation has made beside `old`.
fn undo(step: &Step<'_>, left: &Identifier, old: &Identifier, setback: Setback) -> Decision {
    // A later look may not be able to prove it.
    let replacing = Replacing::Undoing {
        old: old.clone(),
        setback,
        tries: 0,
        is_proven: true,
    };
    let changes = step.operation.changes.clone();
    let reason = "what the failed create left has to go";
    delete(step, left.clone(), Some(replacing), changes, reason)
}

/// Judges again what is about to be deleted because a create seems to have left it beside the old resource: an earlier
/// version may have decided that by the mark of the reference alone. Returns `None` if it is to be deleted, or if
/// nothing of the kind is under way.
pub(super) fn spare(step: &Step<'_>, presence: &Presence) -> Option<Decision> {
    let left = step.operation.identifier.as_ref()?;
    let (old, setback, is_proven) = match &step.operation.replacing {
        Some(Replacing::OldLast { old, .. }) if left == old => return Some(names_old(step, old)),
        Some(Replacing::Undoing { old, setback, .. }) if left == old => {
            return Some(met_old(step, old, setback.clone()));
        }
        Some(Replacing::Undoing {
            old,
            setback,
            is_proven,
            ..
        }) => (old, setback, *is_proven),
        Some(
            Replacing::OldFirst
            | Replacing::OldGone { .. }
            | Replacing::Lost { .. }
            | Replacing::NewFirst { .. }
            | Replacing::OldLast { .. }
            | Replacing::OldLeft { .. },
        )
        | None => return None,
    };
    let ownership = match presence {
        Presence::Present { ownership, .. } => Some(ownership),
        Presence::Unreadable(_) => None,
        Presence::Absent | Presence::Unknown(_) => return None,
    };
    if is_proven_by(ownership, is_proven) {
        None
    } else {
        Some(spared(step, left, old, setback.clone()))
    }
}

/// Returns whether what a create has left may be deleted: it is proven that the create made it, and it does not bear the mark of
/// another one.
fn is_proven_by(ownership: Option<&Ownership>, was_proven: bool) -> bool {
    match ownership {
        Some(Ownership::Made) => true,
        Some(Ownership::Ours | Ownership::Others) => false,
        Some(Ownership::Unmarked) | None => was_proven,
    }
}

/// Ends without deleting what the create has met or left, which may not be ours.
fn spared(step: &Step<'_>, left: &Identifier, old: &Identifier, setback: Setback) -> Decision {
    let message = format!(
        "{} AWS now has '{left}', which the failed create may have left; it was not deleted, since it may not be ours. '{old}' was left as it was.",
        as_sentence(&setback.failure().message),
    );
    let setback = setback.told_as(message);
    let kept = keep(step, old, setback, "what is left may be somebody else's");
    kept.leaving(NewLeftover {
        identifier: Some(left.clone()),
        reason: LeftoverReason::Salvage,
        error: None,
        create: None,
    })
}

/// Ends without deleting what the failed create has left: another reference has come to stand for it. `None` if nothing of the kind
/// is about to be deleted.
pub(super) fn left_to_others(step: &Step<'_>, left: &Identifier) -> Option<Decision> {
    let operation = step.operation;
    let (old, setback) = match (&operation.replacing, &operation.state) {
        (Some(Replacing::NewFirst { old, .. }), State::Salvaging(_, setback)) if left != old => {
            (old, setback.clone())
        }
        (Some(Replacing::Undoing { old, setback, .. }), _) => (old, setback.clone()),
        _ => return None,
    };
    let message = format!(
        "{} The create left '{left}' in AWS. It was not deleted, since another reference stands for it by now. '{old}' was left as it was.",
        as_sentence(&setback.failure().message),
    );
    let setback = setback.told_as(message);
    Some(keep(
        step,
        old,
        setback,
        "another reference stands for what is left",
    ))
}

/// Ends after AWS has reported the success of the create, and has named what there was.
fn names_old(step: &Step<'_>, old: &Identifier) -> Decision {
    let message = format!("AWS reports that the create succeeded, but names '{old}'.");
    let failure = Failure::new(HandlerErrorCode::AlreadyExists.as_str(), message);
    met_old(step, old, Setback::Failed(failure))
}

/// Ends after the create has met the old resource, which has a name that the new one declares too.
pub(super) fn met_old(step: &Step<'_>, old: &Identifier, setback: Setback) -> Decision {
    let message = format!(
        "{} '{old}', which the alias stands for, has the name that the new one declares, and AWS has a name only once. {WAYS_OUT} '{old}' was left as it was.",
        as_sentence(&setback.failure().message),
    );
    let setback = setback.told_as(message);
    keep(step, old, setback, "the old one has the name")
}

/// Ends after AWS has refused the create beside the old resource because of one that it does not name, and that this create has not
/// made.
pub(super) fn met_unnamed(
    step: &Step<'_>,
    old: &Identifier,
    setback: Setback,
    reason: &'static str,
) -> Decision {
    let message = format!(
        "{} The name may be that of '{old}', which the alias stands for. {WAYS_OUT} '{old}' was left as it was.",
        as_sentence(&setback.failure().message),
    );
    keep(step, old, setback.told_as(message), reason)
}

/// The next step of the replacement after the old resource is deleted.
pub(super) fn made_room(step: &Step<'_>) -> Option<Replacing> {
    let old = step.operation.identifier.clone()?;
    Some(Replacing::OldGone { old })
}

/// The replacement of a resource that is proven not to exist, before the new one is created.
pub(super) fn in_place_of_lost(step: &Step<'_>) -> Option<Replacing> {
    let old = step.operation.identifier.clone()?;
    Some(Replacing::Lost { old })
}

/// Returns whether the new resource takes the place of one that was lost.
pub(super) fn is_for_lost(step: &Step<'_>) -> bool {
    matches!(step.operation.replacing, Some(Replacing::Lost { .. }))
}

/// Returns whether a new resource is being created beside the old one, which is kept if that fails.
pub(super) fn is_beside_old(step: &Step<'_>) -> bool {
    matches!(step.operation.replacing, Some(Replacing::NewFirst { .. }))
}

/// Returns whether a new resource is being created while the old one is still referenced.
pub(super) fn is_old_referenced(step: &Step<'_>) -> bool {
    matches!(
        step.operation.replacing,
        Some(Replacing::NewFirst { .. } | Replacing::Lost { .. })
    )
}

/// Decides after the resource to delete is gone.
pub(super) fn deleted(step: &Step<'_>, replacing: &Replacing, reason: &'static str) -> Decision {
    match replacing {
        Replacing::OldFirst => Moved {
            identifier: None,
            created: false,
            replacing: made_room(step),
            retrying: None,
            ..step.to(State::Accepted)
        }
        .then_look("there is room for the new one"),
        Replacing::OldLast { .. } => Moved {
            sightings: Sightings::default(),
            replacing: None,
            retrying: None,
            ..step.to(State::Observing(Action::Create))
        }
        .then_read("only the new one is left"),
        Replacing::Undoing { old, setback, .. } => keep(step, old, setback.clone(), reason),
        Replacing::NewFirst { .. }
        | Replacing::OldGone { .. }
        | Replacing::Lost { .. }
        | Replacing::OldLeft { .. } => Decision::ignore("nothing was to be deleted"),
    }
}

/// Ends without success.
pub(super) fn end(
    step: &Step<'_>,
    replacing: &Replacing,
    setback: Setback,
    live: Option<Value>,
    reason: &'static str,
) -> Decision {
    let new = step.operation.identifier.as_ref();
    let shown = new.map_or("", Identifier::as_str);
    match replacing {
        Replacing::OldFirst | Replacing::OldGone { .. } => {
            step.end_unreplaced(setback, live, reason)
        }
        // What was created in its place exists, and is ours.
        Replacing::Lost { .. }
            if live.is_some() && (step.operation.is_ours() || step.operation.bears_mark) =>
        {
            step.end_at_new(setback, live, reason)
        }
        Replacing::NewFirst { old, .. } | Replacing::Lost { old } => {
            keep(step, old, setback, reason)
        }
        Replacing::OldLeft { failure, leftover } => {
            let finish = Finish {
                ended: Ended::Failed(failure.clone()),
                identifier: step.operation.identifier.clone(),
                reference: ReferenceChange::Kept { owned: true },
                live,
                leftover: leftover.clone(),
                told: None,
            };
            step.finish(finish, reason)
        }
        Replacing::OldLast { .. } | Replacing::Undoing { .. }
            if let Some(again) = delete_again(step, replacing, &setback) =>
        {
            again
        }
        Replacing::Undoing {
            old,
            setback: first,
            ..
        } => {
            let cause = setback.failure();
            let message = format!(
                "{} The create left '{shown}' in AWS, and deleting it failed ({}). It is {LEFT_OVER}. '{old}' was left as it was.",
                first.failure().message,
                in_words(cause)
            );
            let kept = keep(step, old, first.clone().told_as(message), reason);
            match new {
                Some(new) => kept.leaving(undeleted(new, cause)),
                None => kept,
            }
        }
        Replacing::OldLast { old, .. } => {
            let cause = setback.failure();
            let message = format!(
                "'{shown}' has taken the place of '{old}', but deleting '{old}' failed ({}). It is {LEFT_OVER}.",
                in_words(cause)
            );
            let failure = Failure::new(ErrorCode::PartiallyApplied, message)
                .with_additional_info(cause.additional_info.clone());
            let leftover = Some(undeleted(old, cause));
            Moved {
                replacing: Some(Replacing::OldLeft { failure, leftover }),
                ..step.to(State::Observing(Action::Create))
            }
            .then_read("the new one stands beside the old one")
        }
    }
}

/// Ends with the alias still standing for the old resource.
fn keep(step: &Step<'_>, old: &Identifier, setback: Setback, reason: &'static str) -> Decision {
    let finish = Finish {
        ended: setback.into(),
        identifier: Some(old.clone()),
        reference: ReferenceChange::Kept { owned: false },
        live: None,
        leftover: None,
        told: None,
    };
    step.finish(finish, reason)
}

/// Tries a delete again that failed because something depends on the resource, as the deletion of a group does. Other
/// reasons that pass have been waited for before. `None` if it has been tried often enough.
fn delete_again(step: &Step<'_>, replacing: &Replacing, setback: &Setback) -> Option<Decision> {
    let (Replacing::OldLast { tries, .. } | Replacing::Undoing { tries, .. }) = replacing else {
        return None;
    };
    let may_pass = match setback {
        Setback::Failed(failure) => tells_of_dependency(failure),
        Setback::Canceled(_) => false,
    };
    let tries = tries.saturating_add(1);
    if !may_pass || tries >= DELETE_TRIES_MAX {
        return None;
    }
    let replacing = match replacing.clone() {
        Replacing::OldLast { old, .. } => Replacing::OldLast { old, tries },
        Replacing::Undoing {
            old,
            setback,
            is_proven,
            ..
        } => Replacing::Undoing {
            old,
            setback,
            tries,
            is_proven,
        },
        other @ (Replacing::OldFirst
        | Replacing::OldGone { .. }
        | Replacing::Lost { .. }
        | Replacing::NewFirst { .. }
        | Replacing::OldLeft { .. }) => other,
    };
    let subject = step.operation.subject()?.clone();
    // Nothing is sent yet.
    let intent = Intent {
        unanswered: 0,
        ..step.intend(Call::Delete(subject), None)
    };
    let moved = Moved {
        replacing: Some(replacing),
        planned: Some(step.operation.changes.clone()),
        retrying: None,
        due_at: step.now.after(delete_again_after(tries)),
        ..step.to(State::Submitting(intent))
    };
    Some(moved.wait("what could not be deleted is tried again"))
}

/// What is left because deleting it failed.
fn undeleted(left: &Identifier, cause: &Failure) -> NewLeftover {
    NewLeftover {
        identifier: Some(left.clone()),
        reason: LeftoverReason::Undeleted,
        error: Some(cause.clone()),
        create: None,
    }
}

fn in_words(cause: &Failure) -> String {
    let message = cause.message.trim_end_matches('.');
    format!("{}: {message}", cause.code)
}
