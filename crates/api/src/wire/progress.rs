use serde::Serialize;
use ucp_model::operation::{Class, GroupWork, ResourceWork, Retrying, State, Work};
use ucp_model::{Action, CallClass, ErrorCode, Failure, Operation, RateKey};
use utoipa::ToSchema;

/// What a running operation is doing.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Progress {
    /// The state of the operation.
    phase: &'static str,
    /// How many tries of the change have failed, and how many tries of this phase have been inconclusive.
    attempt: u32,
    /// AWS's answer to the latest of them, if it was an error, or why nothing was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_error: Option<LastError>,
    /// When the operation continues.
    next_try_at: String,
    /// What has to happen before the next phase.
    waiting_for: String,
    /// The rate that it waits for: the account and region, and the class of calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    rate: Option<String>,
}

/// An error that does not end the operation.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct LastError {
    /// The code.
    code: String,
    /// What AWS says.
    message: String,
}

impl From<&Failure> for LastError {
    fn from(failure: &Failure) -> Self {
        Self {
            code: failure.code.clone(),
            message: failure.message.clone(),
        }
    }
}

impl Progress {
    /// Returns the progress of `operation`; `None` once it has ended.
    pub(super) fn of(operation: &Operation) -> Option<Self> {
        let (attempt, last_error, waiting_for) = match &operation.work {
            Work::Resource(work) => {
                let retrying = work.retrying.as_ref();
                let last_error = work.setback_so_far().map(LastError::from);
                let tries = retrying.map_or(0, Retrying::tries_in_all);
                let attempt = work.attempt.saturating_add(tries);
                (attempt, last_error, waited_for(work)?)
            }
            Work::Group(work) => (0, None, waited_for_in_group(work)?),
        };
        let rate = operation.header.waits_for.clone();
        let rate = rate.or_else(|| read_awaited(&operation.work));
        let waiting_for = match rate {
            Some(_) => "rate".to_owned(),
            None => waiting_for,
        };
        Some(Self {
            rate: rate.map(|rate| rate.to_string()),
            phase: operation.state_name(),
            attempt,
            last_error,
            next_try_at: operation.header.due_at.to_string(),
            waiting_for,
        })
    }
}

/// Returns the rate that a read of the operation waits for, which was not sent.
fn read_awaited(work: &Work) -> Option<RateKey> {
    let last_error = work.resource()?.last_error.as_ref()?;
    (last_error.code == ErrorCode::TooManyRequests.as_str()).then(|| RateKey {
        scope: work.scope_key(),
        class: CallClass::Reads,
    })
}

fn waited_for(work: &ResourceWork) -> Option<String> {
    Some(match (&work.state, &work.retrying, &work.cancel_asked) {
        (State::Accepted, None, _) => "a look at the resource in AWS".to_owned(),
        (State::Accepted, Some(retrying), _) if retrying.class == Class::KeepWatching => format!(
            "the resource to become as declared, since its handler gave up the {}",
            retrying.action
        ),
        (State::Accepted, Some(retrying), _) => format!(
            "another try of the {}, after a look at the resource",
            retrying.action
        ),
        (State::Missing(_), _, _) => format!(
            "proof that the resource does not exist ({} looks have not found it)",
            work.sightings.missed_in_all
        ),
        (State::Submitting(intent), Some(retrying), _) if intent.unanswered == 0 => {
            format!("another try of the {}", retrying.action)
        }
        (State::Submitting(intent), _, _) => format!("AWS to accept the {}", intent.action()),
        (State::Waiting(intent, token), _, Some(_)) => {
            format!("AWS to cancel the {} (request {token})", intent.action())
        }
        (State::Waiting(intent, token), _, None) => {
            format!("AWS to finish the {} (request {token})", intent.action())
        }
        (State::Salvaging(action, _), _, _) if work.searching.is_some() => format!(
            "a search for what the failed {action} may have made ({} have found nothing that bears its mark)",
            work.sightings.missed_in_all
        ),
        (State::Observing(action) | State::Salvaging(action, _), _, _) => {
            format!("a read of the resource after the {action}")
        }
        (State::Adopting(_), _, _) => {
            let action = Action::Create;
            format!("a look at what has the identifier, after the {action}")
        }
        (State::Ended(_), _, _) => return None,
    })
}

fn waited_for_in_group(work: &GroupWork) -> Option<String> {
    let GroupWork { done, total, .. } = work;
    match work.ended() {
        None => Some(format!(
            "{} of {total} resources",
            total.saturating_sub(*done)
        )),
        Some(_) => None,
    }
}
