use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::{GroupOperation, ImportOutcome, Progress, Task, deletion, import};
use crate::operation::Kind;
use crate::{Failure, Identifier, Operation, Reference, ReferenceId, Scope, Timestamp};

/// When an operation whose children are under way looks by itself; the end of a child comes first.
const NEXT_LOOK: Duration = Duration::from_secs(10 * 60);
/// When it tries again to start a child that something else stands in the way of.
pub(super) const BUSY_RETRY: Duration = Duration::from_secs(5);

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
    End(Ending),
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
pub struct Ending {
    /// How it ended.
    pub progress: Progress,
    /// With how many resources it is done.
    pub done: u32,
    /// What the items of an import came to.
    pub outcomes: BTreeMap<usize, ImportOutcome>,
}

/// What happens next to `operation`, given what there is. Pure, and a function of rows: whoever claims the operation after
/// a crash decides the same.
pub fn decide(operation: &GroupOperation, survey: Survey<'_>, now: Timestamp) -> Decision {
    if operation.is_terminal() {
        return Decision {
            next: Next::Keep,
            reason: "already ended",
        };
    }
    match &operation.task {
        Task::Delete => deletion::decide(operation, survey, now),
        Task::Import(items) => import::decide(operation, items, survey, now),
    }
}

/// The end of an operation that was cancelled: it starts nothing more, and what it has done stays done.
pub(super) fn cancelled(
    operation: &GroupOperation,
    done: usize,
    outcomes: BTreeMap<usize, ImportOutcome>,
) -> Decision {
    let done = u32::try_from(done).unwrap_or(u32::MAX);
    let message = format!(
        "The {} was cancelled with {done} of {} resources done, which stay so. The others were left as they were.",
        operation.task, operation.total
    );
    Decision {
        next: Next::End(Ending {
            progress: Progress::Canceled(Failure::new("Canceled", message)),
            done,
            outcomes,
        }),
        reason: "cancelled, and nothing is under way",
    }
}

/// A wait for the children, or until `due_at` if that is earlier.
pub(super) fn wait(
    done: usize,
    outcomes: BTreeMap<usize, ImportOutcome>,
    due_at: Option<Timestamp>,
    now: Timestamp,
) -> Next {
    let latest = now.after(NEXT_LOOK);
    Next::Wait(Moved {
        done: u32::try_from(done).unwrap_or(u32::MAX),
        outcomes,
        due_at: due_at.map_or(latest, |due_at| due_at.min(latest)),
    })
}

impl fmt::Display for Decision {
    /// One line for logs and tests, as in `start 2: nothing else refers to them`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.next {
            Next::Keep => f.write_str("keep")?,
            Next::Start(children) => write!(f, "start {}", children.len())?,
            Next::Wait(_) => f.write_str("wait")?,
            Next::End(ending) => f.write_str(match ending.progress {
                Progress::Running => "running",
                Progress::Succeeded => "succeeded",
                Progress::Failed(_) => "failed",
                Progress::Canceled(_) => "canceled",
            })?,
        }
        write!(f, ": {}", self.reason)
    }
}
