//! Operations on whole resource groups: deleting one with what it owns, importing many resources at once. Each change of
//! a resource is an ordinary [`Operation`](crate::Operation), a child; this one starts them, waits for them and says what came of them.

mod decide;
mod deletion;
mod import;
mod naming;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

pub use decide::{Child, Decision, Ending, Moved, Next, Refusal, Survey, decide};
pub use import::{ImportItem, ImportOutcome};

use crate::{CorrelationId, Failure, GroupId, OperationId, Timestamp};

/// How many children of one operation are under way at once.
pub const CHILDREN_AT_ONCE: usize = 50;

/// What an operation on a group is to achieve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Task {
    /// The group and what it owns are to be gone.
    Delete,
    /// The group is to track these resources.
    Import(Vec<ImportItem>),
}

/// How far an operation on a group is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Under way.
    Running,
    /// Done.
    Succeeded,
    /// Ended without reaching its aim.
    Failed(Failure),
    /// Somebody asked to cancel it, and nothing that it started is under way any more.
    Canceled(Failure),
}

/// One operation on a group: the row that is also the job.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupOperation {
    /// Its id.
    pub id: OperationId,
    /// On which group.
    pub group: GroupId,
    /// What it is to achieve.
    pub task: Task,
    /// How far it is.
    pub progress: Progress,
    /// When somebody asked to cancel it.
    pub cancel_requested_at: Option<Timestamp>,
    /// How many resources it concerns.
    pub total: u32,
    /// With how many of them it is done.
    pub done: u32,
    /// What the items of an import came to so far, by their index.
    pub outcomes: BTreeMap<usize, ImportOutcome>,
    /// When to go on. The end of a child brings it forward.
    pub due_at: Timestamp,
    /// What ties it to the caller's deployment.
    pub correlation_id: CorrelationId,
    /// Who asked for it.
    pub caller: String,
    /// When it was accepted.
    pub accepted_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}

impl GroupOperation {
    /// Whether it never changes again.
    pub fn is_terminal(&self) -> bool {
        match self.progress {
            Progress::Running => false,
            Progress::Succeeded | Progress::Failed(_) | Progress::Canceled(_) => true,
        }
    }

    /// ARM's word for its status.
    pub fn status(&self) -> &'static str {
        match (&self.progress, &self.task) {
            (Progress::Running, Task::Delete) => "Deleting",
            (Progress::Running, Task::Import(_)) => "Provisioning",
            (Progress::Succeeded, _) => "Succeeded",
            (Progress::Failed(_), _) => "Failed",
            (Progress::Canceled(_), _) => "Canceled",
        }
    }

    /// One word for the log and the database.
    pub fn kind(&self) -> &'static str {
        match self.task {
            Task::Delete => "deleteGroup",
            Task::Import(_) => "importGroup",
        }
    }

    /// How much is done, in percent; all of it only once it has ended well.
    pub fn percent_complete(&self) -> u32 {
        match self.progress {
            Progress::Succeeded => 100,
            Progress::Running | Progress::Failed(_) | Progress::Canceled(_) => (self.done * 100)
                .checked_div(self.total)
                .unwrap_or(0)
                .min(99),
        }
    }

    /// Why it ended, when it did not succeed.
    pub fn failure(&self) -> Option<&Failure> {
        match &self.progress {
            Progress::Failed(failure) | Progress::Canceled(failure) => Some(failure),
            Progress::Running | Progress::Succeeded => None,
        }
    }

    /// The operation after `moved`.
    #[must_use]
    pub fn moved(&self, moved: Moved) -> Self {
        Self {
            done: moved.done,
            outcomes: moved.outcomes,
            due_at: moved.due_at,
            ..self.clone()
        }
    }

    /// The operation after `ending`.
    #[must_use]
    pub fn ended(&self, ending: Ending, now: Timestamp) -> Self {
        Self {
            progress: ending.progress,
            done: ending.done,
            outcomes: ending.outcomes,
            due_at: now,
            ended_at: Some(now),
            ..self.clone()
        }
    }
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Task::Delete => "deletion of the group",
            Task::Import(_) => "import into the group",
        })
    }
}
