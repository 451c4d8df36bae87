use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::application::{Application, Deployment, MemberStatus};
use super::task::{ImportOutcome, Task};
use crate::{Ended, GroupId, Order, ReferenceId, Secrets, Warning};

/// The state of an operation on a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum GroupState {
    /// In progress.
    Running,
    /// Ended; it never changes again.
    Ended(Ended),
}

/// The work of an operation on a group, with its current state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GroupWork {
    /// The group.
    pub group: GroupId,
    /// The goal of the operation.
    pub task: Task,
    /// The current state.
    // Rows have it under its former name.
    #[serde(rename = "progress")]
    pub state: GroupState,
    /// How many resources it concerns.
    #[serde(default)]
    pub total: u32,
    /// How many of them are done.
    #[serde(default)]
    pub done: u32,
    /// How many of its children had ended at the last decision.
    #[serde(default)]
    pub ended_children: usize,
    /// The outcomes of an import's items so far, by their index.
    #[serde(default)]
    pub outcomes: BTreeMap<usize, ImportOutcome>,
    /// How far the members of a set are, by their index.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<MemberStatus>,
    /// The outputs of a set, once it is applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outputs: Option<Value>,
    /// How often these could not be read.
    #[serde(default)]
    pub output_tries: u32,
    /// The references that come to own what others stand for and it gives up, by the keys of the references that did.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub heirs: BTreeMap<String, ReferenceId>,
    /// What the deletion of the group has given up to references of other groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub given_up: Vec<Warning>,
}

impl GroupWork {
    /// Returns the work of an operation that has just been accepted, on a group that owns `owned` resources.
    pub fn new(group: GroupId, task: Task, owned: usize) -> Self {
        let members = match &task {
            Task::Apply(application) => application.statuses(),
            Task::Delete | Task::DeleteUnshared | Task::Import(_) => Vec::new(),
        };
        let done = members.iter().filter(|status| status.state.is_over());
        Self {
            group,
            state: GroupState::Running,
            total: u32::try_from(task.total(owned)).unwrap_or(u32::MAX),
            task,
            done: u32::try_from(done.count()).unwrap_or(u32::MAX),
            members,
            outputs: None,
            output_tries: 0,
            ended_children: 0,
            outcomes: BTreeMap::new(),
            heirs: BTreeMap::new(),
            given_up: Vec::new(),
        }
    }

    /// Returns the set that it applies, if it does.
    pub fn application(&self) -> Option<&Application> {
        match &self.task {
            Task::Apply(application) => Some(application),
            Task::Delete | Task::DeleteUnshared | Task::Import(_) => None,
        }
    }

    /// Returns the refactor that it deploys, if it does.
    pub fn deployment(&self) -> Option<&Deployment> {
        self.application()?.deployment.as_deref()
    }

    /// Returns the order of a platform that it carries out, if it does.
    pub fn order(&self) -> Option<&Order> {
        self.application()?.order.as_deref()
    }

    /// See [`Work::mask`](crate::operation::Work::mask).
    pub(crate) fn mask(&mut self, secrets: &Secrets) {
        for member in &mut self.members {
            for warning in &mut member.given_up {
                warning.mask(secrets);
            }
        }
        for warning in &mut self.given_up {
            warning.mask(secrets);
        }
        let of_members = self.members.iter_mut();
        let of_members = of_members.filter_map(|member| member.state.failure_mut());
        let ended = match &mut self.state {
            GroupState::Ended(ended) => ended.failure_mut(),
            GroupState::Running => None,
        };
        for failure in of_members.chain(ended) {
            secrets.mask_failure(failure);
        }
    }

    /// Returns how it ended, if it has.
    pub fn ended(&self) -> Option<&Ended> {
        match &self.state {
            GroupState::Running => None,
            GroupState::Ended(ended) => Some(ended),
        }
    }

    /// Returns its ARM status.
    pub fn status(&self) -> &'static str {
        match &self.state {
            GroupState::Running => self.task.status(),
            GroupState::Ended(ended) => ended.status(),
        }
    }

    /// Returns the progress in percent; 100 only once it has succeeded.
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
