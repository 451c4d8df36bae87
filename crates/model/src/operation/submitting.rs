//! A recorded intent meets AWS: resuming one after a crash, and the reply to the call.

use super::decide::{Decision, Effect, Finish, MappingChange, Moved, Step};
use super::{Action, Intent, State, progressing, replacing};
use crate::{Failure, Fault, Progress};

/// Claimed with an intent whose call may or may not have reached AWS.
pub(super) fn resumed(step: &Step<'_>, intent: &Intent) -> Decision {
    match intent.action {
        Action::Create if intent.token_lives(step.now) => send_again(
            step,
            intent,
            "the token makes the same bytes the same request",
        ),
        Action::Create if step.operation.identifier.is_none() => step.outcome_unknown(
            "The reply to the create was lost, and its client token has expired.",
            "the token has expired and there is nothing to look at",
        ),
        Action::Create => Decision::then(Effect::Look, "the token has expired"),
        Action::Update | Action::Delete => {
            Decision::then(Effect::Look, "look before sending it again")
        }
    }
}

/// AWS has answered every send, each time without taking it, and somebody asked to cancel it.
pub(super) fn cancelled(step: &Step<'_>, intent: &Intent) -> Decision {
    const REASON: &str = "cancelled before AWS took it";
    if intent.action != Action::Create || replacing::is_beside_old(step) {
        return step.cancel(REASON);
    }
    let failure = Failure::new("Canceled", "Cancelled before AWS took it.");
    let finish = Finish {
        state: State::Canceled(failure),
        identifier: step.operation.identifier.clone(),
        mapping: MappingChange::Removed,
        live: None,
    };
    step.finish(finish, REASON)
}

/// Sends the recorded bytes under the recorded token once more; that it may be in flight twice is written first.
pub(super) fn send_again(step: &Step<'_>, intent: &Intent, reason: &'static str) -> Decision {
    let attempt = step.operation.attempt;
    Moved {
        attempt,
        ..step.to(State::Submitting(intent.resent()))
    }
    .then(Effect::Submit, reason)
}

/// AWS, or the transport, answered the call.
pub(super) fn answered(
    step: &Step<'_>,
    intent: &Intent,
    reply: Result<Progress, Fault>,
) -> Decision {
    let fault = match reply {
        Ok(progress) => return progressing::reported(step, intent, progress),
        Err(fault) => fault,
    };
    match fault {
        Fault::Throttled { .. }
        | Fault::Transient { .. }
        | Fault::Concurrent { .. }
        | Fault::OutcomeUnknown { .. }
            if step.out_of_patience() =>
        {
            let what = format!("The {} got no answer for a day: {fault}.", intent.action);
            step.outcome_unknown(&what, "no answer for too long")
        }
        Fault::Throttled { retry_after, .. } => step.retry_as(
            State::Submitting(intent.answered()),
            retry_after,
            "AWS asks to slow down",
        ),
        Fault::Concurrent { .. } => {
            let state = State::Submitting(intent.answered());
            step.retry_as(state, None, "another change of the resource is in flight")
        }
        Fault::Transient { .. } => step.retry(None, "AWS could not be reached"),
        Fault::OutcomeUnknown { .. } => step.retry(None, "the reply was lost"),
        Fault::Missing { .. } if intent.action == Action::Delete => {
            progressing::deleted(step, "already gone")
        }
        Fault::TokenConflict { message, .. } => {
            let what = format!("AWS knows the client token under another request: {message}");
            step.outcome_unknown(&what, "the token is spent")
        }
        Fault::Rejected { code, message }
            if intent.action == Action::Create && code.starts_with("AlreadyExists") =>
        {
            progressing::taken(step, Failure::new("AlreadyExists", message))
        }
        Fault::Missing { .. }
        | Fault::TokenUnknown { .. }
        | Fault::Denied { .. }
        | Fault::Rejected { .. } => refused(step, intent, fault),
    }
}

/// AWS refused the call outright. A create has made nothing, unless an earlier send of it may have arrived: then the
/// refusal says nothing about that one.
fn refused(step: &Step<'_>, intent: &Intent, fault: Fault) -> Decision {
    let failure = Failure::new(fault.code(), fault.message());
    if intent.action == Action::Create && intent.answered().unanswered > 0 {
        if matches!(fault, Fault::Denied { .. }) && intent.token_lives(step.now) {
            let state = State::Submitting(intent.answered());
            return step.retry_as(state, None, "denied, but an earlier send may have arrived");
        }
        let what =
            format!("An earlier send of the create got no reply, and AWS now refuses it: {fault}.");
        return step.outcome_unknown(&what, "refused, but an earlier send may have arrived");
    }
    let identifier = step.operation.identifier.clone();
    let mapping = match intent.action {
        Action::Create if replacing::is_beside_old(step) => {
            return step.fail(failure, "AWS refuses the create");
        }
        Action::Create => MappingChange::Removed,
        Action::Update | Action::Delete => return step.fail(failure, "AWS refuses the change"),
    };
    step.finish(
        Finish {
            state: State::Failed(failure),
            identifier,
            mapping,
            live: None,
        },
        "AWS refuses the create",
    )
}
