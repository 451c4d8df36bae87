use std::collections::BTreeMap;

use super::decision::{Finish, Moved};
use super::task::{ImportOutcome, Task};
use crate::{CorrelationId, Ended, Failure, GroupId, OperationId, Timestamp};

/// How far an operation on a group is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Under way.
    Running,
    /// It never changes again.
    Ended(Ended),
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
        self.ended().is_some()
    }

    /// How it ended.
    pub fn ended(&self) -> Option<&Ended> {
        match &self.progress {
            Progress::Running => None,
            Progress::Ended(ended) => Some(ended),
        }
    }

    /// ARM's word for its status.
    pub fn status(&self) -> &'static str {
        match (&self.progress, &self.task) {
            (Progress::Running, Task::Delete) => "Deleting",
            (Progress::Running, Task::Import(_)) => "Provisioning",
            (Progress::Ended(ended), _) => ended.status(),
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
            Progress::Ended(Ended::Succeeded) => 100,
            Progress::Running | Progress::Ended(Ended::Failed(_) | Ended::Canceled(_)) => {
                let percent = (self.done * 100).checked_div(self.total);
                percent.unwrap_or(0).min(99)
            }
        }
    }

    /// Why it ended, when it did not succeed.
    pub fn failure(&self) -> Option<&Failure> {
        self.ended()?.failure()
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

    /// The operation after `finish`.
    #[must_use]
    pub fn finished(&self, finish: Finish, now: Timestamp) -> Self {
        Self {
            progress: Progress::Ended(finish.ended),
            done: finish.done,
            outcomes: finish.outcomes,
            due_at: now,
            ended_at: Some(now),
            ..self.clone()
        }
    }
}
