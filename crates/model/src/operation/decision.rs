//! The words of the state machine: what is observed, what is decided, and what is done about it.

use std::fmt;

use serde_json::Value;

use super::intent::{Change, Intent};
use super::replacement::{ReplacementOrder, Replacing};
use super::state::State;
use crate::{ClientToken, Ended, Failure, Fault, Identifier, Progress, RequestToken, Timestamp};

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
        /// Under this name.
        identifier: Identifier,
        /// The live properties.
        live: Value,
        /// A digest of them.
        digest: String,
    },
    /// The type has no read handler, so nobody can tell whether there is one of this name.
    Unreadable(Identifier),
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
        /// What is patched.
        identifier: Identifier,
        /// What is changed.
        changes: Vec<Change>,
    },
    /// Make a new one in its place.
    Replace {
        /// What is replaced.
        old: Identifier,
        /// In which order.
        order: ReplacementOrder,
        /// The new one's identifier, where the declaration determines it.
        identifier: Option<Identifier>,
        /// What is changed.
        changes: Vec<Change>,
    },
    /// Delete it.
    Delete(Identifier),
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
    /// How it ended.
    pub ended: Ended,
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Read the live resource and plan against it. Without a name nothing can be seen.
    Look(Option<Identifier>),
    /// Send the recorded intent.
    Submit(Intent),
    /// Ask after the request.
    Poll(RequestToken),
    /// Ask AWS to cancel the request.
    Cancel(RequestToken),
    /// Read the live resource.
    Read(Option<Identifier>),
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

impl Effect {
    fn name(&self) -> &'static str {
        match self {
            Effect::Look(_) => "Look",
            Effect::Submit(_) => "Submit",
            Effect::Poll(_) => "Poll",
            Effect::Cancel(_) => "Cancel",
            Effect::Read(_) => "Read",
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
