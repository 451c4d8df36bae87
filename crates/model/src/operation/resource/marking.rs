//! What the mark on a resource proves, and what it forbids.

use super::super::decision::{PlanOutcome, Presence};
use super::super::shared::shared_elsewhere;
use super::decision::{Decision, Moved};
use super::replacement::Replacing;
use super::replacing;
use super::step::Step;
use super::work::ResourceWork;
use crate::{Action, Detail, ErrorCode, Failure, Identifier, Mark, Ownership, ReferenceId};

/// Refuses a plan that would delete a resource that may be somebody else's: it has another reference's mark, or lacks the
/// one that alone proves whose it is. Returns `None` if that is not planned, or if the reference was told to own it.
pub(super) fn refuse_delete(
    step: &Step<'_>,
    presence: &Presence,
    plan: &PlanOutcome,
) -> Option<Decision> {
    if let Some(spared) = replacing::spare(step, presence) {
        return Some(spared);
    }
    let operation = step.operation;
    let is_to_be_deleted = match plan {
        PlanOutcome::Delete(_) => true,
        PlanOutcome::Replace { .. } => operation.was_owned,
        PlanOutcome::Create { .. }
        | PlanOutcome::Update { .. }
        | PlanOutcome::Nothing
        | PlanOutcome::Impossible(_) => false,
    };
    if let PlanOutcome::Replace { .. } = plan
        && is_to_be_deleted
        && !operation.shared_with.is_empty()
    {
        let own = operation.reference.as_ref().map(|own| own.group.key());
        let is_of_group = |other: &ReferenceId| own == Some(other.group.key());
        let failure = shared_elsewhere(&operation.shared_with, is_of_group);
        return Some(step.fail(failure, "others would lose what is replaced"));
    }
    if !is_to_be_deleted || operation.was_told_to_own {
        return None;
    }
    if let Presence::Present {
        identifier,
        ownership: Ownership::Others,
        ..
    } = presence
        && let Some(reference) = &operation.reference
    {
        let message = format!(
            "'{identifier}' carries the mark of another reference, which its tag {} names. {}",
            Mark::KEY,
            advice(reference)
        );
        let why = ("MarkedByAnother", "carries the mark of another reference");
        let reason = "another reference's mark is on it";
        return Some(refuse(step, identifier, message, why, reason));
    }
    refuse_unproven(step, presence)
}

/// Refuses to delete what does not bear the mark that alone would prove whose it is. One look without it proves nothing:
/// tags lag, too. Returns `None` if no proof is needed.
fn refuse_unproven(step: &Step<'_>, presence: &Presence) -> Option<Decision> {
    let operation = step.operation;
    let marked_for = operation.marked_for.as_ref()?;
    let identifier = match presence {
        Presence::Present {
            ownership: Ownership::Ours | Ownership::Made,
            ..
        }
        | Presence::Absent
        | Presence::Unknown(_) => return None,
        Presence::Present { identifier, .. } | Presence::Unreadable(identifier) => identifier,
    };
    // AWS has named it in an event of a create of this operation.
    if let Some(Replacing::Undoing { .. }) = operation.replacing {
        return None;
    }
    let can_be_read = matches!(presence, Presence::Present { .. });
    if can_be_read && !step.sightings.lack_mark(step.now) {
        let moved = Moved {
            attempt: step.sightings.unmarked,
            due_at: step
                .now
                .after(step.sightings.delay_for_mark(step.chance.jitter)),
            ..step.to(operation.state.clone())
        };
        return Some(moved.wait("it does not bear the mark, which proves nothing yet"));
    }
    let (message, what) = match &operation.reference {
        Some(reference) => (
            format!(
                "'{identifier}' bore the mark of {reference}, the tag {}, and does not any more, so it may be another resource of that name. {}",
                Mark::KEY,
                advice(reference)
            ),
            "does not bear the mark any more",
        ),
        None => (
            format!(
                "'{identifier}' does not bear the mark of {marked_for}, so it may be another resource of that name. It was not deleted. If it is yours, delete it by name. If it is not, DELETE the leftover, which leaves the resource alone."
            ),
            "is not known to be what was left",
        ),
    };
    let why = ("NotProven", what);
    let reason = "nothing proves that it is ours";
    Some(refuse(step, identifier, message, why, reason))
}

fn refuse(
    step: &Step<'_>,
    identifier: &Identifier,
    message: String,
    (code, what): (&str, &str),
    reason: &'static str,
) -> Decision {
    let operation = step.operation;
    let resource = operation.scope.resource(&operation.type_name, identifier);
    let detail = Detail::at(code, what, resource);
    let failure = Failure::new(ErrorCode::Conflict, message).with_details(vec![detail]);
    step.fail(failure, reason)
}

/// How the owner of a reference decides.
fn advice(reference: &ReferenceId) -> String {
    format!(
        "It was not deleted. If it is yours, PATCH {reference} with ownedResource true and try again. If it is not, PATCH it with ownedResource false, which leaves the resource alone."
    )
}

/// The work of an operation whose create may have made the resource that was found: only its mark proves that it did.
pub(super) fn as_proven(operation: &ResourceWork, ownership: &Ownership) -> ResourceWork {
    ResourceWork {
        created: ownership.is_ours(),
        ..operation.clone()
    }
}

/// Adds to the failure of a create that ucp's tag was on it, if AWS complains of tags.
pub(super) fn tell_of_tag(
    operation: &ResourceWork,
    action: Action,
    mut failure: Failure,
) -> Failure {
    let is_of_tags = || {
        let mut texts = [&failure.code, &failure.message].into_iter();
        texts.any(|text| text.to_ascii_lowercase().contains("tag"))
    };
    if action == Action::Create && operation.marked && is_of_tags() {
        failure.message = format!(
            "{} ucp had added its tag {} to the create. Permit tagging, or start ucp with --ownership-tags=off, which creates without it.",
            failure.message.trim_end(),
            Mark::KEY
        );
    }
    failure
}

/// Says that what a failed create met carries another reference's mark.
pub(super) fn not_ours(identifier: Option<&Identifier>) -> String {
    let name = identifier.map_or("", Identifier::as_str);
    format!(
        "AWS has '{name}', which is not what the create made: it carries the mark of another reference, which its tag {} names.",
        Mark::KEY
    )
}
