//! The vocabulary of decisions about one resource.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use super::super::decision::{Effect, ReferenceChange};
use super::in_flight::CancelAsked;
use super::intent::Change;
use super::proof::Sent;
use super::replacement::Replacing;
use super::retry_class::Class;
use super::sightings::Sightings;
use super::state::State;
use super::tries::{Retrying, Tries};
use super::work::ResourceWork;
use crate::{Action, Ended, Identifier, NewLeftover, Timestamp};

/// What to write, what to do once it is durable, and the reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// What to write.
    pub next: Next,
    /// What to do then; its result is the next [`Observation`](super::super::Observation). If `None`, the lease is
    /// released.
    pub effect: Option<Effect>,
    /// The reason, for the log.
    pub reason: &'static str,
}

/// What to write about an operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Nothing.
    Keep,
    /// A step that does not end it.
    Move(Box<Moved>),
    /// The step that ends it.
    Finish(Box<Finish>),
}

/// A step that does not end the operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Moved {
    /// The new state.
    pub state: State,
    /// The primary identifier, if known.
    pub identifier: Option<Identifier>,
    /// Whether a create was recorded for the resource that `identifier` names.
    pub created: bool,
    /// Whether AWS has named the resource in an event of that create, or a search has found it by its mark.
    pub named: bool,
    /// What looks have shown of its existence.
    pub sightings: Sightings,
    /// The replacement in progress, if any.
    pub replacing: Option<Replacing>,
    /// Consecutive inconclusive tries in this state.
    pub attempt: u32,
    /// The errors of the call that were put up with in this state.
    pub refusals: BTreeMap<Class, Tries>,
    /// The change that is made again, if it failed before.
    pub retrying: Option<Retrying>,
    /// What the failure of a create calls for, while what it may have made is searched for.
    pub searching: Option<Class>,
    /// What was last asked about cancelling the request in flight.
    pub cancel_asked: Option<CancelAsked>,
    /// When to continue.
    pub due_at: Timestamp,
    /// The changes of a new intent, if there is one. Its document is recorded in the same transaction.
    pub planned: Option<Vec<Change>>,
}

/// The step that ends the operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Finish {
    /// How it ended.
    pub ended: Ended,
    /// The primary identifier, if known.
    pub identifier: Option<Identifier>,
    /// The change to the reference.
    pub reference: ReferenceChange,
    /// The live properties, if they were read.
    pub live: Option<Value>,
    /// What the operation leaves in AWS that no reference stands for, if anything.
    pub leftover: Option<NewLeftover>,
    /// What an operation that resolves an unknown outcome has found out.
    pub told: Option<String>,
}

impl Decision {
    /// Writes nothing and does `effect`.
    pub(crate) fn then(effect: Effect, reason: &'static str) -> Self {
        Self {
            next: Next::Keep,
            effect: Some(effect),
            reason,
        }
    }

    /// Writes nothing and does nothing.
    pub(crate) fn ignore(reason: &'static str) -> Self {
        Self {
            next: Next::Keep,
            effect: None,
            reason,
        }
    }

    /// The same end, which leaves something in AWS.
    pub(crate) fn leaving(mut self, leftover: NewLeftover) -> Self {
        if let Next::Finish(finish) = &mut self.next {
            finish.leftover = Some(leftover);
        }
        self
    }
}

impl Moved {
    /// Returns `work` after this step.
    pub fn of(self, work: &ResourceWork, now: Timestamp) -> ResourceWork {
        let creates_another = self.planned.is_some()
            && matches!(&self.state, State::Submitting(intent) if intent.action() == Action::Create);
        // What a search has found is looked at as if AWS had just named it.
        let stays = std::mem::discriminant(&work.state) == std::mem::discriminant(&self.state)
            && work.searching.is_some() == self.searching.is_some();
        ResourceWork {
            state_since: if stays { work.state_since } else { now },
            state: self.state,
            spelled: work.spelling_of(self.identifier.as_ref()),
            bears_mark: work.bears_mark && !creates_another && self.identifier == work.identifier,
            identifier: self.identifier,
            created: self.created,
            named: self.named,
            sightings: self.sightings,
            replacing: self.replacing,
            attempt: self.attempt,
            refusals: if stays {
                self.refusals
            } else {
                BTreeMap::new()
            },
            retrying: self.retrying,
            searching: self.searching,
            searched: work.searched.clone().filter(|_| stays),
            cancel_asked: self.cancel_asked,
            changes: self.planned.unwrap_or_else(|| work.changes.clone()),
            ..work.clone()
        }
    }

    /// Writes the step, then looks.
    pub(crate) fn then_look(self, reason: &'static str) -> Decision {
        let effect = Effect::Look(self.subject());
        self.then(effect, reason)
    }

    /// Writes the step, then reads.
    pub(crate) fn then_read(self, reason: &'static str) -> Decision {
        let effect = Effect::Read(self.subject());
        self.then(effect, reason)
    }

    fn subject(&self) -> Option<Identifier> {
        Replacing::subject(self.replacing.as_ref(), self.identifier.as_ref()).cloned()
    }

    /// Writes the step, then does `effect`.
    pub(crate) fn then(self, effect: Effect, reason: &'static str) -> Decision {
        Decision {
            next: Next::Move(Box::new(self)),
            effect: Some(effect),
            reason,
        }
    }

    /// Writes the step, and continues when it is due.
    pub(crate) fn wait(self, reason: &'static str) -> Decision {
        Decision {
            next: Next::Move(Box::new(self)),
            effect: None,
            reason,
        }
    }
}

impl Finish {
    /// Returns `work` after this step.
    pub fn of(self, work: &ResourceWork, now: Timestamp) -> ResourceWork {
        let given_up = self.given_up_by(work);
        let given_up = given_up.map(|old| work.giving_up(Some(old)));
        ResourceWork {
            warnings: work.warnings.iter().cloned().chain(given_up).collect(),
            state: State::Ended(self.ended),
            state_since: now,
            spelled: work.spelling_of(self.identifier.as_ref()),
            bears_mark: work.bears_mark && self.identifier == work.identifier,
            identifier: self.identifier,
            // The history names what was lost.
            replacing: work.replacing.clone().filter(Replacing::is_of_lost),
            attempt: 0,
            refusals: BTreeMap::new(),
            retrying: None,
            searching: None,
            searched: None,
            cancel_asked: None,
            last_error: None,
            sent: Sent::new(),
            planned: None,
            told: self.told,
            result: self.live,
            ..work.clone()
        }
    }

    /// Returns the resource that a replacement has left to the other references that stand for it.
    fn given_up_by<'a>(&self, work: &'a ResourceWork) -> Option<&'a Identifier> {
        let Some(Replacing::NewFirst { old, .. }) = &work.replacing else {
            return None;
        };
        let stands = matches!(self.reference, ReferenceChange::Applied { .. });
        let is_another = self.identifier.as_ref() != Some(old);
        (work.gives_up_old && stands && is_another).then_some(old)
    }
}

impl fmt::Display for Decision {
    /// Formats it as one line for logs and tests, for example `submitting, then Submit: nothing stands there yet`.
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
