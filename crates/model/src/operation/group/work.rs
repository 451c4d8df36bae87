use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::task::{ImportOutcome, Task};
use crate::{Ended, GroupId};

/// How far an operation on a group is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum GroupState {
    /// Under way.
    Running,
    /// It never changes again.
    Ended(Ended),
}

/// What an operation does to a group, and how far it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GroupWork {
    /// On which group.
    pub group: GroupId,
    /// What it is to achieve.
    pub task: Task,
    /// How far it is.
    #[serde(rename = "progress")]
    pub state: GroupState,
    /// How many resources it concerns.
    #[serde(default)]
    pub total: u32,
    /// With how many of them it is done.
    #[serde(default)]
    pub done: u32,
    /// How many of its children had ended when it was last decided on.
    #[serde(default)]
    pub ended_children: usize,
    /// What the items of an import came to so far, by their index.
    #[serde(default)]
    pub outcomes: BTreeMap<usize, ImportOutcome>,
}

impl GroupWork {
    /// How it ended.
    pub fn ended(&self) -> Option<&Ended> {
        match &self.state {
            GroupState::Running => None,
            GroupState::Ended(ended) => Some(ended),
        }
    }

    /// ARM's word for its status.
    pub fn status(&self) -> &'static str {
        match &self.state {
            GroupState::Running => self.task.status(),
            GroupState::Ended(ended) => ended.status(),
        }
    }

    /// How much is done, in percent; all of it only once it has ended well.
    pub fn percent_complete(&self) -> u32 {
        match self.state {
            GroupState::Ended(Ended::Succeeded) => 100,
            GroupState::Running | GroupState::Ended(Ended::Failed(_) | Ended::Canceled(_)) => {
                let percent = (self.done * 100).checked_div(self.total);
                percent.unwrap_or(0).min(99)
            }
        }
    }
}
