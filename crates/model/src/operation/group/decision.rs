//! The vocabulary of decisions about groups.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use super::application::MemberStatus;
use super::survey::Child;
use super::task::ImportOutcome;
use super::work::{GroupState, GroupWork};
use crate::{Ended, Timestamp, Warning};

/// What to do next, and the reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// What to do.
    pub next: Next,
    /// The reason, for the log.
    pub reason: &'static str,
}

/// What to do next about an operation on a group.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Nothing; the operation has ended.
    Keep,
    /// Start these children, then decide again.
    Start(Vec<Child>),
    /// Read the values of the outputs, then decide again.
    ReadOutputs,
    /// Take back what the refactor that is deployed has moved, then decide again.
    TakeBack,
    /// Write this, and continue when it is due or when a child ends.
    Wait(Moved),
    /// End the operation.
    Finish(Box<Finish>),
}

/// A step that does not end the operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Moved {
    /// How many resources are done.
    pub done: u32,
    /// The outcomes of an import's items so far, by their index.
    pub outcomes: BTreeMap<usize, ImportOutcome>,
    /// How far the members of a set are, by their index.
    pub members: Vec<MemberStatus>,
    /// How often the outputs of a set could not be read.
    pub output_tries: u32,
    /// When to continue.
    pub due_at: Timestamp,
}

/// The step that ends the operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Finish {
    /// How it ended.
    pub ended: Ended,
    /// How many resources are done.
    pub done: u32,
    /// The outcomes of an import's items, by their index.
    pub outcomes: BTreeMap<usize, ImportOutcome>,
    /// What became of the members of a set, by their index.
    pub members: Vec<MemberStatus>,
    /// The outputs of a set.
    pub outputs: Option<Value>,
    /// What the deletion of a group has given up to references of other groups.
    pub given_up: Vec<Warning>,
}

impl Moved {
    /// Returns `work` after this step, with the number of children that have ended.
    pub fn of(self, work: &GroupWork, ended_children: usize) -> GroupWork {
        GroupWork {
            done: self.done,
            ended_children,
            outcomes: self.outcomes,
            members: self.members,
            output_tries: self.output_tries,
            ..work.clone()
        }
    }
}

impl Finish {
    /// Returns an end with nothing done.
    pub(super) fn of_end(ended: Ended) -> Self {
        Self {
            ended,
            done: 0,
            outcomes: BTreeMap::new(),
            members: Vec::new(),
            outputs: None,
            given_up: Vec::new(),
        }
    }

    /// Returns `work` after this step.
    pub fn of(self, work: &GroupWork) -> GroupWork {
        GroupWork {
            state: GroupState::Ended(self.ended),
            done: self.done,
            outcomes: self.outcomes,
            members: self.members,
            outputs: self.outputs,
            given_up: self.given_up,
            ..work.clone()
        }
    }
}

impl fmt::Display for Decision {
    /// Formats it as one line for logs and tests, for example `start 2: nothing that is left refers to them`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.next {
            Next::Keep => f.write_str("keep")?,
            Next::Start(children) => write!(f, "start {}", children.len())?,
            Next::ReadOutputs => f.write_str("read outputs")?,
            Next::TakeBack => f.write_str("take back")?,
            Next::Wait(_) => f.write_str("wait")?,
            Next::Finish(finish) => f.write_str(finish.ended.name())?,
        }
        write!(f, ": {}", self.reason)
    }
}
