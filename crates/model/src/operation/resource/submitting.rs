//! Transitions of a recorded intent: resuming it after a crash, and the reply to the call.

use super::super::decision::Effect;
use super::decision::{Decision, Moved};
use super::ending::cancelled as before_aws_took_it;
use super::intent::{Call, Intent};
use super::progressing;
use super::state::State;
use super::step::Step;
use crate::{Action, ErrorCode, Failure, Fault, FaultClass, Progress, Setback};

/// Resumes an intent whose call may or may not have reached AWS.
pub(super) fn resumed(step: &Step<'_>, intent: &Intent) -> Decision {
    let look = |reason| Decision::then(Effect::Look(step.operation.subject().cloned()), reason);
    match intent.action() {
        Action::Create if intent.token_lives(step.now) => send_again(
            step,
            intent,
            "the token makes the same bytes the same request",
        ),
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
        (FaultClass::Throttled, _) => step.retry_as(
            State::Submitting(intent.answered()),
            fault.retry_after,
            "AWS asks to slow down",
        ),
        (FaultClass::Concurrent, _) => {
            let state = State::Submitting(intent.answered());
            step.retry_as(state, None, "another change of the resource is in flight")
        }
        (FaultClass::Transient, _) => step.retry(None, "AWS could not be reached"),
        (FaultClass::OutcomeUnknown, _) => step.retry(None, "the reply was lost"),
        (FaultClass::Missing, Call::Delete(_)) => progressing::deleted(step, "already gone"),
        (FaultClass::TokenConflict, _) => {
            let message = fault.message;
            let what =
                format!("AWS says that the client token belongs to another request: {message}");
            step.outcome_unknown(intent, &what, "the token is spent")
        }
        (FaultClass::AlreadyExists, Call::Create) => {
            progressing::taken(step, Failure::new(ErrorCode::AlreadyExists, fault.message))
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

/// Decides after AWS refused the call. A create has created nothing, unless an earlier send may have arrived: the
/// refusal says nothing about that one.
fn refused(step: &Step<'_>, intent: &Intent, call: &Call, fault: &Fault) -> Decision {
    let failure = Failure::from(fault);
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
