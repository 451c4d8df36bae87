//! AWS has the request: what its progress events mean.

use std::time::Duration;

use super::decide::{Decision, Effect, Finish, LONGEST_ASKED, MappingChange, Moved, Step};
use super::{Action, Intent, REQUEST_TOKEN_LIFE, State, replacing};
use crate::{
    AdditionalInfo, CloudControlRequest, Failure, Fault, HookFailure, Identifier, Progress,
    ProgressStatus, RequestToken, Timestamp, retry,
};

/// Waits between polls when AWS does not say how long.
const FIRST_POLL: Duration = Duration::from_millis(250);
const LONGEST_POLL: Duration = Duration::from_secs(20);

/// The reply to `GetResourceRequestStatus`.
pub(super) fn polled(step: &Step<'_>, intent: &Intent, reply: Result<Progress, Fault>) -> Decision {
    match reply {
        Ok(progress) => reported(step, intent, progress),
        Err(Fault::TokenUnknown { .. }) => step
            .to(State::Submitting(intent.clone()))
            .wait("AWS has forgotten the request: find out what came of it"),
        Err(fault) if step.now.since(step.operation.state_since) > REQUEST_TOKEN_LIFE => {
            let what = format!(
                "The {} is in flight, and asking after it still fails after a week: {fault}.",
                intent.action
            );
            step.outcome_unknown(&what, "no answer for too long")
        }
        Err(Fault::Throttled { retry_after, .. }) => {
            step.retry(retry_after, "AWS asks to slow down")
        }
        Err(
            Fault::Transient { .. }
            | Fault::OutcomeUnknown { .. }
            | Fault::Concurrent { .. }
            | Fault::TokenConflict { .. }
            | Fault::Missing { .. }
            | Fault::Denied { .. }
            | Fault::Rejected { .. },
        ) => step.retry(None, "the poll told nothing"),
    }
}

/// The reply to `CancelResourceRequest`.
pub(super) fn cancel_asked(
    step: &Step<'_>,
    intent: &Intent,
    reply: Result<Progress, Fault>,
) -> Decision {
    match reply {
        Ok(progress) => reported(step, intent, progress),
        // It may have ended, or be on its way to being cancelled.
        Err(_) => Decision::then(Effect::Poll, "AWS does not cancel it: ask after it"),
    }
}

/// A progress event, from the call itself or from a poll.
pub(super) fn reported(step: &Step<'_>, intent: &Intent, progress: Progress) -> Decision {
    let Progress {
        request_token,
        status,
        identifier: revealed,
        retry_after,
    } = progress;
    let revealed = revealed.filter(|_| intent.action == Action::Create);
    let known = revealed
        .clone()
        .or_else(|| step.operation.identifier.clone());
    let subject = match intent.action {
        Action::Create => revealed.as_ref(),
        Action::Update | Action::Delete => step.operation.subject(),
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
        ProgressStatus::Success => match intent.action {
            Action::Create if known.is_none() => step.outcome_unknown(
                "AWS reports success but names no resource.",
                "no identifier",
            ),
            Action::Create | Action::Update => {
                let moved = Moved {
                    identifier: known,
                    ..step.to(State::Observing(intent.action))
                };
                moved.then(Effect::Read, "AWS reports success")
            }
            Action::Delete => deleted(step, "AWS reports success"),
        },
        ProgressStatus::Failed {
            code,
            message,
            hooks,
        } => {
            let info = about(step, intent, request_token, subject, hooks);
            let failure = Failure::new(code, message).with_additional_info(info);
            match (intent.action, failure.code.as_str()) {
                (Action::Delete, "NotFound") => deleted(step, "already gone"),
                (Action::Create, "AlreadyExists") => taken(step, failure),
                (Action::Create, _) => create_ended(step, revealed, State::Failed(failure)),
                (Action::Update | Action::Delete, _) => step.fail(failure, "AWS reports failure"),
            }
        }
        ProgressStatus::Canceled => {
            let failure = Failure::new(
                "Canceled",
                format!("The {} was cancelled in AWS.", intent.action),
            )
            .with_additional_info(about(
                step,
                intent,
                request_token,
                subject,
                Vec::new(),
            ));
            match intent.action {
                Action::Create => create_ended(step, revealed, State::Canceled(failure)),
                Action::Delete
                    if step.operation.deletes() && step.operation.replacing.is_some() =>
                {
                    step.end(State::Canceled(failure), None, "AWS reports it cancelled")
                }
                Action::Update | Action::Delete => step
                    .to(State::Salvaging(intent.action, failure))
                    .then(Effect::Read, "cancelled: see what is left"),
            }
        }
    }
}

/// Which request failed, and at which hooks.
fn about(
    step: &Step<'_>,
    intent: &Intent,
    request_token: RequestToken,
    subject: Option<&Identifier>,
    hooks: Vec<HookFailure>,
) -> Vec<AdditionalInfo> {
    let request = AdditionalInfo::CloudControlRequest(CloudControlRequest {
        request_token,
        operation: intent.action,
        type_name: step.operation.type_name.clone(),
        identifier: subject.cloned(),
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

/// What was to be deleted is gone.
pub(super) fn deleted(step: &Step<'_>, reason: &'static str) -> Decision {
    if let Some(replacing) = &step.operation.replacing {
        return replacing::deleted(step, replacing, reason);
    }
    let identifier = step.operation.identifier.clone();
    step.finish(
        Finish {
            state: State::Succeeded,
            identifier,
            mapping: MappingChange::Removed,
            live: None,
        },
        reason,
    )
}

/// A create ended without success. What AWS named may exist.
fn create_ended(step: &Step<'_>, revealed: Option<Identifier>, end: State) -> Decision {
    let failure = match &end {
        State::Failed(failure) | State::Canceled(failure) => failure.clone(),
        State::Accepted
        | State::Submitting(_)
        | State::Waiting(..)
        | State::Observing(_)
        | State::Salvaging(..)
        | State::Adopting(_)
        | State::Succeeded => Failure::new("InternalFailure", "the create ended without a reason"),
    };
    let seen = revealed.or_else(|| match step.operation.state {
        State::Waiting(..) => step.operation.identifier.clone(),
        _ => None,
    });
    match seen {
        Some(identifier) => {
            let moved = Moved {
                identifier: Some(identifier),
                ..step.to(State::Salvaging(Action::Create, failure))
            };
            moved.then(Effect::Read, "the create failed but named a resource")
        }
        None if replacing::is_beside_old(step) => {
            step.end(end, None, "the create failed and named nothing")
        }
        None => {
            let finish = Finish {
                state: end,
                identifier: None,
                mapping: MappingChange::Removed,
                live: None,
            };
            step.finish(finish, "the create failed and named nothing")
        }
    }
}

/// The identifier belongs to a resource that this operation did not make.
pub(super) fn taken(step: &Step<'_>, failure: Failure) -> Decision {
    if replacing::is_beside_old(step) {
        return step.fail(failure, "something else has the new identifier");
    }
    if step.operation.identifier.is_none() {
        let finish = Finish {
            state: State::Failed(failure),
            identifier: None,
            mapping: MappingChange::Removed,
            live: None,
        };
        return step.finish(finish, "something else stands in the way");
    }
    let moved = Moved {
        created: false,
        ..step.to(State::Adopting(failure))
    };
    moved.then(Effect::Look, "the identifier is taken")
}
