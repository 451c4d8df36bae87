use serde::{Deserialize, Serialize};

use super::intent::Intent;
use crate::{Action, Ended, Failure, RequestToken, Setback};

/// How far an operation is. Each state but the last has a next wake-up, [`Header::due_at`](crate::operation::Header::due_at).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum State {
    /// Recorded; nothing was sent to AWS for what is to be done next.
    Accepted,
    /// The intent is recorded; the call may or may not have reached AWS.
    Submitting(Intent),
    /// AWS has accepted the call.
    Waiting(Intent, RequestToken),
    /// AWS reports success; the result is still to be read.
    Observing(Action),
    /// The call ended without success and may have left something: a create that failed but named a resource, or a
    /// change that was cancelled half-way. What there is is still to be read.
    Salvaging(Action, Setback),
    /// A create was refused because the identifier is taken; who holds it is still to be read.
    Adopting(Failure),
    /// It never changes again.
    Ended(Ended),
}

impl State {
    /// Whether it never changes again.
    pub fn is_terminal(&self) -> bool {
        self.ended().is_some()
    }

    /// How it ended.
    pub fn ended(&self) -> Option<&Ended> {
        match self {
            State::Ended(ended) => Some(ended),
            State::Accepted
            | State::Submitting(_)
            | State::Waiting(..)
            | State::Observing(_)
            | State::Salvaging(..)
            | State::Adopting(_) => None,
        }
    }

    /// One word for the log and the database.
    pub fn name(&self) -> &'static str {
        match self {
            State::Accepted => "accepted",
            State::Submitting(_) => "submitting",
            State::Waiting(..) => "waiting",
            State::Observing(_) => "observing",
            State::Salvaging(..) => "salvaging",
            State::Adopting(_) => "adopting",
            State::Ended(ended) => ended.name(),
        }
    }

    /// The call that is under way.
    pub fn action(&self) -> Option<Action> {
        match self {
            State::Submitting(intent) | State::Waiting(intent, _) => Some(intent.action()),
            State::Observing(action) | State::Salvaging(action, _) => Some(*action),
            State::Adopting(_) => Some(Action::Create),
            State::Accepted | State::Ended(_) => None,
        }
    }
}
