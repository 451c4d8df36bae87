//! The words in which the families decide: what has moved, and how it ended.

use std::fmt;

use serde_json::Value;

use super::super::decision::{Effect, ReferenceChange};
use super::intent::Change;
use super::replacement::Replacing;
use super::state::State;
use super::work::ResourceWork;
use crate::{Ended, Identifier, Timestamp};

/// What to write, what to do once it is durable, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// What to write.
    pub next: Next,
    /// What to do then; it ends in the next [`Observation`](super::super::Observation). With none, the lease is handed back.
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
    /// How it ended.
    pub ended: Ended,
    /// AWS's name of the resource, as far as known.
    pub identifier: Option<Identifier>,
    /// What becomes of the reference.
    pub reference: ReferenceChange,
    /// The live form, where it was read.
    pub live: Option<Value>,
}

impl Decision {
    /// Nothing to write; do `effect`.
    pub(crate) fn then(effect: Effect, reason: &'static str) -> Self {
        Self {
            next: Next::Keep,
            effect: Some(effect),
            reason,
        }
    }

    /// Nothing to write, nothing to do.
    pub(crate) fn ignore(reason: &'static str) -> Self {
        Self {
            next: Next::Keep,
            effect: None,
            reason,
        }
    }
}

impl Moved {
    /// `work` after this.
    pub fn of(self, work: &ResourceWork, now: Timestamp) -> ResourceWork {
        let stays = std::mem::discriminant(&work.state) == std::mem::discriminant(&self.state);
        ResourceWork {
            state_since: if stays { work.state_since } else { now },
            state: self.state,
            identifier: self.identifier,
            created: self.created,
            replacing: self.replacing,
            attempt: self.attempt,
            changes: self.planned.unwrap_or_else(|| work.changes.clone()),
            ..work.clone()
        }
    }

    /// Written, then followed by a look.
    pub(crate) fn then_look(self, reason: &'static str) -> Decision {
        let effect = Effect::Look(self.subject());
        self.then(effect, reason)
    }

    /// Written, then followed by a read.
    pub(crate) fn then_read(self, reason: &'static str) -> Decision {
        let effect = Effect::Read(self.subject());
        self.then(effect, reason)
    }

    fn subject(&self) -> Option<Identifier> {
        Replacing::subject(self.replacing.as_ref(), self.identifier.as_ref()).cloned()
    }

    /// Written, then followed by `effect`.
    pub(crate) fn then(self, effect: Effect, reason: &'static str) -> Decision {
        Decision {
            next: Next::Move(Box::new(self)),
            effect: Some(effect),
            reason,
        }
    }

    /// Written, and gone on with when it is due.
    pub(crate) fn wait(self, reason: &'static str) -> Decision {
        Decision {
            next: Next::Move(Box::new(self)),
            effect: None,
            reason,
        }
    }
}

impl Finish {
    /// `work` after this.
    pub fn of(self, work: &ResourceWork, now: Timestamp) -> ResourceWork {
        ResourceWork {
            state: State::Ended(self.ended),
            state_since: now,
            identifier: self.identifier,
            replacing: None,
            attempt: 0,
            result: self.live,
            ..work.clone()
        }
    }
}

impl fmt::Display for Decision {
    /// One line for logs and tests, as in `submitting, then Submit: nothing stands there yet`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.next {
            Next::Keep => f.write_str("keep")?,
            Next::Move(moved) => f.write_str(moved.state.name())?,
            Next::Finish(finish) => f.write_str(finish.ended.name())?,
        }
        if let Some(effect) = &self.effect {
            write!(f, ", then {}", effect.name())?;
        }
        write!(f, ": {}", self.reason)
    }
}
