//! Transitions of a recorded intent: resuming it after a crash, and the reply to the call.

use super::super::decision::Effect;
use super::decision::{Decision, Moved, Next};
use super::ending::cancelled as before_aws_took_it;
use super::intent::{Call, Intent};
use super::marking;
use super::patience::as_sentence;
use super::retry_class::{Class, Problem, retry_class};
use super::state::State;
use super::step::Step;
use super::tries::Tries;
use super::{concluding, progressing};
use crate::{Action, ErrorCode, Failure, Fault, FaultClass, Progress, RequestToken, Setback};
use uuid::Uuid;

/// Resumes an intent whose call may or may not have reached AWS.
pub(super) fn resumed(step: &Step<'_>, intent: &Intent) -> Decision {
    let look = |reason| Decision::then(Effect::Look(step.operation.subject().cloned()), reason);
    match intent.action() {
        Action::Create if intent.token_lives(step.now) => send_again(
            step,
            intent,
            "the token makes the same bytes the same request",
        ),
        Action::Create if intent.unanswered == 0 => {
            let intent = step.intend(intent.call.clone(), None);
            Moved {
                attempt: step.operation.attempt,
                planned: Some(step.operation.changes.clone()),
                ..step.to(State::Submitting(intent.clone()))
            }
            .then(
                Effect::Submit(intent),
                "it was not sent while its token lived",
            )
        }
        Action::Create if step.operation.identifier.is_none() => step.outcome_unknown(
            intent,
            "The reply to the create was lost, and its client token has expired.",
            "the token has expired and there is nothing to look at",
        ),
        Action::Create => look("the token has expired"),
        Action::Update | Action::Delete => look("look before sending it again"),
    }
}

/// Cancels an intent. AWS has answered every send, and accepted none.
pub(super) fn cancelled(step: &Step<'_>, intent: &Intent) -> Decision {
    const REASON: &str = "cancelled before AWS took it";
    match intent.action() {
        Action::Create => {
            let identifier = step.operation.identifier.clone();
            step.end_create(before_aws_took_it(), identifier, REASON)
        }
        Action::Update | Action::Delete => step.cancel(REASON),
    }
}

/// Sends the recorded bytes under the recorded token again, after recording the additional send.
pub(super) fn send_again(step: &Step<'_>, intent: &Intent, reason: &'static str) -> Decision {
    let intent = intent.resent();
    Moved {
        attempt: step.operation.attempt,
        ..step.to(State::Submitting(intent.clone()))
    }
    .then(Effect::Submit(intent), reason)
}

/// Returns whether AWS may have an update that it has not carried out. Such a request would keep others off what is
/// created in the place of its resource, by this operation or after its cancellation.
pub(super) fn may_be_in_flight(step: &Step<'_>, intent: &Intent) -> bool {
    intent.action() == Action::Update && intent.unanswered > 0 && intent.token_lives(step.now)
}

/// Decides after the reply to the call, from AWS or from the transport.
pub(super) fn answered(
    step: &Step<'_>,
    intent: &Intent,
    reply: Result<Progress, Fault>,
) -> Decision {
    let fault = match reply {
        Ok(progress) => return progressing::reported(step, intent, progress),
        Err(fault) => fault,
    };
    let problem = Problem::of(&fault);
    let class = retry_class(&problem, intent.action());
    let answered = || State::Submitting(intent.answered());
    match (fault.class, &intent.call) {
        (
            FaultClass::Throttled
            | FaultClass::Transient
            | FaultClass::Concurrent
            | FaultClass::OutcomeUnknown,
            _,
        ) if step.out_of_patience() => {
            let what = format!("The {} got no answer for a day: {fault}.", intent.action());
            step.outcome_unknown(intent, &what, "no answer for too long")
        }
        (FaultClass::Throttled, _) => {
            step.retry_as(answered(), fault.retry_after, "AWS asks to slow down")
        }
        (FaultClass::Concurrent, call) if !may_wait(step, class) => {
            refused(step, intent, call, &fault)
        }
        (FaultClass::Concurrent, _) => wait(
            step,
            class,
            answered(),
            "another change of the resource is in flight",
        ),
        (FaultClass::Transient, _) => step.retry_as(answered(), None, "AWS could not be reached"),
        (FaultClass::OutcomeUnknown, _) => step.retry(None, "the reply was lost"),
        (FaultClass::Missing, Call::Delete(_)) => concluding::not_found(step),
        (FaultClass::TokenConflict, _) => match request_token_in(&fault.message, intent) {
            Some(request) => step
                .to(State::Waiting(intent.clone(), request.clone()))
                .then(
                    Effect::Poll(request),
                    "the token is spent: follow the request that AWS names",
                ),
            None => {
                let message = fault.message;
                let what =
                    format!("AWS says that the client token belongs to another request: {message}");
                step.outcome_unknown(intent, &what, "the token is spent")
            }
        },
        // What exists may be what an earlier send has made.
        (FaultClass::AlreadyExists, Call::Create)
            if step.operation.identifier.is_none() && intent.answered().unanswered > 0 =>
        {
            refused(step, intent, &intent.call, &fault)
        }
        (FaultClass::AlreadyExists, Call::Create) => concluding::taken(
            step,
            None,
            Failure::new(ErrorCode::AlreadyExists, fault.message),
        ),
        (FaultClass::Denied, _) if class == Class::Soon && may_wait(step, class) => wait(
            step,
            class,
            answered(),
            "the credentials are about to be renewed",
        ),
        (FaultClass::Denied, _)
            if class == Class::Permission
                && step.may_be_permitted_soon()
                && may_wait(step, class) =>
        {
            wait(
                step,
                class,
                answered(),
                "the permission is about to take effect",
            )
        }
        // An earlier send may have been taken.
        (FaultClass::Rejected, Call::Create)
            if class == Class::KeepWatching && intent.answered().unanswered > 0 =>
        {
            refused(step, intent, &intent.call, &fault)
        }
        // AWS may have taken an earlier send, and says so if the same is sent once more.
        (FaultClass::Rejected, _)
            if class == Class::KeepWatching
                && intent.answered().unanswered > 0
                && may_wait(step, class) =>
        {
            wait(
                step,
                class,
                answered(),
                "refused, but an earlier send may have arrived",
            )
        }
        (FaultClass::Rejected, _) if class == Class::KeepWatching => {
            progressing::failed(step, intent, None, &problem, refusal(intent, &fault))
        }
        (FaultClass::Missing, Call::Update(_)) => {
            progressing::failed(step, intent, None, &problem, refusal(intent, &fault))
        }
        (
            FaultClass::AlreadyExists
            | FaultClass::Missing
            | FaultClass::TokenUnknown
            | FaultClass::Denied
            | FaultClass::Rejected,
            call,
        ) => refused(step, intent, call, &fault),
    }
}

/// Returns whether errors of the class may still be put up with in this state. Each class has a bound of its own.
fn may_wait(step: &Step<'_>, class: Class) -> bool {
    let is_parents = class == Class::Queue && step.operation.options.parent_retries;
    let before = step.operation.refusals.get(&class);
    !is_parents
        && class.bound().is_some_and(|bound| {
            before.is_none_or(|before| {
                before.count < bound.tries || step.now.since(before.since) < bound.time
            })
        })
}

/// Puts up with an error of the class: the call is made again after a back-off.
fn wait(step: &Step<'_>, class: Class, state: State, reason: &'static str) -> Decision {
    let mut decision = step.retry_as(state, None, reason);
    if let Next::Move(moved) = &mut decision.next {
        let tries = moved.refusals.entry(class).or_insert(Tries {
            count: 0,
            since: step.now,
        });
        tries.count = tries.count.saturating_add(1);
    }
    decision
}

/// Returns the request token in AWS's message that the client token belongs to another request.
fn request_token_in(message: &str, intent: &Intent) -> Option<RequestToken> {
    let words = message.split(|letter: char| !letter.is_ascii_hexdigit() && letter != '-');
    let mut tokens = words.filter_map(|word| Uuid::try_parse(word).ok().map(|uuid| (word, uuid)));
    let request = tokens.find(|(word, uuid)| word.len() == 36 && *uuid != intent.client_token.0);
    request.map(|(word, _)| RequestToken::new(word))
}

/// AWS's refusal of the call. It says nothing about an earlier send, which may have arrived: that is told of an update or
/// delete, which may be made again whatever came of it.
fn refusal(intent: &Intent, fault: &Fault) -> Failure {
    let mut failure = Failure::from(fault);
    match intent.action() {
        action @ (Action::Update | Action::Delete) if intent.answered().unanswered > 0 => {
            failure.message = format!(
                "{} An earlier send of the same {action} may have arrived.",
                as_sentence(&failure.message)
            );
        }
        Action::Create | Action::Update | Action::Delete => {}
    }
    failure
}

/// Decides after AWS refused the call. A create has created nothing, unless an earlier send may have arrived: the
/// refusal says nothing about that one.
fn refused(step: &Step<'_>, intent: &Intent, call: &Call, fault: &Fault) -> Decision {
    let failure = marking::tell_of_tag(step.operation, call.action(), refusal(intent, fault));
    match call {
        Call::Update(_) | Call::Delete(_) => step.fail(failure, "AWS refuses the change"),
        Call::Create if intent.answered().unanswered == 0 => {
            let identifier = step.operation.identifier.clone();
            let setback = Setback::Failed(failure);
            step.end_create(setback, identifier, "AWS refuses the create")
        }
        Call::Create if fault.class == FaultClass::Denied && intent.token_lives(step.now) => {
            let state = State::Submitting(intent.answered());
            step.retry_as(state, None, "denied, but an earlier send may have arrived")
        }
        Call::Create => {
            let what = format!(
                "An earlier send of the create got no reply, and AWS now refuses it: {fault}."
            );
            let reason = "refused, but an earlier send may have arrived";
            step.outcome_unknown(intent, &what, reason)
        }
    }
}
