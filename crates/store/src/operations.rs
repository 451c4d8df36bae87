//! Operations: each row is also the job.

use async_trait::async_trait;
use ucp_model::group_operation::Task;
use ucp_model::operation::{Kind, MappingChange, Options};
use ucp_model::{
    Baseline, CorrelationId, GroupId, GroupOperation, Identifier, Operation, OperationId,
    Reference, ReferenceId, Scope, Target, Timestamp, TypeName,
};

use crate::{Error, Lease, LeaseTerm, Sealed};

/// An operation to accept. What it works on is settled in the accepting transaction: the mapping's identifier wins over
/// `identifier`.
#[derive(Clone, Debug, PartialEq)]
pub struct NewOperation {
    /// Its id, fresh.
    pub id: OperationId,
    /// What it is to achieve.
    pub kind: Kind,
    /// Where.
    pub scope: Scope,
    /// On a resource of which type.
    pub type_name: TypeName,
    /// Under which alias; none when untracked.
    pub reference: Option<ReferenceId>,
    /// The identifier that the request determines.
    pub identifier: Option<Identifier>,
    /// What the caller chose.
    pub options: Options,
    /// The declared properties, sealed.
    pub desired: Option<Sealed>,
    /// The schema the declaration was validated with.
    pub schema_fingerprint: String,
    /// What ties it to the caller's deployment.
    pub correlation_id: CorrelationId,
    /// Who asked for it.
    pub caller: String,
    /// The operation this one is a part of.
    pub parent: Option<OperationId>,
    /// Now.
    pub accepted_at: Timestamp,
}

/// What accepting an operation came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Accepted {
    /// The operation as recorded.
    pub operation: Operation,
    /// The reference it works on, as recorded.
    pub reference: Option<Reference>,
}

/// The documents of an operation that wait to be sent. They are erased when it ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Documents {
    /// The declared properties of a put.
    pub desired: Option<Sealed>,
    /// The exact bytes of the recorded intent.
    pub document: Option<Sealed>,
}

/// The end of an operation.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishOperation {
    /// The operation, in a terminal state.
    pub operation: Operation,
    /// What becomes of the mapping.
    pub mapping: MappingChange,
    /// What was declared, for [`MappingChange::Applied`] of a put.
    pub baseline: Option<Baseline>,
}

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

/// An operation in the list of a group's operations.
#[derive(Clone, Debug, PartialEq)]
pub enum ListedOperation {
    /// On one of its references.
    Resource(Box<Operation>),
    /// On the group itself.
    Group(Box<GroupOperation>),
}

impl OperationPage {
    /// Whether it asks for this operation, apart from how many it asks for.
    pub fn holds(&self, operation: &ListedOperation) -> bool {
        self.status
            .is_none_or(|status| status.as_str() == operation.status())
            && self.after.is_none_or(|after| operation.place() < after)
    }
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

/// The operations: accepting, stepping, ending and listing them.
#[async_trait]
pub trait Operations: Send + Sync {
    /// Claims the alias and records the operation, or does neither.
    ///
    /// The first of these that holds is the answer:
    ///
    /// - [`Error::NoSuchGroup`] when the reference's group does not exist. It cannot vanish while this runs.
    /// - [`Error::GroupDeleting`] when it is being deleted.
    /// - [`Error::Busy`] when the alias has a live operation.
    /// - [`Error::AlreadyMapped`] for an import of a mapped alias.
    /// - [`Error::MappedElsewhere`] when the alias is mapped and the mapping's account or region is another.
    /// - [`Error::NotMapped`] for a delete of an alias that maps nothing.
    /// - [`Error::Busy`] when the AWS resource that the operation would work on has a live operation.
    /// - [`Error::OwnedElsewhere`] when the options take ownership of a resource that another reference owns.
    ///
    /// Otherwise a put or import of a new alias inserts the mapping without an identifier, in state `Provisioning`, not
    /// owned; a put
    /// or delete of a mapped alias takes over the mapping's identifier (`was_mapped`) and sets its state to
    /// `Provisioning` or `Deleting`. The operation is due at once.
    async fn accept_operation(&self, new: NewOperation) -> Result<Accepted, Error>;

    /// Records an import into a group, due at once; [`Error::NoSuchGroup`], or [`Error::GroupDeleting`].
    async fn accept_group_import(&self, new: NewGroupOperation) -> Result<GroupOperation, Error>;

    /// The same for a child of the operation on a group that `lease` is on, or [`Error::LeaseLost`]; `new.parent` names that
    /// operation. Being deleted does not keep it out of the group.
    async fn accept_child(&self, lease: &Lease, new: NewOperation) -> Result<Accepted, Error>;

    /// The operation on a resource, if it was ever accepted and not yet removed.
    async fn get_operation(&self, id: OperationId) -> Result<Option<Operation>, Error>;

    /// The operation on a group, if it was ever accepted.
    async fn get_group_operation(&self, id: OperationId) -> Result<Option<GroupOperation>, Error>;

    /// The operations on a group and on its references that the page asks for, the latest first, then by id downwards.
    /// [`Error::NoSuchGroup`] when there is no such group.
    async fn list_operations(
        &self,
        group: &GroupId,
        page: OperationPage,
    ) -> Result<Vec<ListedOperation>, Error>;

    /// The operations that are a part of `parent`, by when they were accepted, then by id.
    async fn list_children(&self, parent: OperationId) -> Result<Vec<Operation>, Error>;

    /// Whether an operation that ended `Succeeded` after `since` created the AWS resource, in any plane.
    async fn was_created(&self, target: &Target<'_>, since: Timestamp) -> Result<bool, Error>;

    /// Writes a step that does not end the operation, and renews the lease from `now`, or [`Error::LeaseLost`]. What the
    /// operation was accepted with never changes. `document` replaces the recorded bytes when given.
    ///
    /// In the same step the mapping takes over the identifier that the alias stands for ([`Operation::mapped`], also
    /// none); where that changes, what was observed is dropped. Once a replacement has deleted the old resource
    /// ([`rules::replaced`](crate::rules::replaced)), every mapping of that goes, except where a live operation holds it.
    /// Who owns it is settled when the operation ends, since a create may still turn out to have been refused; but where
    /// another reference owns the resource, this one no longer does. When another live operation works on the resource
    /// ([`Operation::held`]), the step is written all the same, and from then on does not keep others off that resource.
    /// Where a cancel has been asked for that `operation` does not know of, it is due then instead: its worker has not
    /// seen it.
    async fn commit_step(
        &self,
        lease: &Lease,
        operation: &Operation,
        document: Option<Sealed>,
        now: Timestamp,
        term: LeaseTerm,
    ) -> Result<Lease, Error>;

    /// Writes how far an operation on a group is and when it goes on, and renews the lease from `now`, or
    /// [`Error::LeaseLost`]. Unless exactly `ended_children` of its children have ended by now, it is due at `now` instead:
    /// its worker has not seen the others.
    async fn commit_group_step(
        &self,
        lease: &Lease,
        operation: &GroupOperation,
        ended_children: usize,
        now: Timestamp,
        term: LeaseTerm,
    ) -> Result<Lease, Error>;

    /// Ends the operation: terminal state, documents erased, mapping written or removed, event appended, lease gone, all
    /// in one step, or [`Error::LeaseLost`]. The operation's `state` is terminal and `ended_at` is set.
    ///
    /// - [`MappingChange::Applied`]: the mapping takes the identifier, the live form (`operation.result`, when some) and
    ///   the baseline; its state becomes `Succeeded`. It becomes owned if `owned` says so, and otherwise stays as it was,
    ///   but is not owned where another reference owns the resource.
    /// - [`MappingChange::Kept`]: as `Applied`, but the baseline stays and the state becomes `Failed` or `Canceled`, as the
    ///   operation's.
    /// - [`MappingChange::Removed`]: the operation's own mapping goes. When a delete ends `Succeeded`, every mapping of
    ///   the AWS resource goes with it, except where a live operation holds it.
    ///
    /// The operation that it is a part of, if any, becomes due at `ended_at`, unless it is earlier.
    async fn finish_operation(&self, lease: &Lease, finish: FinishOperation) -> Result<(), Error>;

    /// Ends an operation on a group, with an event, or [`Error::LeaseLost`]. When a deletion ends well, every reference of
    /// the group is forgotten, with an event each, and the group is gone; otherwise the group is usable again.
    async fn finish_group_operation(
        &self,
        lease: &Lease,
        operation: &GroupOperation,
    ) -> Result<(), Error>;

    /// Notes that a live operation is to be cancelled and makes it due at once; whoever steps it next learns of it. The
    /// operation as it is then, which may have ended; none when there is no such operation.
    async fn request_cancel(
        &self,
        id: OperationId,
        now: Timestamp,
    ) -> Result<Option<Operation>, Error>;

    /// The same for an operation on a group and, in the same step, for its live children.
    async fn request_group_cancel(
        &self,
        id: OperationId,
        now: Timestamp,
    ) -> Result<Option<GroupOperation>, Error>;

    /// Removes up to `limit` operations that ended before `before`, those that ended first. A child stays as long as the
    /// operation that it is a part of is live. How many there were.
    async fn remove_ended_operations(&self, before: Timestamp, limit: usize) -> Result<u64, Error>;
}
