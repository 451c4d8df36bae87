//! Transitions after progress events of a request that AWS has accepted.

use std::time::Duration;

use super::super::decision::{Effect, ReferenceChange};
use super::decision::{Decision, Finish, Moved};
use super::intent::{Call, Intent};
use super::replacing;
use super::state::State;
use super::step::{LONGEST_ASKED, Step};
use crate::{
    Action, AdditionalInfo, CloudControlRequest, Ended, ErrorCode, Failure, Fault, FaultClass,
    HandlerErrorCode, HookFailure, Identifier, Progress, ProgressStatus, RequestToken, Setback,
    Timestamp, retry,
};

/// How long AWS keeps a request token.
pub const REQUEST_TOKEN_LIFE: Duration = Duration::from_secs(7 * 24 * 3600);

/// Delays between polls if AWS does not ask for one.
const FIRST_POLL: Duration = Duration::from_millis(250);
const LONGEST_POLL: Duration = Duration::from_secs(20);

/// Decides after the reply to `GetResourceRequestStatus`.
pub(super) fn polled(step: &Step<'_>, intent: &Intent, reply: Result<Progress, Fault>) -> Decision {
    match reply {
        Ok(progress) => reported(step, intent, progress),
        Err(fault) if fault.class == FaultClass::TokenUnknown => step
            .to(State::Submitting(intent.clone()))
            .wait("AWS has forgotten the request: find out what came of it"),
        Err(fault) if step.now.since(step.operation.state_since) > REQUEST_TOKEN_LIFE => {
            let what = format!(
                "The {} is in flight, and polling it still fails after a week: {fault}.",
                intent.action()
            );
            step.outcome_unknown(intent, &what, "no answer for too long")
        }
        Err(fault) => {
            let reason = match fault.class {
                FaultClass::Throttled => "AWS asks to slow down",
                FaultClass::Transient
                | FaultClass::OutcomeUnknown
                | FaultClass::Concurrent
                | FaultClass::TokenConflict
                | FaultClass::TokenUnknown
                | FaultClass::AlreadyExists
                | FaultClass::Missing
                | FaultClass::Denied
                | FaultClass::Rejected => "the poll was inconclusive",
            };
            step.retry(fault.retry_after, reason)
        }
    }
}

/// Decides after the reply to `CancelResourceRequest`.
pub(super) fn cancel_asked(
    step: &Step<'_>,
    intent: &Intent,
    request_token: &RequestToken,
    reply: Result<Progress, Fault>,
) -> Decision {
    match reply {
        Ok(progress) => reported(step, intent, progress),
        // It may have ended, or is being cancelled already.
        Err(_) => Decision::then(
            Effect::Poll(request_token.clone()),
            "AWS does not cancel it: ask after it",
        ),
    }
}

/// Decides after a progress event, from the call itself or from a poll.
pub(super) fn reported(step: &Step<'_>, intent: &Intent, progress: Progress) -> Decision {
    let Progress {
        request_token,
        status,
        identifier: revealed,
        retry_after,
    } = progress;
    let revealed = match intent.call {
        Call::Create => revealed,
        Call::Update(_) | Call::Delete(_) => None,
    };
    let known = revealed
        .clone()
        .or_else(|| step.operation.identifier.clone());
    let about = |hooks| {
        about(
            step,
            intent,
            request_token.clone(),
            revealed.as_ref(),
            hooks,
        )
    };
    match status {
        ProgressStatus::Running => {
            let is_polling = matches!(step.operation.state, State::Waiting(..));
            let attempt = if is_polling {
                step.operation.attempt.saturating_add(1)
            } else {
                0
            };
            let due_at = next_poll(step, attempt, retry_after);
            let state = State::Waiting(intent.clone(), request_token);
            Moved {
                identifier: known,
                attempt,
                due_at,
                ..step.to(state)
            }
            .wait("in flight")
        }
        ProgressStatus::Success => match intent.call {
            Call::Create if known.is_none() => step.outcome_unknown(
                intent,
                "AWS reports success but names no resource.",
                "no identifier",
            ),
            Call::Create
                if let (Some(asked_for), Some(made)) = (&step.operation.asked_for, &known)
                    && !is_same_name(asked_for, made) =>
            {
                misnamed(step, asked_for, made, about(Vec::new()))
            }
            Call::Create | Call::Update(_) => {
                let moved = Moved {
                    identifier: known,
                    ..step.to(State::Observing(intent.action()))
                };
                moved.then_read("AWS reports success")
            }
            Call::Delete(_) => deleted(step, "AWS reports success"),
        },
        ProgressStatus::Failed {
            code,
            message,
            hooks,
        } => {
            let failure = Failure::new(code.as_str(), message).with_additional_info(about(hooks));
            match (&intent.call, code) {
                (Call::Delete(_), HandlerErrorCode::NotFound) => deleted(step, "already gone"),
                (Call::Create, HandlerErrorCode::AlreadyExists) => taken(step, failure),
                (Call::Create, HandlerErrorCode::NotFound | HandlerErrorCode::Other(_)) => {
                    create_ended(step, revealed, Setback::Failed(failure))
                }
                (Call::Update(_) | Call::Delete(_), _) => step.fail(failure, "AWS reports failure"),
            }
        }
        ProgressStatus::Canceled => {
            let message = format!("The {} was cancelled in AWS.", intent.action());
            let failure =
                Failure::new(ErrorCode::Canceled, message).with_additional_info(about(Vec::new()));
            let setback = Setback::Canceled(failure);
            match intent.call {
                Call::Create => create_ended(step, revealed, setback),
                Call::Delete(_)
                    if step.operation.deletes() && step.operation.replacing.is_some() =>
                {
                    step.end(setback, None, "AWS reports it cancelled")
                }
                Call::Update(_) | Call::Delete(_) => step
                    .to(State::Salvaging(intent.action(), setback))
                    .then_read("cancelled: see what is left"),
            }
        }
    }
}

/// Returns whether AWS has the resource under the name that was asked for. Some types fold the case.
fn is_same_name(asked_for: &Identifier, made: &Identifier) -> bool {
    asked_for.as_str().eq_ignore_ascii_case(made.as_str())
}

/// Decides after AWS has created the resource under another name than the request asked for.
fn misnamed(
    step: &Step<'_>,
    asked_for: &Identifier,
    made: &Identifier,
    about: Vec<AdditionalInfo>,
) -> Decision {
    let operation = step.operation;
    let type_name = &operation.type_name;
    let message = format!(
        "AWS created the {type_name} '{made}', although '{asked_for}' was asked for. Use '{made}', or delete it and put it with :put and trackedBy."
    );
    let failure = Failure::new(ErrorCode::IdentifierMismatch, message)
        .with_target(operation.scope.resource(type_name, made))
        .with_additional_info(about);
    let finish = Finish {
        ended: Ended::Failed(failure),
        identifier: Some(made.clone()),
        reference: ReferenceChange::Removed,
        live: None,
    };
    step.finish(finish, "AWS created it under another name")
}

/// Describes the request that failed and the hooks that failed.
fn about(
    step: &Step<'_>,
    intent: &Intent,
    request_token: RequestToken,
    revealed: Option<&Identifier>,
    hooks: Vec<HookFailure>,
) -> Vec<AdditionalInfo> {
    let identifier = match &intent.call {
        Call::Create => revealed,
        Call::Update(identifier) | Call::Delete(identifier) => Some(identifier),
    };
    let request = AdditionalInfo::CloudControlRequest(CloudControlRequest {
        request_token,
        operation: intent.action(),
        type_name: step.operation.type_name.clone(),
        identifier: identifier.cloned(),
    });
    let hooks = hooks.into_iter().map(AdditionalInfo::CloudFormationHook);
    std::iter::once(request).chain(hooks).collect()
}

fn next_poll(step: &Step<'_>, attempt: u32, retry_after: Option<Timestamp>) -> Timestamp {
    let own = step.now.after(retry::backoff(
        attempt,
        FIRST_POLL,
        LONGEST_POLL,
        step.chance.jitter,
    ));
    let latest = step.now.after(LONGEST_ASKED);
    retry_after
        .filter(|asked| *asked > step.now)
        .map_or(own, |asked| asked.min(latest))
}

/// Decides after the resource to delete is gone.
pub(super) fn deleted(step: &Step<'_>, reason: &'static str) -> Decision {
    match &step.operation.replacing {
        Some(replacing) => replacing::deleted(step, replacing, reason),
        None => step.succeed(ReferenceChange::Removed, None, reason),
    }
}

/// Decides after a create ended without success. A resource that AWS named may exist.
fn create_ended(step: &Step<'_>, revealed: Option<Identifier>, setback: Setback) -> Decision {
    let seen = revealed.or_else(|| match step.operation.state {
        State::Waiting(..) => step.operation.identifier.clone(),
        State::Accepted
        | State::Submitting(_)
        | State::Observing(_)
        | State::Salvaging(..)
        | State::Adopting(_)
        | State::Ended(_) => None,
    });
    match seen {
        Some(_) => {
            let moved = Moved {
                identifier: seen,
                ..step.to(State::Salvaging(Action::Create, setback))
            };
            moved.then_read("the create failed but named a resource")
        }
        None => step.end_create(setback, None, "the create failed and named nothing"),
    }
}

/// Decides after a create was refused because its identifier belongs to another resource.
pub(super) fn taken(step: &Step<'_>, failure: Failure) -> Decision {
    if replacing::is_beside_old(step) {
        return step.fail(failure, "something else has the new identifier");
    }
    if step.operation.identifier.is_none() {
        let setback = Setback::Failed(failure);
        return step.end_create(setback, None, "something else stands in the way");
    }
    let moved = Moved {
        created: false,
        ..step.to(State::Adopting(failure))
    };
    moved.then_look("the identifier is taken")
}
