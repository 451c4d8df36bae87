//! Replacements: one operation that makes a new resource and deletes the old one, in either order. The alias stands for
//! the old one until the new one stands, and whatever fails, what is left in AWS is mapped or named.

use serde_json::Value;

use super::decide::{Decision, Effect, Finish, MappingChange, Moved, Step};
use super::{Action, Change, ReplacementOrder, Replacing, State, looking};
use crate::{AdditionalInfo, Failure, Identifier};

/// A replacement was planned; nothing of it was sent yet.
pub(super) fn begin(
    step: &Step<'_>,
    order: ReplacementOrder,
    identifier: Option<Identifier>,
    changes: Vec<Change>,
) -> Decision {
    let old = step.operation.identifier.clone();
    let is_named = identifier.is_some();
    match (order, old) {
        (ReplacementOrder::CreateBeforeDelete, Some(old)) => Moved {
            identifier,
            created: true,
            replacing: Some(Replacing::NewFirst { old, is_named }),
            planned: Some(changes),
            ..looking::submit(step, Action::Create, None)
        }
        .then(Effect::Submit, "the new one first"),
        (ReplacementOrder::DeleteBeforeCreate, Some(_)) => Moved {
            replacing: Some(Replacing::OldFirst),
            planned: Some(changes),
            ..looking::submit(step, Action::Delete, None)
        }
        .then(Effect::Submit, "the old one has to make room"),
        (ReplacementOrder::CreateBeforeDelete | ReplacementOrder::DeleteBeforeCreate, None) => step
            .fail(
                Failure::new("InternalFailure", "There is nothing to replace."),
                "nothing to replace",
            ),
    }
}

/// The new resource stands: the alias moves to it, and the old one goes if it is owned. None when nothing is left to do.
pub(super) fn stands(step: &Step<'_>, live: Option<&Value>) -> Option<Decision> {
    let operation = step.operation;
    let old = match &operation.replacing {
        Some(Replacing::NewFirst { old, .. }) if operation.was_owned => old,
        Some(Replacing::OldLeft { failure }) => {
            let finish = Finish {
                state: State::Failed(failure.clone()),
                identifier: operation.identifier.clone(),
                mapping: MappingChange::Applied { owned: true },
                live: live.cloned(),
            };
            return Some(step.finish(finish, "the new one stands beside the old one"));
        }
        Some(
            Replacing::NewFirst { .. }
            | Replacing::OldFirst
            | Replacing::OldGone { .. }
            | Replacing::OldLast { .. }
            | Replacing::Undoing { .. },
        )
        | None => return None,
    };
    let moved = Moved {
        replacing: Some(Replacing::OldLast { old: old.clone() }),
        planned: Some(operation.changes.clone()),
        ..looking::submit(step, Action::Delete, None)
    };
    Some(moved.then(Effect::Submit, "the new one stands, so the old one can go"))
}

/// The create failed and left something. If AWS has named it, it is ours and goes again. What has a declared name may be
/// somebody else's, so it is only named.
pub(super) fn undo(
    step: &Step<'_>,
    old: &Identifier,
    is_named: bool,
    failure: Failure,
) -> Decision {
    if is_named {
        let left = step.operation.identifier.as_ref();
        let message = format!(
            "{} AWS now has '{}', which the failed create may have left; it was not deleted, since it may be somebody else's. '{old}' was left as it was.",
            failure.message,
            left.map_or("", Identifier::as_str)
        );
        let failure = Failure { message, ..failure };
        return keep(
            step,
            old,
            terminal(failure),
            "what is left may be somebody else's",
        );
    }
    Moved {
        replacing: Some(Replacing::Undoing {
            old: old.clone(),
            failure,
        }),
        planned: Some(step.operation.changes.clone()),
        ..looking::submit(step, Action::Delete, None)
    }
    .then(Effect::Submit, "what the failed create left has to go")
}

/// The old resource is gone, and the new one is still to come.
pub(super) fn made_room(step: &Step<'_>) -> Option<Replacing> {
    let old = step.operation.identifier.clone()?;
    Some(Replacing::OldGone { old })
}

/// Whether what is being created stands beside an old resource that stays mapped until it stands.
pub(super) fn is_beside_old(step: &Step<'_>) -> bool {
    matches!(step.operation.replacing, Some(Replacing::NewFirst { .. }))
}

/// What was to be deleted is gone.
pub(super) fn deleted(step: &Step<'_>, replacing: &Replacing, reason: &'static str) -> Decision {
    match replacing {
        Replacing::OldFirst => Moved {
            identifier: None,
            created: false,
            replacing: made_room(step),
            ..step.to(State::Accepted)
        }
        .then(Effect::Look, "there is room for the new one"),
        Replacing::OldLast { .. } => Moved {
            replacing: None,
            ..step.to(State::Observing(Action::Create))
        }
        .then(Effect::Read, "only the new one is left"),
        Replacing::Undoing { old, failure } => keep(step, old, terminal(failure.clone()), reason),
        Replacing::NewFirst { .. } | Replacing::OldGone { .. } | Replacing::OldLeft { .. } => {
            Decision::ignore("nothing was to be deleted")
        }
    }
}

/// Ends in `state`, which is no success.
pub(super) fn end(
    step: &Step<'_>,
    replacing: &Replacing,
    state: State,
    live: Option<Value>,
    reason: &'static str,
) -> Decision {
    let new = step.operation.identifier.as_ref();
    let shown = new.map_or("", Identifier::as_str);
    match replacing {
        Replacing::OldFirst | Replacing::OldGone { .. } => step.end_unreplaced(state, live, reason),
        Replacing::NewFirst { old, .. } => keep(step, old, state, reason),
        Replacing::OldLeft { failure } => {
            let finish = Finish {
                state: State::Failed(failure.clone()),
                identifier: step.operation.identifier.clone(),
                mapping: MappingChange::Kept { owned: true },
                live,
            };
            step.finish(finish, reason)
        }
        Replacing::Undoing { old, failure } => {
            let cause = cause(&state);
            let message = format!(
                "{} The failed create left '{shown}' in AWS, and deleting it failed ({cause}). Delete it in AWS; '{old}' was left as it was.",
                failure.message
            );
            let failure = Failure {
                message,
                ..failure.clone()
            };
            keep(step, old, terminal(failure), reason)
        }
        Replacing::OldLast { old } => {
            let cause = cause(&state);
            let message = format!(
                "'{shown}' has taken the place of '{old}', but deleting '{old}' failed ({cause}). Delete it in AWS."
            );
            let failure = Failure::new("PartiallyApplied", message)
                .with_additional_info(additional_info(&state));
            Moved {
                replacing: Some(Replacing::OldLeft { failure }),
                ..step.to(State::Observing(Action::Create))
            }
            .then(Effect::Read, "the new one stands beside the old one")
        }
    }
}

/// Ends with the alias where it was.
fn keep(step: &Step<'_>, old: &Identifier, state: State, reason: &'static str) -> Decision {
    let finish = Finish {
        state,
        identifier: Some(old.clone()),
        mapping: MappingChange::Kept { owned: false },
        live: None,
    };
    step.finish(finish, reason)
}

/// The end that `failure` asks for.
pub(super) fn terminal(failure: Failure) -> State {
    if failure.code == "Canceled" {
        State::Canceled(failure)
    } else {
        State::Failed(failure)
    }
}

fn additional_info(state: &State) -> Vec<AdditionalInfo> {
    match state {
        State::Failed(failure) | State::Canceled(failure) => failure.additional_info.clone(),
        State::Accepted
        | State::Submitting(_)
        | State::Waiting(..)
        | State::Observing(_)
        | State::Salvaging(..)
        | State::Adopting(_)
        | State::Succeeded => Vec::new(),
    }
}

fn cause(state: &State) -> String {
    match state {
        State::Failed(failure) | State::Canceled(failure) => {
            let message = failure.message.trim_end_matches('.');
            format!("{}: {message}", failure.code)
        }
        State::Accepted
        | State::Submitting(_)
        | State::Waiting(..)
        | State::Observing(_)
        | State::Salvaging(..)
        | State::Adopting(_)
        | State::Succeeded => "for no reason given".to_owned(),
    }
}
