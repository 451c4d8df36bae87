//! The words of the decisions: what is surveyed, and what is done next.

use std::collections::BTreeMap;
use std::fmt;

use super::task::ImportOutcome;
use crate::operation::Kind;
use crate::{Ended, Failure, Identifier, Operation, Reference, ReferenceId, Scope, Timestamp};

/// What there is to decide on: rows, and what has just been refused.
#[derive(Clone, Copy, Debug)]
pub struct Survey<'a> {
    /// The references of the group, in the order of their keys.
    pub references: &'a [Reference],
    /// The children so far, the oldest first.
    pub children: &'a [Operation],
    /// Why children could not be started a moment ago, by the key of their reference.
    pub refused: &'a BTreeMap<String, Refusal>,
}

/// Why a child could not be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Another operation on its alias or its resource is under way.
    Busy,
    /// It cannot be, as things are.
    Lasting(Failure),
}

/// An operation to start as a part of another.
#[derive(Clone, Debug, PartialEq)]
pub struct Child {
    /// What it is to achieve.
    pub kind: Kind,
    /// Under which alias.
    pub reference: ReferenceId,
    /// Where.
    pub scope: Scope,
    /// The resource, where the alias does not map it yet.
    pub identifier: Option<Identifier>,
    /// Whether the reference is to own it.
    pub take_ownership: bool,
}

/// What to do next, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// What to do.
    pub next: Next,
    /// Why, for the log.
    pub reason: &'static str,
}

/// What to do next about an operation on a group.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Nothing: it has ended.
    Keep,
    /// Start these, then decide anew.
    Start(Vec<Child>),
    /// Write this, and go on when it is due or when a child ends.
    Wait(Moved),
    /// It ended.
    Finish(Finish),
}

/// A step that does not end the operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Moved {
    /// With how many resources it is done.
    pub done: u32,
    /// What the items of an import came to so far.
    pub outcomes: BTreeMap<usize, ImportOutcome>,
    /// When to go on.
    pub due_at: Timestamp,
}

/// The step that ends the operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Finish {
    /// How it ended.
    pub ended: Ended,
    /// With how many resources it is done.
    pub done: u32,
    /// What the items of an import came to.
    pub outcomes: BTreeMap<usize, ImportOutcome>,
}

impl fmt::Display for Decision {
    /// One line for logs and tests, as in `start 2: nothing else refers to them`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.next {
            Next::Keep => f.write_str("keep")?,
            Next::Start(children) => write!(f, "start {}", children.len())?,
            Next::Wait(_) => f.write_str("wait")?,
            Next::Finish(finish) => f.write_str(finish.ended.name())?,
        }
        write!(f, ": {}", self.reason)
    }
}
