//! Transitions after a look: the first one, one after a lost reply, and one at a resource that already exists.

use serde_json::Value;

use super::super::decision::{Effect, Holder, PlanOutcome, Presence, ReferenceChange, Taken};
use super::super::owned_elsewhere::owned_elsewhere;
use super::super::policy_elsewhere::policy_elsewhere;
use super::super::shared::shared_elsewhere;
use super::decision::{Decision, Moved};
use super::intent::{Call, Change, Intent};
use super::missed::missed;
use super::options::AdoptionPolicy;
use super::replacement::Replacing;
use super::sightings::Sightings;
use super::state::State;
use super::step::Step;
use super::work::Kind;
use super::{concluding, marking, replacing, submitting};
use crate::{
    Action, Detail, ErrorCode, Failure, Fault, Identifier, Ownership, ProvisioningState,
    RetryClass, Setback,
};

/// Decides after the first look, before anything was sent.
pub(super) fn at_first(step: &Step<'_>, presence: Presence, plan: PlanOutcome) -> Decision {
    if step.operation.looks_only {
        return only(step, &presence);
    }
    if let Some(refusal) = marking::refuse_delete(step, &presence, &plan) {
        return refusal;
    }
    match presence {
        Presence::Unknown(fault) => look_again(step, &fault),
        presence if step.operation.kind == Kind::Import => imported(step, presence),
        Presence::Present { .. } if refuses_adoption(step) => refuse_adoption(step),
        Presence::Absent if step.operation.must_prove_absence() => absent(step, plan),
        Presence::Absent | Presence::Unreadable(_) => follow(step, None, plan),
        Presence::Present { live, digest, .. } => follow(step, Some((live, digest)), plan),
    }
}

/// Decides after a look at what may not be ours: it is gone, or it stays.
pub(super) fn only(step: &Step<'_>, presence: &Presence) -> Decision {
    let identifier = match presence {
        Presence::Unknown(fault) => return look_again(step, fault),
        Presence::Absent if step.sightings.prove_absence(step.now) => {
            return concluding::deleted(step, "it is gone");
        }
        Presence::Absent => return missed(step, None, "not found, which proves nothing yet"),
        Presence::Present { identifier, .. } | Presence::Unreadable(identifier) => identifier,
    };
    let message = format!(
        "'{identifier}' is still there. It may be wanted, so ucp does not delete it. If it is not, delete it by name. If it is, DELETE the leftover, which leaves the resource alone."
    );
    step.fail(
        Failure::new(ErrorCode::Conflict, message),
        "it is still there",
    )
}

/// Decides after the first look did not find what a reference stands for. A delete is sent nevertheless: AWS's answer to
/// it says more than the look.
fn absent(step: &Step<'_>, plan: PlanOutcome) -> Decision {
    match step.operation.subject() {
        // A delete of a leftover that was not seen could meet another resource of its name.
        Some(subject)
            if step.operation.deletes()
                && (step.operation.marked_for.is_none() || step.operation.reference.is_some()) =>
        {
            follow(step, None, PlanOutcome::Delete(subject.clone()))
        }
        Some(_) => missed(step, None, "not found, which proves nothing yet"),
        None => follow(step, None, plan),
    }
}

/// Decides after the look of an import, which never changes the resource. Its declaration is unknown, so there is no
/// baseline and a later put removes nothing. What a create of unknown outcome has made belongs to its reference.
fn imported(step: &Step<'_>, presence: Presence) -> Decision {
    let operation = step.operation;
    let name = operation.identifier.as_ref().map_or("", Identifier::as_str);
    match presence {
        Presence::Present { live, .. } => {
            let was_unknown = operation.state_before == Some(ProvisioningState::Unknown);
            let has_made_it = was_unknown && operation.bears_mark;
            let owned = operation.options.take_ownership || has_made_it;
            step.succeed(
                ReferenceChange::Applied { owned },
                Some(live),
                "it is there",
            )
        }
        Presence::Absent => {
            let message = format!(
                "AWS has no {} '{name}' in {}; nothing was imported. Check the identifier, the account and the region.",
                operation.type_name, operation.scope
            );
            step.fail(
                Failure::new(ErrorCode::NotFound, message),
                "there is nothing to import",
            )
        }
        Presence::Unreadable(_) | Presence::Unknown(_) => {
            let message = format!(
                "{} has no read handler, so ucp cannot see whether '{name}' exists; nothing was imported.",
                operation.type_name
            );
            let failure = Failure::new(ErrorCode::UnsupportedActionException, message);
            step.fail(failure, "cannot be read, so cannot be imported")
        }
    }
}

/// Decides after the look that follows a lost reply to an update or delete, or the expiry of a create's token.
pub(super) fn after_lost_reply(
    step: &Step<'_>,
    intent: &Intent,
    presence: Presence,
    plan: PlanOutcome,
) -> Decision {
    if let Some(refusal) = marking::refuse_delete(step, &presence, &plan) {
        return refusal;
    }
    let resend = |reason| submitting::send_again(step, intent, reason);
    match (intent.action(), presence) {
        (_, Presence::Unknown(fault))
            if step.may_look_again()
                || fault.retry_class() == RetryClass::Later && !step.out_of_patience() =>
        {
            step.retry(None, "cannot tell yet what the lost reply did")
        }
        (action, Presence::Unknown(fault)) => {
            let what = format!(
                "The reply to the {action} was lost, and reading the resource fails: {fault}."
            );
            step.outcome_unknown(intent, &what, "looking cannot tell what the lost reply did")
        }
        (Action::Create, Presence::Present { ownership, .. })
            if let Some(Replacing::NewFirst { old, is_named }) = &step.operation.replacing =>
        {
            let is_named = *is_named || step.operation.has_name;
            if replacing::has_made(step, Some(&ownership), old, is_named) {
                step.to(State::Observing(Action::Create))
                    .then_read("it stands although the reply was lost")
            } else {
                step.outcome_unknown(
                    intent,
                    "The reply to the create was lost, and there is a resource of that name now.",
                    "it may be somebody else's",
                )
            }
        }
        (Action::Create, Presence::Present { ownership, .. })
            if is_shown_otherwise(&ownership, &plan) =>
        {
            made(step)
        }
        // It may be somebody else's, which is not to be replaced, and is not lost either.
        (Action::Create, Presence::Present { .. })
            if !step.operation.is_ours()
                && (step.operation.replacing.is_some()
                    || matches!(plan, PlanOutcome::Replace { .. })) =>
        {
            concluding::taken(step, None, name_is_in_use(step))
        }
        (Action::Update, Presence::Present { digest, .. })
            if intent.base.as_deref() == Some(digest.as_str()) && intent.token_lives(step.now) =>
        {
            resend("the update has not shown: the same again")
        }
        (Action::Update, Presence::Unreadable(_)) if intent.token_lives(step.now) => {
            resend("the token makes the same bytes the same request")
        }
        (Action::Delete, Presence::Present { .. } | Presence::Unreadable(_))
            if intent.token_lives(step.now) =>
        {
            resend("still there: the same again")
        }
        (Action::Delete, Presence::Absent)
            if step.operation.must_prove_absence() && intent.token_lives(step.now) =>
        {
            resend("not found, but only AWS's answer to the delete tells what became of it")
        }
        (_, Presence::Absent)
            if submitting::may_be_in_flight(step, intent)
                && step.sightings.prove_absence(step.now) =>
        {
            resend("it does not exist: is the update in flight?")
        }
        (_, Presence::Absent)
            if step.operation.must_prove_absence()
                || submitting::may_be_in_flight(step, intent) =>
        {
            missed(step, Some(intent), "not found, which proves nothing yet")
        }
        (Action::Create | Action::Update, Presence::Unreadable(_)) => step.outcome_unknown(
            intent,
            "The reply was lost, and the type cannot be read.",
            "looking cannot tell what the lost reply did",
        ),
        (_, Presence::Absent | Presence::Unreadable(_)) => follow(step, None, plan),
        (
            Action::Create,
            Presence::Present {
                live,
                digest,
                ownership,
                ..
            },
        ) => {
            let operation = &marking::as_proven(step.operation, &ownership);
            let step = &Step { operation, ..*step };
            if refuses_adoption(step) {
                refuse_adoption(step)
            } else {
                follow(step, Some((live, digest)), plan)
            }
        }
        (Action::Update | Action::Delete, Presence::Present { live, digest, .. }) => {
            follow(step, Some((live, digest)), plan)
        }
    }
}

/// Returns whether what this very create has made would have to be replaced: AWS shows it in another form than it was declared in.
fn is_shown_otherwise(ownership: &Ownership, plan: &PlanOutcome) -> bool {
    *ownership == Ownership::Made
        && match plan {
            PlanOutcome::Replace { .. } => true,
            PlanOutcome::Impossible(failure) => {
                failure.code == ErrorCode::RequiresReplacement.as_str()
            }
            PlanOutcome::Create { .. }
            | PlanOutcome::Update { .. }
            | PlanOutcome::Delete(_)
            | PlanOutcome::Nothing => false,
        }
}

/// Goes on as after a create that has succeeded, which the mark on the resource proves.
fn made(step: &Step<'_>) -> Decision {
    let moved = Moved {
        created: true,
        ..step.to(State::Observing(Action::Create))
    };
    moved.then_read("this create has made it, whatever AWS says")
}

/// Decides after the look that follows a create refused with `AlreadyExists`.
pub(super) fn at_what_exists(
    step: &Step<'_>,
    failure: &Failure,
    presence: Presence,
    plan: PlanOutcome,
) -> Decision {
    match presence {
        Presence::Unknown(fault)
            if fault.retry_class() == RetryClass::Later && !step.out_of_patience() =>
        {
            step.retry(None, "cannot tell yet who holds the identifier")
        }
        Presence::Present {
            live,
            digest,
            ownership,
            ..
        } => {
            let is_named_by_aws = step.operation.named && !ownership.is_ours();
            let operation = &marking::as_proven(step.operation, &ownership);
            let step = &Step { operation, ..*step };
            match &plan {
                // The declaration does not name it, so it is not the one to adopt.
                _ if is_named_by_aws => {
                    let setback = Setback::Failed(failure.clone());
                    step.end_create(setback, None, "what stands in the way is not ours")
                }
                _ if is_shown_otherwise(&ownership, &plan) => made(step),
                _ if refuses_adoption(step) => refuse_adoption(step),
                PlanOutcome::Replace { .. } => step.fail(
                    failure.clone(),
                    "what has the identifier is not ours to replace",
                ),
                PlanOutcome::Create { .. }
                | PlanOutcome::Update { .. }
                | PlanOutcome::Delete(_)
                | PlanOutcome::Nothing
                | PlanOutcome::Impossible(_) => follow(step, Some((live, digest)), plan),
            }
        }
        Presence::Absent if step.may_show_yet() => step.look_later(
            step.operation.state.clone(),
            "what has the identifier is not visible yet",
        ),
        Presence::Absent | Presence::Unreadable(_) | Presence::Unknown(_) => step.fail(
            failure.clone(),
            "the identifier is taken by something that cannot be seen",
        ),
    }
}

/// Decides after the store refused to let the operation work on the resource that AWS names, before anything was sent.
pub(super) fn at_what_is_taken(step: &Step<'_>, taken: &Taken) -> Decision {
    let failure = taken_by_another(step, taken, "Nothing was sent.");
    step.fail(failure, "AWS names a resource that is taken")
}

/// Decides after the same refusal of an operation whose change was sent: AWS has refused its create because of the resource,
/// or an earlier version has sent it, which kept the spelling of the caller. Another operation on the resource ends; another
/// owner stays.
pub(super) fn at_what_was_taken_meanwhile(step: &Step<'_>, taken: &Taken) -> Decision {
    match taken.by {
        Holder::Operation(_) => step.retry(None, "another operation is changing the resource"),
        Holder::Owner(_) | Holder::Policy(_) | Holder::Shared(_) => {
            if let Some(decision) = replacing::left_to_others(step, &taken.identifier) {
                return decision;
            }
            let failure =
                taken_by_another(step, taken, "The change was sent, and may have been made.");
            step.fail(failure, "AWS names a resource that another reference has")
        }
    }
}

fn taken_by_another(step: &Step<'_>, taken: &Taken, sent: &str) -> Failure {
    let Taken { identifier, by } = taken;
    let given = step.operation.identifier.as_ref();
    let given = given.map_or("", Identifier::as_str);
    let (message, detail) = match by {
        Holder::Operation(id) => (
            format!(
                "AWS calls '{given}' '{identifier}', which operation {id} is changing. {sent} Try again once it has ended."
            ),
            Detail::at("OperationInProgress", "is under way", id.to_string()),
        ),
        Holder::Owner(owner) => {
            let reference = step.operation.reference.as_ref();
            let (owner, detail) = owned_elsewhere(owner, reference.map(|own| &own.group));
            let message = format!(
                "AWS calls '{given}' '{identifier}', which is owned by {owner}. Only one reference can own it. {sent} Leave ownedResource out."
            );
            (message, detail)
        }
        Holder::Policy(policy) => return policy_elsewhere(*policy),
        Holder::Shared(others) => {
            let own = step.operation.reference.as_ref().map(|own| own.group.key());
            return shared_elsewhere(others, |other| own == Some(other.group.key()));
        }
    };
    Failure::new(ErrorCode::Conflict, message).with_details(vec![detail])
}

/// Follows the plan against what a look has found.
pub(super) fn follow_presence(step: &Step<'_>, presence: Presence, plan: PlanOutcome) -> Decision {
    match presence {
        Presence::Unknown(fault) => look_again(step, &fault),
        Presence::Absent | Presence::Unreadable(_) => follow(step, None, plan),
        Presence::Present { live, digest, .. } => follow(step, Some((live, digest)), plan),
    }
}

/// The failure if something has the name of a resource whose create got no reply. Nothing proves that it is ours.
fn name_is_in_use(step: &Step<'_>) -> Failure {
    let operation = step.operation;
    let name = operation.identifier.as_ref().map_or("", Identifier::as_str);
    let message = format!(
        "The reply to the create was lost, and AWS has the {} '{name}' now, which is not known to be ours.",
        operation.type_name
    );
    Failure::new(ErrorCode::AlreadyExists, message)
}

/// Follows the plan against the live resource.
pub(super) fn follow(
    step: &Step<'_>,
    live: Option<(Value, String)>,
    plan: PlanOutcome,
) -> Decision {
    let operation = step.operation;
    let (live, base) = live.unzip();
    match plan {
        PlanOutcome::Create {
            identifier,
            changes,
        } => {
            let intent = step.intend(Call::Create, None);
            let replacing = match &operation.replacing {
                Some(Replacing::OldFirst) => replacing::made_room(step),
                None if operation.was_referenced && operation.must_prove_absence() => {
                    replacing::in_place_of_lost(step)
                }
                other => other.clone(),
            };
            let moved = Moved {
                identifier,
                created: true,
                named: false,
                sightings: Sightings::default(),
                replacing,
                planned: Some(changes),
                ..step.to(State::Submitting(intent.clone()))
            };
            moved.then(Effect::Submit(intent), "nothing stands there yet")
        }
        PlanOutcome::Update {
            identifier,
            changes,
        } => {
            let intent = step.intend(Call::Update(identifier), base);
            let moved = Moved {
                replacing: None,
                planned: Some(changes),
                ..step.to(State::Submitting(intent.clone()))
            };
            moved.then(Effect::Submit(intent), "it differs from the declaration")
        }
        PlanOutcome::Replace {
            old,
            order,
            identifier,
            changes,
        } => replacing::begin(step, old, order, identifier, changes),
        PlanOutcome::Delete(identifier) => {
            let intent = step.intend(Call::Delete(identifier), None);
            let (changes, reason) = match operation.replacing {
                Some(_) => (operation.changes.clone(), "it is still there"),
                None => (
                    vec![Change {
                        path: String::new(),
                        op: "remove".to_owned(),
                        conditional: false,
                    }],
                    "it is there",
                ),
            };
            let moved = Moved {
                planned: Some(changes),
                ..step.to(State::Submitting(intent.clone()))
            };
            moved.then(Effect::Submit(intent), reason)
        }
        PlanOutcome::Nothing if operation.deletes() && operation.replacing.is_some() => {
            concluding::deleted(step, "it is gone")
        }
        PlanOutcome::Nothing => {
            let reference = match operation.kind {
                Kind::Put if operation.identifier.is_some() => ReferenceChange::Applied {
                    owned: operation.comes_to_own(),
                },
                Kind::Put | Kind::Delete | Kind::Import | Kind::Resolve => ReferenceChange::Removed,
            };
            step.succeed(reference, live, "it is as it should be")
        }
        PlanOutcome::Impossible(failure) => step.end(
            Setback::Failed(failure),
            live,
            "the plan cannot be carried out",
        ),
    }
}

fn look_again(step: &Step<'_>, fault: &Fault) -> Decision {
    if fault.retry_class() == RetryClass::Later && !step.out_of_patience() {
        return step.retry(fault.retry_after, "cannot look yet");
    }
    step.fail(Failure::from(fault), "AWS refuses the look")
}

/// Returns whether this is a put that would adopt a resource against the caller's `adoptionPolicy`.
fn refuses_adoption(step: &Step<'_>) -> bool {
    let operation = step.operation;
    operation.kind == Kind::Put
        && operation.reference.is_some()
        && !operation.was_referenced
        && !operation.created
        && !operation.bears_mark
        && operation.options.adoption_policy == AdoptionPolicy::Fail
}

fn refuse_adoption(step: &Step<'_>) -> Decision {
    let operation = step.operation;
    let name = operation.identifier.as_ref().map_or("", Identifier::as_str);
    let message = format!(
        "AWS already has the {} '{name}', and adoptionPolicy is 'fail'. Import it, choose another name, or leave adoptionPolicy out to adopt it.",
        operation.type_name
    );
    let details = operation.target().map(|target| {
        Detail::at(
            "AlreadyExists",
            "exists in AWS",
            target.scope.resource(target.type_name, target.identifier),
        )
    });
    let failure =
        Failure::new(ErrorCode::Conflict, message).with_details(details.into_iter().collect());
    step.fail(failure, "exists, and is not to be adopted")
}
