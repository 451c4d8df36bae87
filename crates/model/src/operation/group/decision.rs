//! The words of the decisions about groups.

use std::collections::BTreeMap;
use std::fmt;

use super::survey::Child;
use super::task::ImportOutcome;
use super::work::{GroupState, GroupWork};
use crate::{Ended, Timestamp};

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

impl Moved {
    /// `work` after this, when so many of its children have ended.
    pub fn of(self, work: &GroupWork, ended_children: usize) -> GroupWork {
        GroupWork {
            done: self.done,
            ended_children,
            outcomes: self.outcomes,
            ..work.clone()
        }
    }
}

impl Finish {
    /// `work` after this.
    pub fn of(self, work: &GroupWork) -> GroupWork {
        GroupWork {
            state: GroupState::Ended(self.ended),
            done: self.done,
            outcomes: self.outcomes,
            ..work.clone()
        }
    }
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
