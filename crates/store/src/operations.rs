//! Operations: each row is also the job.

use async_trait::async_trait;
use ucp_model::operation::group::Task;
use ucp_model::operation::{Header, Kind, Options, ReferenceChange};
use ucp_model::{
    Baseline, CorrelationId, GroupId, Identifier, Operation, OperationId, Reference, ReferenceId,
    Scope, Target, Timestamp, TypeName,
};

use crate::{Error, Lease, LeaseTerm, Sealed};

/// An operation to accept.
#[derive(Clone, Debug, PartialEq)]
pub struct NewOperation {
    /// Its id, fresh.
    pub id: OperationId,
    /// The operation this one is a part of.
    pub parent: Option<OperationId>,
    /// What ties it to the caller's deployment.
    pub correlation_id: CorrelationId,
    /// Who asked for it.
    pub caller: String,
    /// Now.
    pub accepted_at: Timestamp,
    /// What it is to do.
    pub work: NewWork,
}

/// What an operation to accept is to do.
#[derive(Clone, Debug, PartialEq)]
pub enum NewWork {
    /// Change one resource.
    Resource(NewResourceWork),
    /// Change many resources of a group.
    Group {
        /// On which group.
        group: GroupId,
        /// What it is to achieve.
        task: Task,
    },
}

/// A change of one resource to accept. What it works on is settled in the accepting transaction: the reference's identifier
/// wins over `identifier`.
#[derive(Clone, Debug, PartialEq)]
pub struct NewResourceWork {
    /// What it is to achieve.
    pub kind: Kind,
    /// Where.
    pub scope: Scope,
    /// On a resource of which type.
    pub type_name: TypeName,
    /// Under which alias; none without a reference.
    pub reference: Option<ReferenceId>,
    /// The identifier that the request determines.
    pub identifier: Option<Identifier>,
    /// What the caller chose.
    pub options: Options,
    /// The declared properties, sealed.
    pub desired: Option<Sealed>,
    /// The schema the declaration was validated with.
    pub schema_fingerprint: String,
}

impl NewOperation {
    /// What the operation is recorded with, due at once.
    pub fn header(&self) -> Header {
        Header {
            id: self.id,
            parent: self.parent,
            correlation_id: self.correlation_id.clone(),
            caller: self.caller.clone(),
            accepted_at: self.accepted_at,
            due_at: self.accepted_at,
            cancel_requested_at: None,
            ended_at: None,
        }
    }
}

/// What accepting an operation came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Accepted {
    /// The operation as recorded.
    pub operation: Operation,
    /// The reference it works on, as recorded.
    pub reference: Option<Reference>,
}

/// The end of an operation.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishOperation {
    /// The operation, in a terminal state.
    pub operation: Operation,
    /// What becomes of the reference of one on a resource.
    pub reference: Option<ReferenceChange>,
    /// What was declared, for [`ReferenceChange::Applied`] of a put.
    pub baseline: Option<Baseline>,
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
    pub fn holds(&self, operation: &Operation) -> bool {
        self.status
            .is_none_or(|status| status.as_str() == operation.status())
            && self.after.is_none_or(|after| place(operation) < after)
    }
}

/// When an operation was accepted, and its id: its place in a list.
pub fn place(operation: &Operation) -> (Timestamp, OperationId) {
    (operation.header.accepted_at, operation.header.id)
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

/// The operations: accepting, stepping, ending and listing them.
#[async_trait]
pub trait Operations: Send + Sync {
    /// Records the operation, due at once, or refuses it. One on a reference claims its alias in the same step.
    ///
    /// The first of these that holds is the answer:
    ///
    /// - [`Error::NoSuchGroup`] when its group, or its reference's, does not exist. It cannot vanish while this runs.
    /// - [`Error::GroupDeleting`] when it is being deleted.
    /// - [`Error::Busy`] when the alias has a live operation.
    /// - [`Error::AlreadyReferenced`] for an import of a referenced alias.
    /// - [`Error::ReferencedElsewhere`] when the alias is referenced and the reference's account or region is another.
    /// - [`Error::NoSuchReference`] for a delete of an alias that maps nothing.
    /// - [`Error::Busy`] when the AWS resource that the operation would work on has a live operation.
    /// - [`Error::OwnedElsewhere`] when the options take ownership of a resource that another reference owns.
    ///
    /// The deletion of a group is not accepted so, but by
    /// [`delete_resource_group`](crate::Groups::delete_resource_group), which closes the group.
    ///
    /// Otherwise a put or import of a new alias inserts the reference without an identifier, in state `Provisioning`, not
    /// owned; a put or delete of a referenced alias takes over the reference's identifier (`was_referenced`) and sets its state to
    /// `Provisioning` or `Deleting`.
    async fn accept_operation(&self, new: NewOperation) -> Result<Accepted, Error>;

    /// The same for a child of the live operation that `lease` is on, or [`Error::LeaseLost`]; `new.parent` names that
    /// operation. Being deleted does not keep it out of the group.
    async fn accept_child(&self, lease: &Lease, new: NewOperation) -> Result<Accepted, Error>;

    /// The operation, if it was ever accepted and not yet removed.
    async fn get_operation(&self, id: OperationId) -> Result<Option<Operation>, Error>;

    /// The operations on a group and on its references that the page asks for, the latest first, then by id downwards.
    /// [`Error::NoSuchGroup`] when there is no such group.
    async fn list_operations(
        &self,
        group: &GroupId,
        page: OperationPage,
    ) -> Result<Vec<Operation>, Error>;

    /// The operations that are a part of `parent`, by when they were accepted, then by id.
    async fn list_children(&self, parent: OperationId) -> Result<Vec<Operation>, Error>;

    /// Whether an operation that ended `Succeeded` after `since` created the AWS resource, in any plane.
    async fn was_created(&self, target: &Target<'_>, since: Timestamp) -> Result<bool, Error>;

    /// Writes a step that does not end the operation, and renews the lease from `now`, or [`Error::LeaseLost`]. `document`
    /// replaces the recorded bytes when given.
    ///
    /// The caller hands back the operation that it claimed, moved. Engines assume that what it was accepted with is
    /// unchanged, and do not check it.
    ///
    /// In the same step the reference of one on a resource takes over the identifier that the alias stands for
    /// ([`referenced`](ucp_model::operation::ResourceWork::referenced), also none); where that changes, what was observed is
    /// dropped. Once a replacement has deleted the old resource ([`rules::replaced`](crate::rules::replaced)), every
    /// reference of that goes, except where a live operation holds it. Who owns it is settled when the operation ends, since
    /// a create may still turn out to have been refused; but where another reference owns the resource, this one no longer
    /// does. When another live operation works on the resource ([`held`](ucp_model::operation::ResourceWork::held)), the
    /// step is written all the same, and from then on does not keep others off that resource.
    ///
    /// Where a cancel has been asked for that `operation` does not know of, it is due then instead: its worker has not
    /// seen it. One on a group is due at `now` instead unless exactly as many of its children have ended by now as its
    /// worker has seen ([`ended_children`](ucp_model::operation::GroupWork::ended_children)).
    async fn commit_step(
        &self,
        lease: &Lease,
        operation: &Operation,
        document: Option<Sealed>,
        now: Timestamp,
        term: LeaseTerm,
    ) -> Result<Lease, Error>;

    /// Ends the operation: terminal state, documents erased, reference written or removed, event appended, lease gone, all
    /// in one step, or [`Error::LeaseLost`]. The operation is the claimed one, as in [`Operations::commit_step`], now
    /// terminal and with `ended_at` set.
    ///
    /// - [`ReferenceChange::Applied`]: the reference takes the identifier, the live form (`operation.result`, when some) and
    ///   the baseline; its state becomes `Succeeded`. It becomes owned if `owned` says so, and otherwise stays as it was,
    ///   but is not owned where another reference owns the resource.
    /// - [`ReferenceChange::Kept`]: as `Applied`, but the baseline stays and the state becomes `Failed` or `Canceled`, as the
    ///   operation's.
    /// - [`ReferenceChange::Removed`]: the operation's own reference goes. When a delete ends `Succeeded`, every reference of
    ///   the AWS resource goes with it, except where a live operation holds it.
    ///
    /// When the deletion of a group ends well, every reference of the group is forgotten, with an event each, and the group is
    /// gone; otherwise the group is usable again.
    ///
    /// The operation that it is a part of, if any, becomes due at `ended_at`, unless it is earlier.
    async fn finish_operation(&self, lease: &Lease, finish: FinishOperation) -> Result<(), Error>;

    /// Notes that a live operation and its live children are to be cancelled and makes them due at once; whoever steps them
    /// next learns of it. The operation as it is then, which may have ended; none when there is no such operation.
    async fn request_cancel(
        &self,
        id: OperationId,
        now: Timestamp,
    ) -> Result<Option<Operation>, Error>;

    /// Removes up to `limit` operations that ended before `before`, those that ended first. A child stays as long as the
    /// operation that it is a part of is live. How many there were.
    async fn remove_ended_operations(&self, before: Timestamp, limit: usize) -> Result<u64, Error>;
}
