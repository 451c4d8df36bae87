use serde::{Deserialize, Serialize};

use super::group::{GroupState, GroupWork, Task};
use super::header::Header;
use super::resource::{Kind, ResourceWork, State};
use crate::{
    CallClass, Ended, Failure, GroupId, PlanUse, RateKey, ReferenceId, RequestToken, Secrets,
    Timestamp, Warning,
};

/// One asynchronous change. Its row in the store is also the job.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// The fields common to all operations.
    pub header: Header,
    /// The work to do.
    pub work: Work,
}

/// The work of an operation, with its current state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Work {
    /// A change to one resource.
    Resource(Box<ResourceWork>),
    /// Changes to many resources of a group, each of them a child operation.
    Group(Box<GroupWork>),
}

impl Work {
    /// Masks what it says of secrets: what AWS has answered, and what is told of its plan. What AWS shows at the end stays.
    pub fn mask(&mut self, secrets: &Secrets) {
        match self {
            Work::Resource(work) => work.mask(secrets),
            Work::Group(work) => work.mask(secrets),
        }
    }

    /// Returns the work on a resource, if it is that.
    pub fn resource(&self) -> Option<&ResourceWork> {
        match self {
            Work::Resource(work) => Some(work),
            Work::Group(_) => None,
        }
    }

    /// Returns the work on a group, if it is that.
    pub fn group(&self) -> Option<&GroupWork> {
        match self {
            Work::Resource(_) => None,
            Work::Group(work) => Some(work),
        }
    }

    /// Returns its kind for the history, the log and the database.
    pub fn kind(&self) -> &'static str {
        match self {
            Work::Resource(work) => work.kind.as_str(),
            Work::Group(work) => work.task.kind(),
        }
    }

    /// Returns its ARM status.
    pub fn status(&self) -> &'static str {
        match self {
            Work::Resource(work) => work.status(),
            Work::Group(work) => work.status(),
        }
    }

    /// Returns how it ended, if it has.
    pub fn ended(&self) -> Option<&Ended> {
        match self {
            Work::Resource(work) => work.state.ended(),
            Work::Group(work) => work.ended(),
        }
    }

    /// Returns what the caller should know about its plan.
    pub fn warnings(&self) -> &[Warning] {
        self.resource().map_or(&[], |work| &work.warnings)
    }

    /// Returns the plan that it carries out, if any.
    pub fn plan(&self) -> Option<PlanUse> {
        match self {
            Work::Resource(work) => work.plan,
            Work::Group(work) => match &work.task {
                Task::Apply(application) => Some(PlanUse {
                    plan: application.plan?,
                    member: None,
                    is_compared: false,
                }),
                Task::Delete | Task::DeleteUnshared | Task::Import(_) => None,
            },
        }
    }

    /// Returns the id of the reference it works on, if any.
    pub fn reference(&self) -> Option<&ReferenceId> {
        self.resource()?.reference.as_ref()
    }

    /// Returns the request in flight that it waits for, if AWS has accepted one.
    pub fn request_in_flight(&self) -> Option<&RequestToken> {
        match &self.resource()?.state {
            State::Waiting(_, request) => Some(request),
            State::Accepted
            | State::Missing(_)
            | State::Submitting(_)
            | State::Observing(_)
            | State::Salvaging(..)
            | State::Adopting(_)
            | State::Ended(_) => None,
        }
    }

    /// Returns when it has to look after the request in flight itself, whoever else sees its end: the request takes too long then,
    /// or is to be cancelled once more.
    pub fn asks_by(&self) -> Option<Timestamp> {
        let work = self.resource()?;
        let State::Waiting(intent, _) = &work.state else {
            return None;
        };
        match work.cancel_asked {
            Some(asked) => Some(asked.next_at),
            None => Some(work.overdue_at(intent.action())),
        }
    }

    /// Returns the key of the AWS account and region that it works in; empty for an operation on a group.
    pub fn scope_key(&self) -> String {
        self.resource()
            .map_or_else(String::new, |work| work.scope.key())
    }

    /// Returns the bucket from which its next step is likely to take a call. A look may show that there is nothing to do.
    pub fn rate_key(&self) -> Option<RateKey> {
        let work = self.resource()?;
        let changes = match (&work.state, work.kind) {
            (State::Accepted, Kind::Put | Kind::Delete) => !work.looks_only,
            // What may have been sent is not held up: AWS may be carrying it out.
            (State::Submitting(intent), _) => intent.unanswered == 0,
            (
                State::Accepted
                | State::Missing(_)
                | State::Waiting(..)
                | State::Observing(_)
                | State::Salvaging(..)
                | State::Adopting(_)
                | State::Ended(_),
                _,
            ) => false,
        };
        changes.then(|| RateKey {
            scope: self.scope_key(),
            class: CallClass::Mutations,
        })
    }

    /// Returns the groups whose contents its status tells: the one that it works on, or whose reference it works on, and all
    /// that a refactor names which it deploys.
    pub fn groups(&self) -> impl Iterator<Item = &GroupId> {
        let deployment = self.group().and_then(GroupWork::deployment);
        let named = deployment.map(|deployment| deployment.groups.as_slice());
        self.group_id().into_iter().chain(named.unwrap_or_default())
    }

    /// Returns the group that it works on, or whose reference it works on.
    pub fn group_id(&self) -> Option<&GroupId> {
        match self {
            Work::Resource(work) => Some(&work.reference.as_ref()?.group),
            Work::Group(work) => Some(&work.group),
        }
    }
}

impl Operation {
    /// Returns what it has told of what it has given up to other references, once it has succeeded.
    pub fn given_up(&self) -> Vec<Warning> {
        let work = self.work.resource();
        let work = work.filter(|_| self.ended() == Some(&Ended::Succeeded));
        let given_up = work.into_iter().flat_map(ResourceWork::given_up);
        given_up.cloned().collect()
    }

    /// Returns how it ended, if it has.
    pub fn ended(&self) -> Option<&Ended> {
        self.work.ended()
    }

    /// Returns whether it has ended and so never changes again.
    pub fn is_terminal(&self) -> bool {
        self.ended().is_some()
    }

    /// Returns its ARM status.
    pub fn status(&self) -> &'static str {
        self.work.status()
    }

    /// Returns why it failed or was cancelled, if so.
    pub fn failure(&self) -> Option<&Failure> {
        self.ended()?.failure()
    }

    /// Returns the name of its current state, for the log.
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
