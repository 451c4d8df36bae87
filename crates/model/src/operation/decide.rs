use std::fmt;
use std::time::Duration;

use serde_json::Value;

use super::{
    Action, Change, Operation, PATIENCE, ReplacementOrder, Replacing, State,
    TRIES_BEFORE_GIVING_UP, looking, progressing, reading, replacing, submitting,
};
use crate::{ClientToken, Failure, Fault, Identifier, Progress, Timestamp, retry};

/// What the engine has learned since the last decision.
#[derive(Clone, Debug, PartialEq)]
pub enum Observation {
    /// The operation was claimed, or moved on a moment ago: nothing is known beyond its row.
    Claimed,
    /// [`Effect::Look`] was carried out.
    Looked(Presence, PlanOutcome),
    /// [`Effect::Read`] was carried out.
    Read(Presence),
    /// [`Effect::Submit`] was carried out.
    Submitted(Result<Progress, Fault>),
    /// [`Effect::Poll`] was carried out.
    Polled(Result<Progress, Fault>),
    /// [`Effect::Cancel`] was carried out.
    CancelAsked(Result<Progress, Fault>),
}

/// Whether AWS has the resource.
#[derive(Clone, Debug, PartialEq)]
pub enum Presence {
    /// It certainly has not.
    Absent,
    /// It has.
    Present {
        /// The live properties.
        live: Value,
        /// A digest of them.
        digest: String,
    },
    /// The type has no read handler, so nobody can tell.
    Unreadable,
    /// Reading it came to this instead.
    Unknown(Fault),
}

/// What the plan engine made of the declaration and what was looked at.
#[derive(Clone, Debug, PartialEq)]
pub enum PlanOutcome {
    /// Create the resource.
    Create {
        /// The identifier, where the declaration determines it.
        identifier: Option<Identifier>,
        /// What is set.
        changes: Vec<Change>,
    },
    /// Patch it.
    Update {
        /// What is changed.
        changes: Vec<Change>,
    },
    /// Make a new one in its place.
    Replace {
        /// In which order.
        order: ReplacementOrder,
        /// The new one's identifier, where the declaration determines it.
        identifier: Option<Identifier>,
        /// What is changed.
        changes: Vec<Change>,
    },
    /// Delete it.
    Delete,
    /// It is as it should be.
    Nothing,
    /// It cannot be patched into what is declared, for this reason.
    Impossible(Failure),
}

/// Draws made for one decision, so that deciding stays pure.
#[derive(Clone, Copy, Debug)]
pub struct Chance {
    /// A fresh client token, used if an intent is recorded.
    pub token: ClientToken,
    /// From `[0, 1)`, for back-off.
    pub jitter: f64,
}

/// What to write, what to do once it is durable, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// What to write.
    pub next: Next,
    /// What to do then; it ends in the next [`Observation`]. With none, the lease is handed back.
    pub effect: Option<Effect>,
    /// Why, for the log.
    pub reason: &'static str,
}

/// What to write about an operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Nothing.
    Keep,
    /// It moved.
    Move(Box<Moved>),
    /// It ended.
    Finish(Box<Finish>),
}

/// A step that does not end the operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Moved {
    /// The state it is in now.
    pub state: State,
    /// AWS's name of the resource, as far as known.
    pub identifier: Option<Identifier>,
    /// Whether a create was recorded for what `identifier` names.
    pub created: bool,
    /// The replacement that is under way.
    pub replacing: Option<Replacing>,
    /// Tries so far in this state that told nothing.
    pub attempt: u32,
    /// When to go on.
    pub due_at: Timestamp,
    /// The changes of a new intent, whose document is to be recorded with it.
    pub planned: Option<Vec<Change>>,
}

/// The step that ends the operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Finish {
    /// A terminal state.
    pub state: State,
    /// AWS's name of the resource, as far as known.
    pub identifier: Option<Identifier>,
    /// What becomes of the mapping.
    pub mapping: MappingChange,
    /// The live form, where it was read.
    pub live: Option<Value>,
}

/// What becomes of the alias when its operation ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MappingChange {
    /// A put succeeded: the mapping names the resource, and what was declared becomes the baseline.
    Applied {
        /// We created the resource or were told to own it; otherwise ownership stays as it was.
        owned: bool,
    },
    /// The operation failed, and the mapping stays.
    Kept {
        /// As in `Applied`.
        owned: bool,
    },
    /// There is nothing left to map.
    Removed,
}

/// What the engine does to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Read the live resource and plan against it.
    Look,
    /// Send the recorded intent.
    Submit,
    /// Ask after the request token.
    Poll,
    /// Ask AWS to cancel the request.
    Cancel,
    /// Read the live resource.
    Read,
}

/// What happens next to `operation`, given what was observed. Total and pure: every state meets every observation, and
/// an observation that does not belong to the state (late, duplicate) changes nothing.
pub fn decide(
    operation: &Operation,
    observation: Observation,
    now: Timestamp,
    chance: Chance,
) -> Decision {
    let step = Step {
        operation,
        now,
        chance,
    };
    match (&operation.state, observation) {
        (State::Accepted, Observation::Claimed) if operation.is_to_be_cancelled() => {
            step.cancel("cancelled before anything was sent")
        }
        (State::Accepted, Observation::Claimed) => {
            Decision::then(Effect::Look, "look before deciding")
        }
        (State::Accepted, Observation::Looked(presence, plan)) => {
            looking::at_first(&step, presence, plan)
        }
        (State::Submitting(intent), Observation::Claimed)
            if operation.is_to_be_cancelled() && intent.unanswered == 0 =>
        {
            submitting::cancelled(&step, intent)
        }
        (State::Submitting(intent), Observation::Claimed) => submitting::resumed(&step, intent),
        (State::Submitting(intent), Observation::Looked(presence, plan)) => {
            looking::after_lost_reply(&step, intent, presence, plan)
        }
        (State::Submitting(intent), Observation::Submitted(reply)) => {
            submitting::answered(&step, intent, reply)
        }
        (State::Waiting(..), Observation::Claimed) if operation.is_to_be_cancelled() => {
            Decision::then(Effect::Cancel, "somebody asked to cancel it")
        }
        (State::Waiting(intent, _), Observation::CancelAsked(reply)) => {
            progressing::cancel_asked(&step, intent, reply)
        }
        (State::Waiting(..), Observation::Claimed) => {
            Decision::then(Effect::Poll, "a change is in flight")
        }
        (State::Waiting(intent, _), Observation::Polled(reply)) => {
            progressing::polled(&step, intent, reply)
        }
        (State::Observing(_) | State::Salvaging(..), Observation::Claimed) => {
            Decision::then(Effect::Read, "the outcome is to be read")
        }
        (State::Observing(action), Observation::Read(presence)) => {
            reading::confirmed(&step, *action, presence)
        }
        (State::Salvaging(action, failure), Observation::Read(presence)) => {
            reading::salvaged(&step, *action, failure, presence)
        }
        (State::Adopting(_), Observation::Claimed) => {
            Decision::then(Effect::Look, "the identifier is taken")
        }
        (State::Adopting(failure), Observation::Looked(presence, plan)) => {
            looking::at_what_exists(&step, failure, presence, plan)
        }
        (State::Succeeded | State::Failed(_) | State::Canceled(_), _) => {
            Decision::ignore("already ended")
        }
        (
            State::Accepted
            | State::Submitting(_)
            | State::Waiting(..)
            | State::Observing(_)
            | State::Salvaging(..)
            | State::Adopting(_),
            Observation::Looked(..)
            | Observation::Read(_)
            | Observation::Submitted(_)
            | Observation::Polled(_)
            | Observation::CancelAsked(_),
        ) => Decision::ignore("not what this state asked for"),
    }
}

impl Decision {
    /// Nothing to write; do `effect`.
    pub(super) fn then(effect: Effect, reason: &'static str) -> Self {
        Self {
            next: Next::Keep,
            effect: Some(effect),
            reason,
        }
    }

    /// Nothing to write, nothing to do.
    pub(super) fn ignore(reason: &'static str) -> Self {
        Self {
            next: Next::Keep,
            effect: None,
            reason,
        }
    }
}

/// An operation with the moment and the draws of one decision.
pub(super) struct Step<'a> {
    pub(super) operation: &'a Operation,
    pub(super) now: Timestamp,
    pub(super) chance: Chance,
}

/// Waits between tries that told nothing.
const FIRST_RETRY: Duration = Duration::from_millis(250);
const LONGEST_RETRY: Duration = Duration::from_secs(30);
/// The longest wait that AWS may ask for: a clock that is off must not put an operation to sleep for days.
pub(super) const LONGEST_ASKED: Duration = Duration::from_secs(15 * 60);

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

    /// Ends in failure; the mapping stays if it maps something.
    pub(super) fn fail(&self, failure: Failure, reason: &'static str) -> Decision {
        self.end(State::Failed(failure), None, reason)
    }

    /// Ends because somebody asked for it, with nothing in flight.
    pub(super) fn cancel(&self, reason: &'static str) -> Decision {
        let failure = Failure::new("Canceled", "Cancelled before AWS took it.");
        self.end(State::Canceled(failure), None, reason)
    }

    /// Ends in `state` without success; the mapping stays if it maps something.
    pub(super) fn end(&self, state: State, live: Option<Value>, reason: &'static str) -> Decision {
        let operation = self.operation;
        if let Some(replacing) = &operation.replacing {
            return replacing::end(self, replacing, state, live, reason);
        }
        self.end_unreplaced(state, live, reason)
    }

    /// The same, where nothing was created in place of what is mapped.
    pub(super) fn end_unreplaced(
        &self,
        state: State,
        live: Option<Value>,
        reason: &'static str,
    ) -> Decision {
        let operation = self.operation;
        let maps_something = operation.was_mapped
            || operation.created
            || matches!(
                operation.state.action(),
                Some(Action::Update | Action::Delete)
            );
        let mapping = match operation.identifier {
            Some(_) if maps_something => MappingChange::Kept {
                owned: operation.created,
            },
            _ => MappingChange::Removed,
        };
        self.finish(
            Finish {
                state,
                identifier: self.operation.identifier.clone(),
                mapping,
                live,
            },
            reason,
        )
    }

    pub(super) fn finish(&self, finish: Finish, reason: &'static str) -> Decision {
        let mut finish = finish;
        if let Some(Replacing::OldGone { old }) = &self.operation.replacing
            && let State::Failed(failure) | State::Canceled(failure) = &mut finish.state
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

    /// Ends because AWS's answer cannot be had; the message names all that would help to find out.
    pub(super) fn outcome_unknown(&self, what: &str, reason: &'static str) -> Decision {
        let operation = self.operation;
        let identifier = match operation.subject() {
            Some(identifier) => format!(" The resource, if it exists, is '{identifier}'."),
            None => String::new(),
        };
        let sent = match &operation.state {
            State::Submitting(intent) => format!(
                " Client token {}, from {}.",
                intent.client_token, intent.issued_at
            ),
            State::Waiting(intent, request_token) => {
                format!(
                    " Client token {}, request token {request_token}, from {}.",
                    intent.client_token, intent.issued_at
                )
            }
            _ => String::new(),
        };
        let message = format!(
            "{what}{identifier}{sent} Find out in AWS whether there is such a {} before putting it again: another put may make a second one.",
            operation.type_name
        );
        self.fail(Failure::new("OutcomeUnknown", message), reason)
    }
}

impl Moved {
    /// Written, then followed by `effect`.
    pub(super) fn then(self, effect: Effect, reason: &'static str) -> Decision {
        Decision {
            next: Next::Move(Box::new(self)),
            effect: Some(effect),
            reason,
        }
    }

    /// Written, and gone on with when it is due.
    pub(super) fn wait(self, reason: &'static str) -> Decision {
        Decision {
            next: Next::Move(Box::new(self)),
            effect: None,
            reason,
        }
    }
}

impl fmt::Display for Decision {
    /// One line for logs and tests, as in `submitting, then Submit: nothing stands there yet`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.next {
            Next::Keep => f.write_str("keep")?,
            Next::Move(moved) => f.write_str(moved.state.name())?,
            Next::Finish(finish) => f.write_str(finish.state.name())?,
        }
        if let Some(effect) = self.effect {
            write!(f, ", then {effect:?}")?;
        }
        write!(f, ": {}", self.reason)
    }
}
