//! The words of the state machines: what is observed, what is decided, and what is done about it.

use serde_json::Value;

use super::group::{Child, Survey};
use super::record::Operation;
use super::resource::{Change, Intent, ReplacementOrder};
use crate::{ClientToken, Failure, Fault, Identifier, Progress, RequestToken};

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
    /// [`Effect::Survey`] or [`Effect::Start`] was carried out.
    Surveyed(Survey),
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
    Move {
        /// The operation from now on.
        operation: Box<Operation>,
        /// Whether an intent is new. Its document is to be recorded with it.
        is_new_intent: bool,
    },
    /// It ended.
    Finish {
        /// The operation for good.
        operation: Box<Operation>,
        /// What becomes of the reference of one on a resource.
        reference: Option<ReferenceChange>,
    },
}

/// What becomes of the alias when its operation ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceChange {
    /// A put succeeded: the reference names the resource, and what was declared becomes the baseline.
    Applied {
        /// We created the resource or were told to own it; otherwise ownership stays as it was.
        owned: bool,
    },
    /// The operation failed, and the reference stays.
    Kept {
        /// As in `Applied`.
        owned: bool,
    },
    /// There is nothing left to map.
    Removed,
}

/// What the engine does to the world.
#[derive(Clone, Debug, PartialEq)]
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
    /// Read the references of the group and the children so far.
    Survey,
    /// Start these children, then survey anew.
    Start(Vec<Child>),
}

impl Effect {
    /// One word for the log.
    pub fn name(&self) -> &'static str {
        match self {
            Effect::Look(_) => "Look",
            Effect::Submit(_) => "Submit",
            Effect::Poll(_) => "Poll",
            Effect::Cancel(_) => "Cancel",
            Effect::Read(_) => "Read",
            Effect::Survey => "Survey",
            Effect::Start(_) => "Start",
        }
    }
}
