//! What the contract says of operations on groups, and of what is asked about all operations of a group.

use std::collections::BTreeMap;

use ucp_model::group_operation::Task;
use ucp_model::{CorrelationId, GroupId, GroupOperation, Operation, OperationId, Timestamp};

use crate::{Claimed, Lease};

/// An operation on a group to accept.
#[derive(Clone, Debug, PartialEq)]
pub struct NewGroupOperation {
    /// Its id, fresh.
    pub id: OperationId,
    /// On which group.
    pub group: GroupId,
    /// What it is to achieve.
    pub task: Task,
    /// What ties it to the caller's deployment.
    pub correlation_id: CorrelationId,
    /// Who asked for it.
    pub caller: String,
    /// Now.
    pub accepted_at: Timestamp,
}

/// What deleting a group came to.
#[derive(Clone, Debug, PartialEq)]
pub enum GroupDeletion {
    /// There is no such group.
    Absent,
    /// It tracked nothing and is gone.
    Removed,
    /// The operation that deletes it is recorded.
    Accepted(Box<GroupOperation>),
    /// This operation deletes it already.
    Running(Box<GroupOperation>),
}

/// What is under a lease.
#[derive(Clone, Debug, PartialEq)]
pub enum Job {
    /// An operation on a resource.
    Resource(Box<Claimed>),
    /// An operation on a group.
    Group(Box<ClaimedGroup>),
}

impl Job {
    /// The right to write.
    pub fn lease(&self) -> &Lease {
        match self {
            Job::Resource(claimed) => &claimed.lease,
            Job::Group(claimed) => &claimed.lease,
        }
    }

    /// When it was due, and its id: the order in which jobs are claimed.
    pub fn order(&self) -> (Timestamp, OperationId) {
        match self {
            Job::Resource(claimed) => (claimed.operation.due_at, claimed.operation.id),
            Job::Group(claimed) => (claimed.operation.due_at, claimed.operation.id),
        }
    }
}

/// An operation on a group under a lease.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimedGroup {
    /// The right to write.
    pub lease: Lease,
    /// The operation.
    pub operation: GroupOperation,
}

/// Some of the operations of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationPage {
    /// Those with this status; all, when none.
    pub status: Option<Status>,
    /// Those that come after this one, which an earlier page ended with.
    pub after: Option<(Timestamp, OperationId)>,
    /// At most so many.
    pub limit: usize,
}

impl OperationPage {
    /// Whether it asks for this operation, apart from how many it asks for.
    pub fn holds(&self, operation: &ListedOperation) -> bool {
        self.status
            .is_none_or(|status| status.as_str() == operation.status())
            && self.after.is_none_or(|after| operation.place() < after)
    }
}

/// ARM's words for the status of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Nothing was asked of AWS yet.
    Accepted,
    /// A create, or an import into a group, is under way.
    Provisioning,
    /// An update is under way.
    Updating,
    /// A delete is under way.
    Deleting,
    /// It ended well.
    Succeeded,
    /// It ended otherwise.
    Failed,
    /// It was cancelled.
    Canceled,
}

impl Status {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Accepted,
        Self::Provisioning,
        Self::Updating,
        Self::Deleting,
        Self::Succeeded,
        Self::Failed,
        Self::Canceled,
    ];

    /// ARM's word.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Accepted => "Accepted",
            Status::Provisioning => "Provisioning",
            Status::Updating => "Updating",
            Status::Deleting => "Deleting",
            Status::Succeeded => "Succeeded",
            Status::Failed => "Failed",
            Status::Canceled => "Canceled",
        }
    }
}

/// An operation in the list of a group's operations.
#[derive(Clone, Debug, PartialEq)]
pub enum ListedOperation {
    /// On one of its references.
    Resource(Box<Operation>),
    /// On the group itself.
    Group(Box<GroupOperation>),
}

impl ListedOperation {
    /// ARM's word for its status.
    pub fn status(&self) -> &'static str {
        match self {
            ListedOperation::Resource(operation) => operation.status(),
            ListedOperation::Group(operation) => operation.status(),
        }
    }

    /// Its id.
    pub fn id(&self) -> OperationId {
        match self {
            ListedOperation::Resource(operation) => operation.id,
            ListedOperation::Group(operation) => operation.id,
        }
    }

    /// Whether it never changes again.
    pub fn is_terminal(&self) -> bool {
        match self {
            ListedOperation::Resource(operation) => operation.state.is_terminal(),
            ListedOperation::Group(operation) => operation.is_terminal(),
        }
    }

    /// When it was accepted, and its id: its place in the list.
    pub fn place(&self) -> (Timestamp, OperationId) {
        match self {
            ListedOperation::Resource(operation) => (operation.accepted_at, operation.id),
            ListedOperation::Group(operation) => (operation.accepted_at, operation.id),
        }
    }
}

/// What to change about a reference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReferenceUpdate {
    /// Whether it owns its resource.
    pub owned: Option<bool>,
    /// All its tags.
    pub tags: Option<BTreeMap<String, String>>,
}
