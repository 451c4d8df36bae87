//! Transitions after the read that follows the end of a Cloud Control request.

use serde_json::Value;

use super::super::decision::{Presence, ReferenceChange};
use super::decision::Decision;
use super::replacement::Replacing;
use super::retry_class::{Class, Problem, retry_class};
use super::sightings::{LOOKS_MIN, SETTLING_WINDOW};
use super::step::Step;
use super::{concluding, marking, replacing};
use crate::{
    Action, AdditionalInfo, ErrorCode, Failure, HandlerErrorCode, Identifier, LeftoverReason,
    NewLeftover, Ownership, RetryClass, Setback,
};

/// Decides after a create or update that AWS reports as successful.
pub(super) fn confirmed(step: &Step<'_>, action: Action, presence: Presence) -> Decision {
    let within_bound = step.operation.attempt < LOOKS_MIN
        || step.now.since(step.operation.state_since) < SETTLING_WINDOW;
    match presence {
        // It may be a read that lags, or AWS's own form of what was sent.
        Presence::Present { .. } if step.operation.attempt < LOOKS_MIN && differs(step) => {
            step.retry(None, "AWS shows something else")
        }
        Presence::Present { .. } if within_bound && !dropped(step).is_empty() => {
            step.retry(None, "AWS shows what was there before")
        }
        Presence::Present {
            live, ownership, ..
        } => succeed(step, Some((live, &ownership)), "done"),
        Presence::Absent if step.may_show_yet() => {
            step.look_later(step.operation.state.clone(), "not visible yet")
        }
        Presence::Absent => never_visible(step, action),
        Presence::Unknown(fault) if fault.retry_class() == RetryClass::Later && within_bound => {
            step.retry(None, "the result cannot be read yet")
        }
        Presence::Unreadable(_) | Presence::Unknown(_) => {
            succeed(step, None, "done, though it cannot be read")
        }
    }
}

fn never_visible(step: &Step<'_>, action: Action) -> Decision {
    const REASON: &str = "never became visible";
    let name = name_of(step);
    let message = format!(
        "AWS reports that the {action} of '{name}' succeeded, but it is not found {} seconds later. Put it again to create it anew.",
        SETTLING_WINDOW.as_secs()
    );
    let failure = Failure::new(ErrorCode::NotFound, message);
    if action == Action::Create && replacing::is_for_lost(step) {
        return step.end_at_new(Setback::Failed(failure), None, REASON);
    }
    step.fail(failure, REASON)
}

/// Returns what AWS shows as it was before the change.
fn dropped<'a>(step: &Step<'a>) -> &'a [String] {
    let proof = step.operation.proof.as_ref();
    proof.map_or(&[], |proof| proof.dropped.as_slice())
}

/// Returns whether AWS shows neither what was sent nor what was there before.
fn differs(step: &Step<'_>) -> bool {
    let proof = step.operation.proof.as_ref();
    proof.is_some_and(|proof| !proof.different.is_empty())
}

fn succeed(step: &Step<'_>, seen: Option<(Value, &Ownership)>, reason: &'static str) -> Decision {
    let (live, ownership) = seen.unzip();
    let unproven = unproven(step);
    // Before the old one is deleted: the new one does not hold what was asked for.
    if let Some(failure) = &unproven
        && let Some(decision) = replacing::unproven(step, ownership, failure)
    {
        return decision;
    }
    if let Some(decision) = replacing::stands(step, live.as_ref()) {
        return decision;
    }
    if let Some(failure) = unproven {
        let setback = Setback::Failed(failure);
        let reason = "AWS has dropped a part of it";
        return match step.operation.replacing {
            // The new one stands.
            Some(_) => step.end_at_new(setback, live, reason),
            None => step.end(setback, live, reason),
        };
    }
    let owned = step.operation.comes_to_own();
    step.succeed(ReferenceChange::Applied { owned }, live, reason)
}

/// Returns the failure of a change that requires proof, and of which AWS has dropped a part.
fn unproven(step: &Step<'_>) -> Option<Failure> {
    let dropped = dropped(step);
    if !step.operation.options.require_proof || dropped.is_empty() {
        return None;
    }
    let rest = if replacing::is_beside_old(step) {
        "Declare what AWS shows, or put again."
    } else {
        "Everything else was changed. Put again to send it again, or declare what AWS shows."
    };
    let message = format!(
        "AWS reports that the change succeeded, but shows {} as before. {rest}",
        dropped.join(", ")
    );
    Some(Failure::new(ErrorCode::PartiallyApplied, message))
}

/// Decides after a change that ended without success and may have left a resource.
pub(super) fn salvaged(
    step: &Step<'_>,
    action: Action,
    setback: &Setback,
    presence: Presence,
) -> Decision {
    match (action, presence) {
        // AWS names the old one, or an earlier version has taken it for what the create has left.
        (Action::Create, _)
            if let Some(Replacing::NewFirst { old, .. }) = &step.operation.replacing
                && step.operation.identifier.as_ref() == Some(old) =>
        {
            replacing::met_old(step, old, setback.clone())
        }
        (_, Presence::Unknown(fault))
            if fault.retry_class() == RetryClass::Later && !step.out_of_patience() =>
        {
            step.retry(None, "what is left cannot be read yet")
        }
        (
            Action::Create,
            Presence::Present {
                ownership: Ownership::Others,
                ..
            },
        ) => {
            let told = marking::not_ours(step.operation.identifier.as_ref());
            step.end_create(with(setback, &told), None, "what is there is not ours")
        }
        // What has the declared name would bear the mark if the create had made it. Marks lag, as all that AWS shows.
        (
            Action::Create,
            Presence::Present {
                ownership: Ownership::Unmarked,
                ..
            },
        ) if step.operation.has_name
            && step.operation.marked
            && may_have_made(step, setback)
            && step.now.since(step.operation.state_since) < SETTLING_WINDOW =>
        {
            step.retry(None, "it does not bear the mark, which proves nothing yet")
        }
        (Action::Create, presence) if is_ours(step, setback) => left(step, setback, presence),
        (Action::Create, Presence::Absent)
            if step.operation.identifier.is_some()
                && may_have_made(step, setback)
                && step.may_exist_yet() =>
        {
            step.look_later(step.operation.state.clone(), "nothing is visible yet")
        }
        (Action::Create, presence) => nothing_of_ours(step, setback, &presence),
        (Action::Update | Action::Delete, Presence::Present { live, .. }) => {
            step.end(setback.clone(), Some(live), "it is still there")
        }
        (Action::Update | Action::Delete, Presence::Absent) => {
            let told = format!("'{}' was not found afterwards.", name_of(step));
            step.end(
                with(setback, &told),
                None,
                "not found, which proves nothing yet",
            )
        }
        (Action::Update | Action::Delete, Presence::Unreadable(_) | Presence::Unknown(_)) => {
            step.end(setback.clone(), None, "what is left cannot be read")
        }
    }
}

/// Returns whether AWS has named the resource in an event of our create. Operations of earlier versions know it from the
/// failure alone, if a create that failed so may have made something.
fn is_ours(step: &Step<'_>, setback: &Setback) -> bool {
    let failure = setback.failure();
    let mut facts = failure.additional_info.iter();
    step.operation.is_ours()
        || !step.operation.has_name
            && failure.code != HandlerErrorCode::AlreadyExists.as_str()
            && may_hide(setback)
            && facts.any(|fact| match fact {
                AdditionalInfo::CloudControlRequest(request) => request.identifier.is_some(),
                AdditionalInfo::CloudFormationHook(_) => false,
            })
}

/// Whether a create that ended so, and named nothing, may have made a resource.
pub(super) fn may_hide(setback: &Setback) -> bool {
    match setback {
        Setback::Canceled(_) => true,
        Setback::Failed(failure) => {
            let code = HandlerErrorCode::of(&failure.code);
            retry_class(&Problem::Failed(code), Action::Create).may_hide()
        }
    }
}

/// The same of all its tries. The one before the latest was tried again as soon as one look had found nothing.
fn may_have_made(step: &Step<'_>, setback: &Setback) -> bool {
    let earlier = step.operation.retrying.as_ref();
    let earlier = earlier.filter(|earlier| earlier.action == Action::Create);
    may_hide(setback)
        || earlier.is_some_and(|earlier| earlier.by_class().into_keys().any(Class::may_hide))
}

/// Decides after a failed create whose resource AWS has named, so that it is ours if it exists.
fn left(step: &Step<'_>, setback: &Setback, presence: Presence) -> Decision {
    let operation = step.operation;
    let name = name_of(step);
    let ownership = match &presence {
        Presence::Present { ownership, .. } => Some(ownership.clone()),
        Presence::Absent | Presence::Unreadable(_) | Presence::Unknown(_) => None,
    };
    // It would bear the mark, if the document had one.
    let is_unmarked = operation.marked && ownership == Some(Ownership::Unmarked);
    // An identifier that AWS derives from a declared name may be that of somebody else's.
    let is_proven = !operation.has_name
        || ownership.as_ref().is_some_and(Ownership::is_ours)
        || matches!(setback, Setback::Failed(_))
            && concluding::leaves_made(setback)
            && !is_unmarked;
    if matches!(presence, Presence::Absent) {
        if step.may_exist_yet() {
            return step.look_later(operation.state.clone(), "nothing is visible yet");
        }
        if !step.is_contradicted() {
            let told = format!(
                "AWS named '{name}', which was not found in the {} seconds after.",
                SETTLING_WINDOW.as_secs()
            );
            return step.end_create(with(setback, &told), None, "nothing is left");
        }
    }
    if !is_proven {
        return nothing_of_ours(step, setback, &presence);
    }
    let (live, what) = match presence {
        Presence::Present { live, .. } => (Some(live), "left"),
        Presence::Absent | Presence::Unreadable(_) | Presence::Unknown(_) => {
            (None, "may have left")
        }
    };
    if let (Some(Replacing::NewFirst { old, is_named }), Some(left)) =
        (&operation.replacing, &operation.identifier)
    {
        let old = (old, *is_named);
        return replacing::left(step, left, ownership.as_ref(), old, setback.clone());
    }
    let advice = match operation.reference {
        Some(_) => "Put again to repair it, or delete it.",
        None => "Delete it.",
    };
    let told = format!("The failed create {what} '{name}' in AWS. {advice}");
    let reason = match live {
        Some(_) => "the failed create left a resource",
        None => "the failed create may have left a resource",
    };
    let end = step.end_at_new(with(setback, &told), live, reason);
    match operation.reference {
        Some(_) => end,
        None => end.leaving(salvage(step)),
    }
}

/// What a failed create has left, or may have.
fn salvage(step: &Step<'_>) -> NewLeftover {
    NewLeftover {
        identifier: step.operation.identifier.clone(),
        reason: LeftoverReason::Salvage,
        error: None,
        create: None,
    }
}

/// Decides after a failed create that named nothing. Whatever has the declared identifier is not known to be ours.
fn nothing_of_ours(step: &Step<'_>, setback: &Setback, presence: &Presence) -> Decision {
    const REASON: &str = "the create failed and named nothing";
    let operation = step.operation;
    let name = name_of(step);
    let type_name = &operation.type_name;
    let advice = match operation.reference {
        Some(_) => " To use it under the alias, import it.",
        None => "",
    };
    let setback = match presence {
        Presence::Absent if !step.is_contradicted() => setback.clone(),
        Presence::Present { .. } => {
            let told = format!(
                "AWS has the {type_name} '{name}', but nothing proves that this create made it, so it is not ours.{advice}"
            );
            with(setback, &told)
        }
        Presence::Absent | Presence::Unreadable(_) | Presence::Unknown(_) => {
            let told = format!("Whether AWS has the {type_name} '{name}' cannot be read.");
            with(setback, &told)
        }
    };
    let end = step.end_create(setback, None, REASON);
    match presence {
        Presence::Absent if !step.is_contradicted() => end,
        // Somebody else's for certain.
        Presence::Present {
            ownership: Ownership::Others,
            ..
        } => end,
        Presence::Absent
        | Presence::Present { .. }
        | Presence::Unreadable(_)
        | Presence::Unknown(_) => end.leaving(salvage(step)),
    }
}

fn name_of<'a>(step: &Step<'a>) -> &'a str {
    let identifier = step.operation.identifier.as_ref();
    identifier.map_or("", Identifier::as_str)
}

/// Adds a sentence to the message.
fn with(setback: &Setback, sentence: &str) -> Setback {
    let message = setback.failure().message.trim_end();
    let message = match message.chars().last() {
        None => sentence.to_owned(),
        Some('.' | '!' | '?') => format!("{message} {sentence}"),
        Some(_) => format!("{message}. {sentence}"),
    };
    setback.clone().told_as(message)
}
