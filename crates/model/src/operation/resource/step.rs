//! Steps common to all families: waiting, sending and ending.

use std::time::Duration;

use serde_json::Value;

use super::super::decision::{Chance, ReferenceChange};
use super::decision::{Decision, Finish, Moved, Next};
use super::intent::{Call, Intent};
use super::replacement::Replacing;
use super::sightings::{LOOKS_MIN, SETTLING_WINDOW, Sightings};
use super::state::State;
use super::work::ResourceWork;
use crate::{Action, Ended, Setback, Timestamp, retry};

/// How many consecutive inconclusive tries are needed before elapsed time alone can end an operation: time in which the
/// process was down must not count as trying.
pub const TRIES_BEFORE_GIVING_UP: u32 = 20;
/// How long one state may last without a conclusive result before the operation ends with its outcome unknown.
pub const PATIENCE: Duration = Duration::from_secs(24 * 3600);

/// How long a change of a role or a policy may take to have its effect.
pub const PERMISSIONS_SETTLE: Duration = Duration::from_secs(2 * 60);

/// How long a change under way waits for the schema of its type.
const SCHEMA_PAUSE: Duration = Duration::from_secs(10);

/// Delays between inconclusive tries.
const FIRST_RETRY: Duration = Duration::from_millis(250);
const LONGEST_RETRY: Duration = Duration::from_secs(30);
/// The longest delay that AWS may ask for: clock skew must not suspend an operation for days.
pub(super) const LONGEST_ASKED: Duration = Duration::from_secs(15 * 60);

/// An operation, with the current time and the random draws for one decision.
pub(super) struct Step<'a> {
    pub(super) operation: &'a ResourceWork,
    /// What looks have shown, the latest observation included.
    pub(super) sightings: Sightings,
    pub(super) now: Timestamp,
    pub(super) is_to_be_cancelled: bool,
    pub(super) chance: Chance,
}

impl Step<'_> {
    /// Enters another state with everything else unchanged, due now.
    pub(super) fn to(&self, state: State) -> Moved {
        let cancel_asked = match &state {
            State::Waiting(..) => self.operation.cancel_asked,
            State::Accepted
            | State::Missing(_)
            | State::Submitting(_)
            | State::Observing(_)
            | State::Salvaging(..)
            | State::Adopting(_)
            | State::Ended(_) => None,
        };
        let searching = match &state {
            State::Salvaging(..) => self.operation.searching,
            State::Accepted
            | State::Missing(_)
            | State::Submitting(_)
            | State::Waiting(..)
            | State::Observing(_)
            | State::Adopting(_)
            | State::Ended(_) => None,
        };
        Moved {
            state,
            identifier: self.operation.identifier.clone(),
            created: self.operation.created,
            named: self.operation.named,
            // Searches that found nothing say nothing of what is named later.
            sightings: if self.operation.searching.is_some() && searching.is_none() {
                Sightings::default()
            } else {
                self.sightings
            },
            replacing: self.operation.replacing.clone(),
            attempt: 0,
            refusals: self.operation.refusals.clone(),
            retrying: self.operation.retrying.clone(),
            searching,
            cancel_asked,
            due_at: self.now,
            planned: None,
        }
    }

    /// Creates an intent that is about to be sent for the first time.
    pub(super) fn intend(&self, call: Call, base: Option<String>) -> Intent {
        Intent {
            call,
            client_token: self.chance.token,
            issued_at: self.now,
            base,
            unanswered: 1,
        }
    }

    /// Stays in the state and tries again after a back-off, or after the delay that AWS asked for if that is longer.
    pub(super) fn retry(&self, asked: Option<Duration>, reason: &'static str) -> Decision {
        self.retry_as(self.operation.state.clone(), asked, reason)
    }

    /// Like [`retry`](Self::retry), in another state.
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

    /// Waits until the schema of the type can be had, without which nothing is read or planned. Such a wait is no try of a
    /// change, nor a look.
    pub(super) fn await_schema(&self) -> Decision {
        const REASON: &str = "the schema of the type cannot be had";
        match (&self.operation.state, &self.operation.retrying) {
            (State::Accepted, None) => self.retry(None, REASON),
            (state, _) => Moved {
                attempt: self.operation.attempt,
                due_at: self.now.after(SCHEMA_PAUSE),
                ..self.to(state.clone())
            }
            .wait(REASON),
        }
    }

    /// Returns whether a permission may be lacking only because it was given a moment ago.
    pub(super) fn may_be_permitted_soon(&self) -> bool {
        let changed_at = self.operation.permissions_changed_at;
        changed_at.is_some_and(|at| self.operation.state_since.since(at) < PERMISSIONS_SETTLE)
    }

    /// Looks again in `state`, after a delay that grows with each look that found nothing.
    pub(super) fn look_later(&self, state: State, reason: &'static str) -> Decision {
        Moved {
            attempt: self.sightings.missed_in_all,
            due_at: self.now.after(self.sightings.delay(self.chance.jitter)),
            ..self.to(state)
        }
        .wait(reason)
    }

    /// Returns whether what was not found may still become visible: AWS may show what was before the change.
    pub(super) fn may_show_yet(&self) -> bool {
        self.sightings.missed < LOOKS_MIN
            || self.now.since(self.operation.state_since) < SETTLING_WINDOW
    }

    /// Returns whether what our create may have made may exist although looks do not find it. Only a list of the type completes the
    /// proof that it does not, unless none can be had. A cancel waits for one list.
    pub(super) fn may_exist_yet(&self) -> bool {
        let is_proven = self.sightings.listed == Some(false);
        let is_over = self.is_to_be_cancelled && self.sightings.listed.is_some();
        self.may_show_yet() || !is_proven && !is_over && !self.sightings.are_old(self.now)
    }

    /// Returns whether a list of the type holds what looks do not find.
    pub(super) fn is_contradicted(&self) -> bool {
        self.sightings.listed == Some(true)
    }

    /// Returns whether this state has been inconclusive for too long.
    pub(super) fn out_of_patience(&self) -> bool {
        self.operation.attempt >= TRIES_BEFORE_GIVING_UP
            && self.now.since(self.operation.state_since) > PATIENCE
    }

    /// Returns whether a refused look may be tried again. Permissions and credentials may get fixed meanwhile, and only
    /// a look can tell whether a call with a lost reply took effect.
    pub(super) fn may_look_again(&self) -> bool {
        self.operation.attempt < TRIES_BEFORE_GIVING_UP
    }

    /// Ends with success.
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
            leftover: None,
            told: None,
        };
        self.finish(finish, reason)
    }

    /// Ends without success, if no replacement has moved the alias. The reference stays if it stands for something.
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
            Some(_) if refers_to_something && self.is_nothing_taken() => ReferenceChange::Untouched,
            Some(_) if refers_to_something => ReferenceChange::Kept {
                owned: operation.is_ours(),
            },
            Some(_) | None => ReferenceChange::Removed,
        };
        let finish = Finish {
            ended: setback.into(),
            identifier: operation.identifier.clone(),
            reference,
            live,
            leftover: None,
            told: None,
        };
        self.finish(finish, reason)
    }

    /// Returns whether AWS has taken no change: nothing was recorded to be sent, or AWS has answered every send and taken
    /// none.
    fn is_nothing_taken(&self) -> bool {
        match &self.operation.state {
            State::Accepted | State::Missing(_) => !self.operation.has_recorded_change(),
            State::Submitting(intent) => {
                intent.unanswered == 0 && self.operation.retrying.is_none()
            }
            State::Waiting(..)
            | State::Observing(_)
            | State::Salvaging(..)
            | State::Adopting(_)
            | State::Ended(_) => false,
        }
    }

    /// Ends without success. The reference stands for what a create has left, which is ours.
    pub(super) fn end_at_new(
        &self,
        setback: Setback,
        live: Option<Value>,
        reason: &'static str,
    ) -> Decision {
        let finish = Finish {
            ended: setback.into(),
            identifier: self.operation.identifier.clone(),
            reference: ReferenceChange::Kept { owned: true },
            live,
            leftover: None,
            told: None,
        };
        self.finish(finish, reason)
    }

    /// Ends the operation. The message of a failure names an old resource that does not exist any more.
    pub(super) fn finish(&self, mut finish: Finish, reason: &'static str) -> Decision {
        if let Ended::Failed(failure) | Ended::Canceled(failure) = &mut finish.ended
            && finish.reference != ReferenceChange::Unknown
        {
            let of_old = match &self.operation.replacing {
                Some(Replacing::OldGone { old }) => Some(format!(
                    "'{old}' was deleted already, to make room. Put again to create what takes its place."
                )),
                Some(Replacing::Lost { old }) if finish.identifier.as_ref() == Some(old) => {
                    Some(format!(
                        "'{old}', which the alias stands for, does not exist any more. Put again to create it anew."
                    ))
                }
                Some(Replacing::Lost { old }) => {
                    Some(format!("It takes the place of '{old}', which was lost."))
                }
                Some(
                    Replacing::OldFirst
                    | Replacing::NewFirst { .. }
                    | Replacing::OldLast { .. }
                    | Replacing::OldLeft { .. }
                    | Replacing::Undoing { .. },
                )
                | None => None,
            };
            if let Some(of_old) = of_old {
                failure.message = format!("{} {of_old}", failure.message);
            }
        }
        Decision {
            next: Next::Finish(Box::new(finish)),
            effect: None,
            reason,
        }
    }
}
