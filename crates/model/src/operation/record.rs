use serde::{Deserialize, Serialize};

use super::group::{GroupState, GroupWork};
use super::header::Header;
use super::resource::ResourceWork;
use crate::{Ended, Failure, GroupId, ReferenceId};

/// One asynchronous change: the row that is also the job.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// What all operations have in common.
    pub header: Header,
    /// What it does.
    pub work: Work,
}

/// What an operation does, and how far it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Work {
    /// A change of one resource.
    Resource(Box<ResourceWork>),
    /// Changes of many resources of a group, each of which is a child.
    Group(Box<GroupWork>),
}

impl Work {
    /// The change of one resource, if it is one.
    pub fn resource(&self) -> Option<&ResourceWork> {
        match self {
            Work::Resource(work) => Some(work),
            Work::Group(_) => None,
        }
    }

    /// The changes of a group, if they are.
    pub fn group(&self) -> Option<&GroupWork> {
        match self {
            Work::Resource(_) => None,
            Work::Group(work) => Some(work),
        }
    }

    /// One word for the history, the log and the database.
    pub fn kind(&self) -> &'static str {
        match self {
            Work::Resource(work) => work.kind.as_str(),
            Work::Group(work) => work.task.kind(),
        }
    }

    /// ARM's word for its status.
    pub fn status(&self) -> &'static str {
        match self {
            Work::Resource(work) => work.status(),
            Work::Group(work) => work.status(),
        }
    }

    /// How it ended.
    pub fn ended(&self) -> Option<&Ended> {
        match self {
            Work::Resource(work) => work.state.ended(),
            Work::Group(work) => work.ended(),
        }
    }

    /// The alias that it works on.
    pub fn reference(&self) -> Option<&ReferenceId> {
        self.resource()?.reference.as_ref()
    }

    /// The group that it works on, or in.
    pub fn group_id(&self) -> Option<&GroupId> {
        match self {
            Work::Resource(work) => Some(&work.reference.as_ref()?.group),
            Work::Group(work) => Some(&work.group),
        }
    }
}

impl Operation {
    /// How it ended.
    pub fn ended(&self) -> Option<&Ended> {
        self.work.ended()
    }

    /// Whether it never changes again.
    pub fn is_terminal(&self) -> bool {
        self.ended().is_some()
    }

    /// ARM's word for its status.
    pub fn status(&self) -> &'static str {
        self.work.status()
    }

    /// Why it ended, when it did not succeed.
    pub fn failure(&self) -> Option<&Failure> {
        self.ended()?.failure()
    }

    /// One word for how far it is, for the log.
    pub fn state_name(&self) -> &'static str {
        match &self.work {
            Work::Resource(work) => work.state.name(),
            Work::Group(work) => match &work.state {
                GroupState::Running => "running",
                GroupState::Ended(ended) => ended.name(),
            },
        }
    }
}
