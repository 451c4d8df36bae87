//! One decision in the making: what each family needs to wait, to send, or to end.

use std::time::Duration;

use serde_json::Value;

use super::super::decision::{Chance, ReferenceChange};
use super::decision::{Decision, Finish, Moved, Next};
use super::intent::{Call, Intent};
use super::replacement::Replacing;
use super::state::State;
use super::work::ResourceWork;
use crate::{Action, Ended, Setback, Timestamp, retry};

/// How many tries in a row must have told nothing before time alone ends an operation: a process that was down has not
/// tried.
pub const TRIES_BEFORE_GIVING_UP: u32 = 20;
/// How long one state may go on without telling us anything before the operation ends without an answer.
pub const PATIENCE: Duration = Duration::from_secs(24 * 3600);

/// Waits between tries that told nothing.
const FIRST_RETRY: Duration = Duration::from_millis(250);
const LONGEST_RETRY: Duration = Duration::from_secs(30);
/// The longest wait that AWS may ask for: a clock that is off must not put an operation to sleep for days.
pub(super) const LONGEST_ASKED: Duration = Duration::from_secs(15 * 60);

/// An operation with the moment and the draws of one decision.
pub(super) struct Step<'a> {
    pub(super) operation: &'a ResourceWork,
    pub(super) now: Timestamp,
    pub(super) chance: Chance,
}

impl Step<'_> {
    /// The same facts in another state, to go on at once.
    pub(super) fn to(&self, state: State) -> Moved {
        Moved {
            state,
            identifier: self.operation.identifier.clone(),
            created: self.operation.created,
            replacing: self.operation.replacing.clone(),
            attempt: 0,
            due_at: self.now,
            planned: None,
        }
    }

    /// A new intent, about to be sent for the first time.
    pub(super) fn intend(&self, call: Call, base: Option<String>) -> Intent {
        Intent {
            call,
            client_token: self.chance.token,
            issued_at: self.now,
            base,
            unanswered: 1,
        }
    }

    /// Try the same state again after a back-off, or after what AWS asked for if that is longer.
    pub(super) fn retry(&self, asked: Option<Duration>, reason: &'static str) -> Decision {
        self.retry_as(self.operation.state.clone(), asked, reason)
    }

    /// The same, with `state` in place of the present one.
    pub(super) fn retry_as(
        &self,
        state: State,
        asked: Option<Duration>,
        reason: &'static str,
    ) -> Decision {
        let attempt = self.operation.attempt.saturating_add(1);
        let own = retry::backoff(
            self.operation.attempt,
            FIRST_RETRY,
            LONGEST_RETRY,
            self.chance.jitter,
        );
        let asked = asked.unwrap_or_default().min(LONGEST_ASKED);
        let due_at = self.now.after(own.max(asked));
        Moved {
            attempt,
            due_at,
            ..self.to(state)
        }
        .wait(reason)
    }

    /// Whether this state has told us nothing for too long.
    pub(super) fn out_of_patience(&self) -> bool {
        self.operation.attempt >= TRIES_BEFORE_GIVING_UP
            && self.now.since(self.operation.state_since) > PATIENCE
    }

    /// Whether a look that was refused may be tried again. Permissions and credentials are mended while we wait, and
    /// without a look nobody knows what a lost reply did.
    pub(super) fn may_look_again(&self) -> bool {
        self.operation.attempt < TRIES_BEFORE_GIVING_UP
    }

    /// Ends well.
    pub(super) fn succeed(
        &self,
        reference: ReferenceChange,
        live: Option<Value>,
        reason: &'static str,
    ) -> Decision {
        let finish = Finish {
            ended: Ended::Succeeded,
            identifier: self.operation.identifier.clone(),
            reference,
            live,
        };
        self.finish(finish, reason)
    }

    /// Ends where nothing was created in place of what is referenced; the reference stays if it maps something.
    pub(super) fn end_unreplaced(
        &self,
        setback: Setback,
        live: Option<Value>,
        reason: &'static str,
    ) -> Decision {
        let operation = self.operation;
        let refers_to_something = operation.was_referenced
            || operation.created
            || matches!(
                operation.state.action(),
                Some(Action::Update | Action::Delete)
            );
        let reference = match operation.identifier {
            Some(_) if refers_to_something => ReferenceChange::Kept {
                owned: operation.created,
            },
            Some(_) | None => ReferenceChange::Removed,
        };
        let finish = Finish {
            ended: setback.into(),
            identifier: operation.identifier.clone(),
            reference,
            live,
        };
        self.finish(finish, reason)
    }

    /// Ends so. A failure says what is gone already.
    pub(super) fn finish(&self, mut finish: Finish, reason: &'static str) -> Decision {
        if let Some(Replacing::OldGone { old }) = &self.operation.replacing
            && let Ended::Failed(failure) | Ended::Canceled(failure) = &mut finish.ended
        {
            failure.message = format!(
                "{} '{old}' was deleted already, to make room. Put again to create what takes its place.",
                failure.message
            );
        }
        Decision {
            next: Next::Finish(Box::new(finish)),
            effect: None,
            reason,
        }
    }
}
