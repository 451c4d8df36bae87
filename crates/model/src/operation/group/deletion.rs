//! Deletion of a group: the owned resources are deleted in waves, each after those that refer to it, then the group.

use std::collections::BTreeMap;

use super::super::record::Operation;
use super::decision::{Decision, Finish, Next};
use super::step::{CHILDREN_AT_ONCE, cancelled, wait};
use super::survey::Survey;
use super::waves::{Members, Standing, Wave};
use super::work::GroupWork;
use crate::{
    Detail, Ended, ErrorCode, Failure, Identifier, Leftover, ProvisioningState, Reference,
    Timestamp,
};

/// How many resources the message of a failure names.
const NAMED_MAX: usize = 5;

/// Decides the next step of a deletion.
pub(super) fn decide(
    operation: &GroupWork,
    is_cancel_requested: bool,
    survey: &Survey,
    now: Timestamp,
) -> Decision {
    let mut decision = next(operation, is_cancel_requested, survey, now);
    if let Next::Finish(finish) = &mut decision.next {
        finish.given_up = survey
            .children
            .iter()
            .flat_map(Operation::given_up)
            .collect();
    }
    decision
}

fn next(
    operation: &GroupWork,
    is_cancel_requested: bool,
    survey: &Survey,
    now: Timestamp,
) -> Decision {
    let references = survey.references.iter();
    let owned = references.filter(|reference| reference.owned && reference.identifier.is_some());
    let owned: Vec<&Reference> = owned.collect();
    let members = Members::of(&owned, survey, now);
    let total = usize::try_from(operation.total).unwrap_or(usize::MAX);
    let done = total.saturating_sub(members.0.len());
    let next_wait = |due_at| wait(done, BTreeMap::new(), due_at, now);

    if is_cancel_requested {
        return match members.running() {
            0 => cancelled(operation, done, BTreeMap::new()),
            _ => Decision {
                next: next_wait(None),
                reason: "cancelled, but deletes are under way",
            },
        };
    }
    match members.wave(CHILDREN_AT_ONCE, true) {
        Wave::Start(children, reason) => {
            return Decision {
                next: Next::Start(children),
                reason,
            };
        }
        Wave::UnderWay(until) => {
            return Decision {
                next: next_wait(until),
                reason: "deletes are under way",
            };
        }
        Wave::Later(until) => {
            return Decision {
                next: next_wait(Some(until)),
                reason: "deletes are tried again later",
            };
        }
        Wave::Over => {}
    }
    let (ended, reason) = match blocked(&members, survey) {
        None => (Ended::Succeeded, "nothing owned is left"),
        Some(failure) => (Ended::Failed(failure), "what is left cannot be deleted"),
    };
    Decision {
        next: Next::Finish(Box::new(Finish {
            done: u32::try_from(done).unwrap_or(u32::MAX),
            ..Finish::of_end(ended)
        })),
        reason,
    }
}

/// The failure that explains the remaining members, and what is left over that is ours. `None` if there are none.
fn blocked(members: &Members<'_>, survey: &Survey) -> Option<Failure> {
    let refused = members
        .0
        .iter()
        .filter_map(|member| match &member.standing {
            Standing::Settled(failure) => Some(format!(
                "'{}' ({})",
                member.reference.id.alias, failure.code
            )),
            Standing::Running | Standing::Ready | Standing::Later(_) => None,
        });
    let refused: Vec<String> = refused.collect();
    let details = (0..members.0.len()).map(|index| detail(members, index));
    let ours = survey.leftovers.iter();
    let ours = ours.filter(|left| left.reason.is_ours());
    let undecided = survey.references.iter();
    let undecided =
        undecided.filter(|reference| reference.provisioning_state == ProvisioningState::Unknown);
    let details: Vec<Detail> = details
        .chain(ours.map(of_leftover))
        .chain(undecided.map(of_undecided))
        .collect();
    if details.is_empty() {
        return None;
    }
    let named = match refused.len() {
        0 => String::new(),
        count => {
            let mut named: Vec<String> = refused.into_iter().take(NAMED_MAX).collect();
            if count > NAMED_MAX {
                named.push(format!("{} more", count - NAMED_MAX));
            }
            format!(": {}", named.join(", "))
        }
    };
    let message = format!(
        "{} of the group's resources could not be deleted{named}. The details say why. The group stays with what is left. Fix the causes, release the resources (PATCH their references with ownedResource false) or forget the leftovers (DELETE them), then delete the group again.",
        details.len()
    );
    Some(Failure::new(ErrorCode::ResourceGroupDeletionBlocked, message).with_details(details))
}

fn detail(members: &Members<'_>, index: usize) -> Detail {
    let member = &members.0[index];
    let reference = member.reference;
    let identifier = named(reference);
    let alias = &reference.id.alias;
    let (code, reason) = match &member.standing {
        Standing::Settled(failure) => (failure.code.as_str(), failure.message.as_str()),
        Standing::Running | Standing::Ready | Standing::Later(_) => {
            ("DependentNotDeleted", "left alone")
        }
    };
    let id = match &reference.identifier {
        Some(identifier) => reference
            .scope
            .resource(&reference.id.type_name, identifier),
        None => reference.id.to_string(),
    };
    Detail::at(code, format!("'{alias}' ({identifier}): {reason}"), id)
}

fn named(reference: &Reference) -> &str {
    reference.identifier.as_ref().map_or("", Identifier::as_str)
}

/// What is left over, how it comes to an end by itself, and how to end it.
fn of_leftover(leftover: &Leftover) -> Detail {
    let Leftover {
        id,
        identifier,
        last_error,
        next_try_at,
        ..
    } = leftover;
    let name = identifier.as_ref().map_or("", Identifier::as_str);
    let (code, cause) = match last_error {
        Some(error) => {
            let cause = error.message.trim_end_matches('.');
            (error.code.as_str(), format!(" ({cause})"))
        }
        None => ("LeftOver", String::new()),
    };
    let message = format!(
        "'{name}' is left over and could not be deleted{cause}. Its deletion is tried again at {next_try_at}. Or delete it yourself, or forget it with a DELETE of {id}"
    );
    let target = leftover.target();
    let resource = target.map(|target| target.scope.resource(target.type_name, target.identifier));
    Detail::at(code, message, resource.unwrap_or_else(|| id.to_string()))
}

/// What may stand without being known, and how to decide.
fn of_undecided(reference: &Reference) -> Detail {
    let id = reference.id.to_string();
    let message = format!(
        "'{}': the outcome of its create is unknown. Import what AWS has, or DELETE the reference, which leaves AWS alone",
        reference.id.alias
    );
    Detail::at(ErrorCode::OutcomeUnknown, message, id)
}
