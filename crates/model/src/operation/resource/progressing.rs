//! Transitions after progress events of a request that AWS has accepted.

use std::time::Duration;

use super::super::decision::{Effect, ReferenceChange};
use super::concluding::{create_ended, deleted, is_told, not_found, taken};
use super::decision::{Decision, Finish, Moved};
use super::forecast::Forecast;
use super::in_flight::CancelAsked;
use super::intent::{Call, Intent};
use super::marking;
use super::patience::told;
use super::replacing;
use super::retry_class::{Class, Course, Left, Problem, retry_class};
use super::sightings::Sightings;
use super::state::State;
use super::step::{LONGEST_ASKED, Step};
use super::tries::Retrying;
use crate::{
    Action, AdditionalInfo, CloudControlRequest, Ended, ErrorCode, Failure, Fault, FaultClass,
    HandlerErrorCode, HookFailure, Identifier, LeftoverReason, NewLeftover, Progress,
    ProgressStatus, RequestToken, Setback, Timestamp, retry,
};

/// How long AWS keeps a request token.
pub const REQUEST_TOKEN_LIFE: Duration = Duration::from_secs(7 * 24 * 3600);

/// Delays between requests to cancel the same change.
const FIRST_CANCEL: Duration = Duration::from_secs(5);
const LONGEST_CANCEL: Duration = Duration::from_secs(10 * 60);

/// Returns what is recorded when AWS is asked once more to cancel.
fn cancel_once_more(step: &Step<'_>) -> CancelAsked {
    let times = step.operation.cancel_asked.map_or(0, |asked| asked.times);
    let wait = retry::backoff(times, FIRST_CANCEL, LONGEST_CANCEL, step.chance.jitter);
    CancelAsked {
        times: times.saturating_add(1),
        next_at: step.now.after(wait),
    }
}

/// Resumes an operation whose change is in flight. A change that is not wanted any more, or that takes too long, is
/// cancelled. AWS may not be able to, so it is not asked at each poll.
pub(super) fn resumed(step: &Step<'_>, intent: &Intent, request: &RequestToken) -> Decision {
    let poll = || Decision::then(Effect::Poll(request.clone()), "a change is in flight");
    let reason = if step.is_to_be_cancelled {
        "somebody asked to cancel it"
    } else if is_overdue(step, intent) {
        "it takes too long"
    } else {
        return poll();
    };
    match step.operation.cancel_asked {
        Some(asked) if asked.next_at > step.now => poll(),
        Some(_) | None => Moved {
            attempt: step.operation.attempt,
            cancel_asked: Some(cancel_once_more(step)),
            ..step.to(step.operation.state.clone())
        }
        .then(Effect::Cancel(request.clone()), reason),
    }
}

fn is_overdue(step: &Step<'_>, intent: &Intent) -> bool {
    step.now >= step.operation.overdue_at(intent.action())
}

/// Decides after the reply to `GetResourceRequestStatus`.
pub(super) fn polled(step: &Step<'_>, intent: &Intent, reply: Result<Progress, Fault>) -> Decision {
    match reply {
        Ok(progress) if !is_of(step, intent, &progress) => {
            let what = format!(
                "AWS says that the client token belongs to another request, {}, which is not the {} of a {}.",
                progress.request_token,
                intent.action(),
                step.operation.type_name
            );
            step.outcome_unknown(intent, &what, "the request is somebody else's")
        }
        Ok(progress) => reported(step, intent, progress),
        Err(fault) if fault.class == FaultClass::TokenUnknown => {
            forgotten(step, intent, Failure::from(&fault))
        }
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

/// Returns whether the request is the one of `intent`, as far as AWS says what it is.
fn is_of(step: &Step<'_>, intent: &Intent, progress: &Progress) -> bool {
    let type_name = progress.type_name.as_ref();
    type_name.is_none_or(|type_name| *type_name == step.operation.type_name)
        && progress
            .action
            .is_none_or(|action| action == intent.action())
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
        type_name: _,
        action: _,
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
        ProgressStatus::Running
            if matches!(step.operation.state, State::Waiting(..))
                && step.now.since(step.operation.state_since) > REQUEST_TOKEN_LIFE =>
        {
            let what = format!("The {} is still in flight after a week.", intent.action());
            step.outcome_unknown(intent, &what, "in flight for too long")
        }
        ProgressStatus::Running => {
            let is_polling = matches!(step.operation.state, State::Waiting(..));
            let attempt = if is_polling {
                step.operation.attempt.saturating_add(1)
            } else {
                0
            };
            let due_at = next_poll(step, attempt, retry_after);
            let state = State::Waiting(intent.clone(), request_token);
            let is_told = is_told(step, revealed.as_ref(), false);
            Moved {
                identifier: known,
                named: step.operation.named || is_told,
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
                    && !asked_for.is_spelled_like(made) =>
            {
                misnamed(step, asked_for, made, about(Vec::new()))
            }
            Call::Create | Call::Update(_) => {
                let moved = Moved {
                    identifier: known,
                    retrying: None,
                    named: step.operation.named || revealed.is_some(),
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
            let failure = marking::tell_of_tag(step.operation, intent.action(), failure);
            failed(step, intent, revealed, &Problem::Failed(code), failure)
        }
        // It was cancelled because it took too long, and not because somebody asked for that.
        ProgressStatus::Canceled
            if !step.is_to_be_cancelled && step.operation.cancel_asked.is_some() =>
        {
            let code = HandlerErrorCode::NotStabilized;
            let minutes = step.operation.time_limits.of(intent.action()).as_secs() / 60;
            let message = format!(
                "The {} took longer than {minutes} minutes, so ucp cancelled it in AWS.",
                intent.action()
            );
            let failure =
                Failure::new(code.as_str(), message).with_additional_info(about(Vec::new()));
            failed(step, intent, revealed, &Problem::Overdue, failure)
        }
        ProgressStatus::Canceled => {
            let message = format!("The {} was cancelled in AWS.", intent.action());
            let failure =
                Failure::new(ErrorCode::Canceled, message).with_additional_info(about(Vec::new()));
            let setback = Setback::Canceled(failure);
            match intent.call {
                Call::Create => {
                    let search = known
                        .is_none()
                        .then(|| step.search_first(Class::MayLeave, &setback));
                    search
                        .flatten()
                        .unwrap_or_else(|| create_ended(step, revealed, setback))
                }
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

/// Decides after AWS has ended the change with an error. `revealed` is the resource that AWS named.
pub(super) fn failed(
    step: &Step<'_>,
    intent: &Intent,
    revealed: Option<Identifier>,
    problem: &Problem,
    failure: Failure,
) -> Decision {
    let action = intent.action();
    let class = retry_class(problem, action);
    match (class, action) {
        (Class::Absent, Action::Delete) => return not_found(step),
        (Class::Prove, Action::Create) => {
            let setback = Setback::Failed(failure);
            let search = revealed
                .is_none()
                .then(|| step.search_first(class, &setback));
            return search
                .flatten()
                .unwrap_or_else(|| taken(step, revealed, setback.failure().clone()));
        }
        (
            Class::Again
            | Class::LookThenAgain
            | Class::Queue
            | Class::Unknown
            | Class::KeepWatching
            | Class::Prove
            | Class::Absent
            | Class::Soon
            | Class::Permission
            | Class::Follow
            | Class::Overdue
            | Class::MayLeave
            | Class::Terminal,
            _,
        ) => {}
    }
    let is_told = is_told(step, revealed.as_ref(), class.leaves_made());
    let is_named = is_told || action == Action::Create && step.operation.named;
    let known = revealed.clone().or_else(|| match action {
        Action::Create => step.operation.identifier.clone(),
        Action::Update | Action::Delete => step.operation.subject().cloned(),
    });
    let is_create_beside_old = action == Action::Create && replacing::is_beside_old(step);
    let left = match &known {
        None => Left::Unnamed,
        // A replacement gives up what is half made, and keeps the old resource.
        Some(_) if is_create_beside_old && is_named => {
            return ended(step, action, revealed, failure);
        }
        // AWS refuses a second one of that name.
        Some(_) if is_create_beside_old => Left::Absent,
        // What has the declared name may be somebody else's.
        Some(_) if class == Class::KeepWatching && action == Action::Create && !is_named => {
            Left::Absent
        }
        Some(_) => Left::Present,
    };
    let course = class.course(action, left);
    if known.is_none()
        && action == Action::Create
        && class != Class::Unknown
        && let Some(search) = step.search_first(class, &Setback::Failed(failure.clone()))
    {
        return search;
    }
    match course {
        Course::Unknown => {
            let what = format!(
                "AWS does not say what came of the {action}: {}: {}",
                failure.code, failure.message
            );
            step.outcome_unknown(intent, &what, "what came of it is not known")
        }
        course @ (Course::Again | Course::GoOn | Course::Watch) => {
            match Retrying::after(step, action, class, failure.clone(), is_named) {
                None => ended(step, action, revealed, told(step, action, failure)),
                Some(retrying) if course == Course::Again => {
                    send_anew(step, &intent.call, intent.base.clone(), retrying)
                }
                Some(retrying) => go_on(step, retrying, known),
            }
        }
        Course::Prove | Course::Follow | Course::Succeed | Course::Fail => {
            ended(step, action, revealed, failure)
        }
    }
}

/// Looks at the resource after a back-off, and then goes on with what the change has left: `known`, if it is a create.
pub(super) fn go_on(step: &Step<'_>, retrying: Retrying, known: Option<Identifier>) -> Decision {
    let before = &step.operation.identifier;
    let (identifier, is_another) = match retrying.action {
        Action::Create => (known.clone(), known != *before),
        Action::Update | Action::Delete => (before.clone(), false),
    };
    Moved {
        named: step.operation.named || retrying.is_named,
        // Looks for another one say nothing about what is named now.
        sightings: if is_another {
            Sightings::default()
        } else {
            step.sightings
        },
        identifier,
        due_at: retrying.due_at(step),
        retrying: Some(retrying),
        ..step.to(State::Accepted)
    }
    .wait("it failed for a reason that passes: look, then go on")
}

/// Sends the same bytes under a new token, after a back-off.
pub(super) fn send_anew(
    step: &Step<'_>,
    call: &Call,
    base: Option<String>,
    retrying: Retrying,
) -> Decision {
    let intent = Intent {
        unanswered: 0,
        ..step.intend(call.clone(), base)
    };
    Moved {
        due_at: retrying.due_at(step),
        retrying: Some(retrying),
        planned: Some(step.operation.changes.clone()),
        ..step.to(State::Submitting(intent))
    }
    .wait("it failed for a reason that passes: again under a new token")
}

/// Decides after AWS has forgotten the request: what came of it is found out by sending it again under its token, or by
/// a look, until it has been forgotten too often.
fn forgotten(step: &Step<'_>, intent: &Intent, failure: Failure) -> Decision {
    let (action, class) = (intent.action(), Class::Unknown);
    match Retrying::after(step, action, class, failure, false) {
        Some(retrying) => Moved {
            due_at: retrying.due_at(step),
            retrying: Some(retrying),
            ..step.to(State::Submitting(intent.clone()))
        }
        .wait("AWS has forgotten the request: find out what came of it"),
        None => {
            let what =
                format!("AWS accepts the {action}, but again and again does not know its request.");
            step.outcome_unknown(intent, &what, "AWS forgets the request each time")
        }
    }
}

/// Ends with AWS's error.
pub(super) fn ended(
    step: &Step<'_>,
    action: Action,
    revealed: Option<Identifier>,
    failure: Failure,
) -> Decision {
    match action {
        Action::Create => create_ended(step, revealed, Setback::Failed(failure)),
        Action::Update | Action::Delete => step.fail(failure, "AWS reports failure"),
    }
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
        leftover: Some(NewLeftover {
            identifier: Some(made.clone()),
            reason: LeftoverReason::Misnamed,
            error: None,
            create: None,
        }),
        told: None,
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

/// Returns when to ask after the request: when AWS asks for it, since it is of no use before; else as the forecast says. What is
/// being cancelled is not left to others.
fn next_poll(step: &Step<'_>, attempt: u32, retry_after: Option<Timestamp>) -> Timestamp {
    let operation = step.operation;
    let age = match operation.state {
        State::Waiting(..) => step.now.since(operation.state_since),
        State::Accepted
        | State::Missing(_)
        | State::Submitting(_)
        | State::Observing(_)
        | State::Salvaging(..)
        | State::Adopting(_)
        | State::Ended(_) => Duration::ZERO,
    };
    let forecast = if step.is_to_be_cancelled || operation.cancel_asked.is_some() {
        Forecast::default()
    } else {
        operation.forecast
    };
    let own = forecast.until_next_poll(age, attempt, step.chance.jitter);
    let latest = step.now.after(LONGEST_ASKED);
    retry_after
        .filter(|asked| *asked > step.now)
        .map_or_else(|| step.now.after(own), |asked| asked.min(latest))
}
