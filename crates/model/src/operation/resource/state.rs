use serde::{Deserialize, Serialize};

use super::intent::Intent;
use crate::{Action, Ended, Failure, RequestToken, Setback};

/// The state of an operation. Each state but the last has a next wake-up,
/// [`Header::due_at`](crate::operation::Header::due_at).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum State {
    /// Recorded; nothing has been sent to AWS for the next step.
    Accepted,
    /// What a reference stands for was not found, which is yet to be proven. The intent is the one whose reply was lost,
    /// if any.
    Missing(Option<Intent>),
    /// The intent is recorded; the call may or may not have reached AWS.
    Submitting(Intent),
    /// AWS has accepted the call.
    Waiting(Intent, RequestToken),
    /// AWS reports success; the result must still be read.
    Observing(Action),
    /// The call ended without success and may have left something: a create failed but named a resource, or a change
    /// was cancelled half-way. The resource must still be read.
    Salvaging(Action, Setback),
    /// A create was refused because the identifier is taken; the existing resource must still be read.
    Adopting(Failure),
    /// Ended; it never changes again.
    Ended(Ended),
}

impl State {
    /// Returns whether it never changes again.
    pub fn is_terminal(&self) -> bool {
        self.ended().is_some()
    }

    /// Returns how it ended, if it has.
    pub fn ended(&self) -> Option<&Ended> {
        match self {
            State::Ended(ended) => Some(ended),
            State::Accepted
            | State::Missing(_)
            | State::Submitting(_)
            | State::Waiting(..)
            | State::Observing(_)
            | State::Salvaging(..)
            | State::Adopting(_) => None,
        }
    }

    /// Returns its name for the log and the database.
    pub fn name(&self) -> &'static str {
        match self {
            State::Accepted => "accepted",
            State::Missing(_) => "missing",
            State::Submitting(_) => "submitting",
            State::Waiting(..) => "waiting",
            State::Observing(_) => "observing",
            State::Salvaging(..) => "salvaging",
            State::Adopting(_) => "adopting",
            State::Ended(ended) => ended.name(),
        }
    }

    /// Returns the call in progress, if any.
    pub fn action(&self) -> Option<Action> {
        match self {
            State::Missing(Some(intent))
            | State::Submitting(intent)
            | State::Waiting(intent, _) => Some(intent.action()),
            State::Observing(action) | State::Salvaging(action, _) => Some(*action),
            State::Adopting(_) => Some(Action::Create),
            State::Accepted | State::Missing(None) | State::Ended(_) => None,
        }
    }
}
