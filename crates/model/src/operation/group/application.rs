//! A set to apply, and how far its members are.

use serde::{Deserialize, Serialize};

use super::super::resource::{OnShared, Options};
use crate::{
    Failure, GroupId, Identifier, Lineage, OperationId, Order, PlanId, RefactorId, ReferenceId,
    Scope, Timestamp, Warning,
};

/// A set to apply, without its declarations: these are sealed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Application {
    /// The members, each after those that it depends on, deletes last.
    pub members: Vec<ApplyMember>,
    /// Whether there are outputs to tell at the end.
    pub has_outputs: bool,
    /// The plan that it carries out. Its members have the same indexes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanId>,
    /// The refactor that it deploys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deployment: Option<Box<Deployment>>,
    /// The order of a platform that it carries out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Box<Order>>,
}

/// The deployment of a refactor: when it was accepted everything moved, and then what changes is put.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Deployment {
    /// The refactor.
    pub refactor: RefactorId,
    /// The groups that it names. Until it ends, nothing else works on one of them as a whole.
    pub groups: Vec<GroupId>,
    /// What becomes of the moves if a put fails.
    pub on_failure: OnFailure,
}

/// What becomes of the moves of a refactor if a put of its deployment fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OnFailure {
    /// They are taken back, once nothing is under way.
    #[default]
    Undo,
    /// They stay.
    Keep,
}

/// One resource of a set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApplyMember {
    /// Its name in the set.
    pub symbolic_name: String,
    /// The id of its reference.
    pub reference: ReferenceId,
    /// What moves to its alias when the apply is accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<MovedFrom>,
    /// Its account and region.
    pub scope: Scope,
    /// What is to become of it.
    pub goal: MemberGoal,
    /// What becomes of a delete if other references stand for the resource.
    #[serde(default, skip_serializing_if = "OnShared::refuses")]
    pub on_shared: OnShared,
    /// Whether another member declares what it deletes: that is left alone, whoever stands for it by then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_declared: bool,
    /// The indexes of the members that come first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<usize>,
    /// Whether the request has seen that nothing is to be done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unchanged: bool,
    /// Whether the request has compared all that AWS shows of it with the plan.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_compared: bool,
}

/// A reference that moves, as it was when that was judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MovedFrom {
    /// Its id until then.
    pub reference: ReferenceId,
    /// Its lineage.
    pub lineage: Lineage,
    /// What it stands for.
    pub identifier: Option<Identifier>,
}

/// What is to become of a member of a set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MemberGoal {
    /// It is as declared.
    Put(Options),
    /// It does not exist.
    Delete,
    /// The same, unless its reference no longer owns it, or is not the one any more that was made at this time: the set does
    /// not list it.
    DeleteOwned(Timestamp),
}

/// How far a member of a set is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MemberStatus {
    /// How far it is.
    pub state: MemberState,
    /// Its latest operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<OperationId>,
    /// How often what it refers to could not be read.
    #[serde(default)]
    pub tries: u32,
    /// When that is tried again at the earliest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_try_at: Option<Timestamp>,
    /// What it has given up to other references.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub given_up: Vec<Warning>,
}

/// The state of a member of a set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MemberState {
    /// It has not begun.
    Waiting,
    /// Its operation is under way.
    Running,
    /// It was changed.
    Succeeded,
    /// There was nothing to do.
    Unchanged,
    /// Its change failed.
    Failed(Failure),
    /// It was left as it is, because of what it depends on.
    Skipped(Failure),
    /// It was cancelled.
    Canceled(Failure),
}

impl Application {
    /// Returns whether something is to be deleted.
    pub fn deletes(&self) -> bool {
        let goals = self.members.iter().map(|member| &member.goal);
        goals
            .into_iter()
            .any(|goal| !matches!(goal, MemberGoal::Put(_)))
    }

    /// Returns whether it gives up what other references stand for, where it would delete or replace that.
    pub fn gives_up_shared(&self) -> bool {
        self.members.iter().any(ApplyMember::gives_up_shared)
    }

    /// Returns how far the members are at first.
    pub fn statuses(&self) -> Vec<MemberStatus> {
        let members = self.members.iter();
        members
            .map(|member| MemberStatus {
                state: if member.is_unchanged {
                    MemberState::Unchanged
                } else {
                    MemberState::Waiting
                },
                operation: None,
                tries: 0,
                next_try_at: None,
                given_up: Vec::new(),
            })
            .collect()
    }
}

impl ApplyMember {
    /// Returns whether it gives up what other references stand for, where it would delete or replace that.
    pub fn gives_up_shared(&self) -> bool {
        match &self.goal {
            MemberGoal::Put(options) => options.gives_up_shared(),
            MemberGoal::Delete | MemberGoal::DeleteOwned(_) => self.on_shared == OnShared::Release,
        }
    }
}

impl MemberState {
    /// Returns its name in replies.
    pub fn name(&self) -> &'static str {
        match self {
            MemberState::Waiting => "Waiting",
            MemberState::Running => "Running",
            MemberState::Succeeded => "Succeeded",
            MemberState::Unchanged => "Unchanged",
            MemberState::Failed(_) => "Failed",
            MemberState::Skipped(_) => "Skipped",
            MemberState::Canceled(_) => "Canceled",
        }
    }

    pub(crate) fn failure_mut(&mut self) -> Option<&mut Failure> {
        match self {
            MemberState::Failed(failure)
            | MemberState::Skipped(failure)
            | MemberState::Canceled(failure) => Some(failure),
            MemberState::Waiting
            | MemberState::Running
            | MemberState::Succeeded
            | MemberState::Unchanged => None,
        }
    }

    /// Returns why it is not as declared, if it is over without success.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            MemberState::Failed(failure)
            | MemberState::Skipped(failure)
            | MemberState::Canceled(failure) => Some(failure),
            MemberState::Waiting
            | MemberState::Running
            | MemberState::Succeeded
            | MemberState::Unchanged => None,
        }
    }

    /// Returns whether it stays so.
    pub fn is_over(&self) -> bool {
        !matches!(self, MemberState::Waiting | MemberState::Running)
    }

    pub(super) fn is_good(&self) -> bool {
        matches!(self, MemberState::Succeeded | MemberState::Unchanged)
    }
}
