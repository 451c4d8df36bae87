//! Operations. The row of an operation is also its job.

use std::collections::BTreeMap;

use async_trait::async_trait;
use ucp_model::operation::group::Task;
use ucp_model::operation::{Header, Kind, Options, ReferenceChange, WhenShared};
use ucp_model::{
    Baseline, CorrelationId, GroupId, Identifier, InstanceId, Lineage, NewLeftover, Operation,
    OperationId, PlanUse, Reference, ReferenceId, Scope, Target, Timestamp, TypeName,
    UnknownCreate,
};

use crate::{Error, Lease, LeaseTerm, NewLook, RecordedTarget, Sealed};

/// An operation to accept.
#[derive(Clone, Debug, PartialEq)]
pub struct NewOperation {
    /// A new id.
    pub id: OperationId,
    /// The parent operation, if any.
    pub parent: Option<OperationId>,
    /// Correlates it with the caller's deployment.
    pub correlation_id: CorrelationId,
    /// Who requested it.
    pub caller: String,
    /// Whether they may not approve plans of its group. Then it gives up to others what a group with a policy protects only under a
    /// plan that was approved, or is refused with [`Error::PolicyLowered`](crate::Error::PolicyLowered).
    pub keeps_plan_policy: bool,
    /// When it is accepted.
    pub accepted_at: Timestamp,
    /// Its work.
    pub work: NewWork,
}

/// The work of an operation to accept.
#[derive(Clone, Debug, PartialEq)]
pub enum NewWork {
    /// Change one resource.
    Resource(Box<NewResourceWork>),
    /// Change many resources of a group.
    Group {
        /// The group.
        group: GroupId,
        /// The goal of the operation.
        task: Task,
        /// The declarations of a set, sealed.
        declared: Option<Sealed>,
        /// [`GroupWork::heirs`](ucp_model::operation::GroupWork::heirs).
        heirs: BTreeMap<String, ReferenceId>,
    },
}

/// A change of one resource, to accept. The accepting transaction settles the target: the identifier in the reference
/// takes precedence over `identifier`.
#[derive(Clone, Debug, PartialEq)]
pub struct NewResourceWork {
    /// The goal of the operation.
    pub kind: Kind,
    /// The scope of the resource.
    pub scope: Scope,
    /// The type of the resource.
    pub type_name: TypeName,
    /// The reference it works on, if any.
    pub reference: Option<ReferenceId>,
    /// The identifier, if the request determines it.
    pub identifier: Option<Identifier>,
    /// The caller's spelling of `identifier`, if a look has shown that AWS spells it otherwise.
    pub spelled: Option<Identifier>,
    /// When the reference was made that must still own its resource, if only what is owned is deleted.
    pub owned_since: Option<Timestamp>,
    /// Whether a reference stands for the resource `identifier`, or may come to.
    pub is_referenced: bool,
    /// How many other references to the resource the declaration of a put was compared with. One that makes a reference and finds
    /// more is refused with [`Error::PreconditionFailed`](crate::Error::PreconditionFailed).
    pub compared_with: usize,
    /// What becomes of a delete if other references stand for the resource.
    pub when_shared: WhenShared,
    /// The reference that comes to own the resource if it is given up to others: it has been put, and the caller may change it.
    pub heir: Option<ReferenceId>,
    /// Whether a delete only forgets what the reference does not own.
    pub forgets_unowned: bool,
    /// Whether a delete only forgets, whoever owns the resource.
    pub forgets: bool,
    /// The service instance whose order this is a part of. Of references
    /// that no order of the instance has made it only forgets those that own nothing.
    pub of_instance: Option<InstanceId>,
    /// Whether a put declares a name of its own.
    pub has_name: bool,
    /// The reference whose mark the resource must bear to be deleted, if only the mark proves whose it is. If that is
    /// [`NewResourceWork::reference`], it must bear the mark only if the reference has seen it there.
    pub marked_for: Option<ReferenceId>,
    /// Whether a delete only sees whether the resource is gone.
    pub looks_only: bool,
    /// The lineage of [`NewResourceWork::marked_for`], if the operation works on no reference and that is known.
    pub lineage: Option<Lineage>,
    /// What is known of the create whose outcome the operation resolves.
    /// [`retry_leftover`](crate::Leftovers::retry_leftover) takes it from the register.
    pub resolves: Option<UnknownCreate>,
    /// The options of the request.
    pub options: Options,
    /// How many bytes of the declaration are values that it refers to, as a member of a set.
    pub referred_bytes: usize,
    /// The plan that it carries out, if any.
    pub plan: Option<PlanUse>,
    /// The declared properties, sealed.
    pub desired: Option<Sealed>,
    /// The look at the resource with which the request decided, if any.
    pub look: Option<NewLook>,
    /// Tags that the reference gets besides those that it has.
    pub reference_tags: BTreeMap<String, String>,
    /// The schema the declaration was validated with.
    pub schema_fingerprint: String,
}

impl NewResourceWork {
    /// Returns the work on a resource of a type that has no reference and no identifier yet.
    pub fn new(kind: Kind, scope: Scope, type_name: TypeName) -> Self {
        Self {
            kind,
            scope,
            type_name,
            reference: None,
            identifier: None,
            spelled: None,
            owned_since: None,
            is_referenced: false,
            compared_with: 0,
            when_shared: WhenShared::default(),
            heir: None,
            forgets_unowned: false,
            forgets: false,
            of_instance: None,
            has_name: false,
            marked_for: None,
            looks_only: false,
            lineage: None,
            resolves: None,
            options: Options::default(),
            referred_bytes: 0,
            plan: None,
            desired: None,
            look: None,
            reference_tags: BTreeMap::new(),
            schema_fingerprint: String::new(),
        }
    }
}

impl NewOperation {
    /// Sets who comes to own what an operation on a group gives up to others, by the keys of the references that do.
    pub fn set_heirs(&mut self, given: BTreeMap<String, Reference>) {
        let given: BTreeMap<String, ReferenceId> = given
            .into_iter()
            .map(|(own, heir)| (own, heir.id))
            .collect();
        match &mut self.work {
            NewWork::Group { heirs, .. } => *heirs = given,
            NewWork::Resource(work) => {
                let own = work.reference.as_ref().map(ReferenceId::key);
                work.heir = own.and_then(|own| given.get(&own).cloned());
            }
        }
    }

    /// Sets with how many other references to the resource a put was compared.
    pub fn set_compared_with(&mut self, count: usize) {
        if let NewWork::Resource(work) = &mut self.work {
            work.compared_with = count;
        }
    }

    /// Returns whether it gives up to others what its group may protect, and the caller may not approve plans of that.
    pub fn lowers_protection(&self) -> bool {
        let gives_up_shared = match &self.work {
            NewWork::Resource(work) => {
                work.options.gives_up_shared() || work.when_shared == WhenShared::Forget
            }
            NewWork::Group {
                task: Task::Apply(application),
                ..
            } => application.gives_up_shared(),
            NewWork::Group { .. } => false,
        };
        self.keeps_plan_policy && gives_up_shared
    }

    /// Returns the header to record. The operation is due at once.
    pub fn header(&self) -> Header {
        Header {
            id: self.id,
            parent: self.parent,
            correlation_id: self.correlation_id.clone(),
            caller: self.caller.clone(),
            accepted_at: self.accepted_at,
            due_at: self.accepted_at,
            waits_for: None,
            cancel_requested_at: None,
            ended_at: None,
        }
    }
}

/// An accepted operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Accepted {
    /// The operation as recorded.
    pub operation: Operation,
    /// The reference it works on, as recorded.
    pub reference: Option<Reference>,
    /// Whether the look was recorded too: its basis still held.
    pub keeps_look: bool,
}

/// The end of an operation.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishOperation {
    /// The operation, in a terminal state.
    pub operation: Operation,
    /// How its reference changes, if it works on a resource.
    pub reference: Option<ReferenceChange>,
    /// What the next put is compared with, for [`ReferenceChange::Applied`], for [`ReferenceChange::Kept`] if the operation has
    /// created the resource, and for [`ReferenceChange::Unknown`] once it is found out that it has.
    pub baseline: Option<Baseline>,
    /// What it leaves in AWS, to enter in the register unless a reference stands for it.
    pub leftover: Option<NewLeftover>,
}

/// A page of the operations of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationPage {
    /// Only operations with this status; all if `None`.
    pub status: Option<Status>,
    /// The last operation of the previous page; `None` on the first page.
    pub after: Option<(Timestamp, OperationId)>,
    /// The maximum number of operations.
    pub limit: usize,
}

impl OperationPage {
    /// Returns whether the operation matches the filter and comes after the previous page. Ignores `limit`.
    pub fn holds(&self, operation: &Operation) -> bool {
        self.status
            .is_none_or(|status| status.as_str() == operation.status())
            && self.after.is_none_or(|after| place(operation) < after)
    }
}

/// Returns the position of an operation in a list: when it was accepted, and its id.
pub fn place(operation: &Operation) -> (Timestamp, OperationId) {
    (operation.header.accepted_at, operation.header.id)
}

/// The status of an operation in ARM's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// No call has been made to AWS yet.
    Accepted,
    /// A create, or an import into a group, is under way.
    Provisioning,
    /// An update, or an apply to a group, is under way.
    Updating,
    /// A delete is under way.
    Deleting,
    /// It succeeded.
    Succeeded,
    /// It failed.
    Failed,
    /// It was cancelled.
    Canceled,
}

impl Status {
    /// All statuses.
    pub const ALL: [Self; 7] = [
        Self::Accepted,
        Self::Provisioning,
        Self::Updating,
        Self::Deleting,
        Self::Succeeded,
        Self::Failed,
        Self::Canceled,
    ];

    /// Returns ARM's name of the status.
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

/// The live operations to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveOperations<'a> {
    /// Every one.
    All,
    /// Those in the group.
    InGroup(&'a GroupId),
    /// Those that the caller has requested, without their children.
    RequestedBy(&'a str),
}

/// Storage of operations: accept, step, finish, cancel and list them.
#[async_trait]
pub trait Operations: Send + Sync {
    /// Records the operation, due at once, or refuses it. If it has a reference, its alias is claimed in the same
    /// transaction.
    ///
    /// The first error that applies is returned:
    ///
    /// - [`Error::NoSuchGroup`] if its group, or that of its reference, does not exist. The group cannot be removed
    ///   while this runs.
    /// - [`Error::GroupDeleting`] if the group is being deleted.
    /// - [`Error::Busy`] for an apply to a group that a deployment holds, or to which another one is live. An apply that
    ///   carries out an [order](ucp_model::Order) and other applies are in nobody's way: each resource has a lock of its own.
    /// - [`Error::OutcomeUnknown`] for a put under an alias in state `Unknown`, unless it abandons what may be there.
    /// - [`Error::Busy`] if the alias has a live operation.
    /// - [`Error::AlreadyReferenced`] for an import under an alias that has a reference, unless its state is `Unknown`, and
    ///   for a resolve of a reference in any other state.
    /// - [`Error::ReferencedElsewhere`] if the reference is in another account or region.
    /// - [`Error::NoSuchReference`] for a delete or a resolve under an alias that has no reference.
    /// - [`Error::NotOwned`] if the reference must own its resource, and does not, or was made at another time.
    /// - [`Error::TooManyTags`] if the reference would get more than [`MAX_TAGS`](ucp_model::MAX_TAGS) tags.
    /// - [`Error::Busy`] if the AWS resource that the operation would work on has a live operation.
    /// - [`Error::OwnedElsewhere`] if the options take ownership of a resource that another reference owns.
    ///
    /// - [`Error::NoSuchPlan`] and [`Error::PlanRefused`] if it is to carry out a plan that does not exist or must not be
    ///   used, as [`KeptPlan::judge_use`](ucp_model::KeptPlan::judge_use) says.
    /// - [`Error::PlanRequired`] and [`Error::ApprovalRequired`] for a put, a delete or an apply that the policy of the group
    ///   does not take.
    /// - [`Error::PolicyElsewhere`] for a put or a delete that the policy of another group does not take: one with a
    ///   reference to the AWS resource. This is so for children too.
    /// - [`Error::PreconditionFailed`] for a put that makes a reference to what more references stand for than
    ///   [its declaration was compared with](NewResourceWork::compared_with).
    /// - [`Error::Shared`] for a delete that is to be refused if other references stand for the AWS resource.
    ///
    /// The deletion of a group is accepted by [`delete_resource_group`](crate::Groups::delete_resource_group) instead,
    /// which closes the group.
    ///
    /// Otherwise a put or import under a new alias inserts a reference without an identifier, in state `Provisioning`,
    /// not owned. A put or delete under an existing alias works on the identifier in the reference (`was_referenced`)
    /// and sets the state of the reference to `Provisioning` or `Deleting`. During a resolve it stays `Unknown`.
    ///
    /// The plan that it carries out is used from then on. What was declared for it is erased, unless other members may
    /// still be put.
    ///
    /// The look is recorded only if its basis still holds ([`Basis::holds`](crate::Basis::holds)). Otherwise the
    /// operation is accepted without it.
    async fn accept_operation(&self, new: NewOperation) -> Result<Accepted, Error>;

    /// Accepts a child of the live operation that `lease` is on, as [`accept_operation`](Self::accept_operation) does,
    /// or returns [`Error::LeaseLost`]. `new.parent` names that operation. A child is accepted even while the group is
    /// being deleted. If the parent is to be cancelled, so is the child from the beginning.
    async fn accept_child(&self, lease: &Lease, new: NewOperation) -> Result<Accepted, Error>;

    /// Returns the operation, if it was accepted and has not been removed yet.
    async fn get_operation(&self, id: OperationId) -> Result<Option<Operation>, Error>;

    /// Returns those of the operations that were accepted and have not been removed yet, in no particular order. One
    /// statement, so `ids` should not be longer than a page. An operation that this version cannot read is left out.
    async fn get_operations(&self, ids: &[OperationId]) -> Result<Vec<Operation>, Error>;

    /// Returns a page of the operations on a group and on its references: latest first, then by descending id.
    /// [`Error::NoSuchGroup`] if there is no such group. An operation that this version cannot read is left out.
    async fn list_operations(
        &self,
        group: &GroupId,
        page: OperationPage,
    ) -> Result<Vec<Operation>, Error>;

    /// Returns the children of `parent`, in the order in which they were accepted, then by id.
    async fn list_children(&self, parent: OperationId) -> Result<Vec<Operation>, Error>;

    /// Returns what is recorded of an AWS resource, read at one moment.
    async fn recorded_target(&self, target: &Target<'_>) -> Result<RecordedTarget, Error>;

    /// Returns whether an operation that ended `Succeeded` after `since` created the AWS resource, in any plane.
    async fn was_created(&self, target: &Target<'_>, since: Timestamp) -> Result<bool, Error>;

    /// Writes a step that does not end the operation and renews the lease from `now`, or returns [`Error::LeaseLost`].
    /// `document`, if given, replaces the recorded bytes. The look is erased.
    ///
    /// `operation` is the claimed operation in its new state. Engines assume, without a check, that the fields it was
    /// accepted with are unchanged.
    ///
    /// In the same transaction the reference of an operation on a resource takes the identifier that the alias now
    /// stands for ([`referenced`](ucp_model::operation::ResourceWork::referenced)), which may be `None`; if it changes,
    /// or the resource is created again, the baseline is dropped, and if it changes the observed properties too. While an
    /// update is recorded, the baseline notes what it sends and no read returns
    /// ([`unconfirmed`](ucp_model::Baseline::unconfirmed)). After a replacement has deleted the old resource
    /// ([`rules::replaced`](crate::rules::replaced)), every reference to the old resource is removed, unless a live
    /// operation holds it. Ownership is settled when the operation ends, since a create may still turn out to have been
    /// refused; but if another reference owns the resource, this one gives up ownership at once. If another live
    /// operation works on the resource ([`held`](ucp_model::operation::ResourceWork::held)), the step is still written,
    /// but the operation no longer keeps others off the resource.
    ///
    /// AWS may tell after the acceptance which resource it is: a look shows that it spells the identifier otherwise, or it
    /// refuses a create and names what stands in the way
    /// ([`rules::unchecked_target`](crate::rules::unchecked_target)). Then the step is checked as
    /// [`accept_operation`](Self::accept_operation) checks a target: [`Error::Busy`] if the AWS resource has another live
    /// operation, [`Error::OwnedElsewhere`] if the operation needs to own a resource that another reference owns, and
    /// [`Error::PolicyElsewhere`] and [`Error::Shared`] if the step records the first call. Nothing is written then.
    ///
    /// If a cancel has been requested that `operation` does not know of, the operation is due no later than that
    /// request: its worker has not seen it. An operation on a group is due no later than `now` if more of its children have
    /// ended than its worker has seen ([`ended_children`](ucp_model::operation::GroupWork::ended_children)).
    async fn commit_step(
        &self,
        lease: &Lease,
        operation: &Operation,
        document: Option<Sealed>,
        now: Timestamp,
        term: LeaseTerm,
    ) -> Result<Lease, Error>;

    /// Ends the operation, or returns [`Error::LeaseLost`]. In one transaction it gets its terminal state, its
    /// documents are erased, its reference is written or removed, an event is appended, and the lease is dropped. The
    /// operation is the claimed one, as in [`Operations::commit_step`], now terminal and with `ended_at` set.
    ///
    /// - [`ReferenceChange::Applied`]: the reference takes the identifier, the live properties (`operation.result`, if
    ///   any) and the baseline; its state becomes `Succeeded`. It becomes owned if `owned` says so and otherwise keeps
    ///   its ownership, but is not owned if another reference owns the resource.
    /// - [`ReferenceChange::Kept`]: as `Applied`, but the baseline stays if there is no new one and the operation is no resolve, and
    ///   the state becomes `Failed` or `Canceled`, like that of the operation.
    /// - [`ReferenceChange::Untouched`]: as `Kept`, but the state is again what it was before the operation.
    /// - [`ReferenceChange::Unknown`]: the reference takes the identifier, which may be `None`, is not owned, and its state
    ///   becomes `Unknown`. It gets the baseline, [undecided](ucp_model::Baseline::is_undecided), which stays until a put claims
    ///   the alias or the state is another one. Its entry in the register of leftovers leaves when an import, a delete or a resolve under the
    ///   alias succeeds, or the reference is forgotten. A resolve that does not succeed is a try of the entry.
    /// - [`ReferenceChange::Made`]: the end of a resolve. As `Kept` and owned, and the undecided baseline is decided.
    /// - [`ReferenceChange::Removed`]: the reference of the operation is removed. If a delete ends `Succeeded`, every
    ///   reference to the AWS resource is removed with it, unless a live operation holds it.
    ///
    /// What it leaves is entered in the register of the reference's group, or without a reference in that of the account
    /// and region, unless a reference stands for the AWS resource. If the register has an entry for it, that one gets the
    /// new reason, reference, operation and failure, and is tried anew; it keeps its name and the time of its entry.
    ///
    /// When the deletion of a group succeeds, every reference of the group is forgotten, with an event each, and the
    /// group is removed with its leftovers and its service instances; [`Error::Busy`] if one of them has a live operation. If the deletion does not succeed, the group
    /// is usable again.
    ///
    /// What came of it is written to the plan that it carries out.
    ///
    /// The end of an apply with an [order](ucp_model::Order) is the end of the change of its service instance, or of its
    /// binding, unless a newer change has replaced that: nothing is written to either then. If it succeeded, its outputs, an
    /// object with what each binding hands out ([`Access`](ucp_model::Access)) by the binding's id, are laid over what the
    /// bindings have; those of an instance as a whole only over those of bindings that have stood. The bindings of an instance
    /// whose delete succeeded are deleted too. Any such change increases the revision of the instance. The operation keeps no
    /// outputs of an order.
    ///
    /// A success under another spelling of the identifier is refused as in [`Operations::commit_step`].
    ///
    /// The parent of the operation, if any, becomes due at `ended_at`, unless it is due earlier.
    async fn finish_operation(&self, lease: &Lease, finish: FinishOperation) -> Result<(), Error>;

    /// Records a cancel request for a live operation and its live children and makes them due at once. Their workers
    /// see it at the next step. Returns the operation after that, which may have ended; `None` if there is no such
    /// operation.
    async fn request_cancel(
        &self,
        id: OperationId,
        now: Timestamp,
    ) -> Result<Option<Operation>, Error>;

    /// Counts live operations, up to `limit`.
    async fn count_live_operations(
        &self,
        those: LiveOperations<'_>,
        limit: usize,
    ) -> Result<usize, Error>;

    /// Removes up to `limit` operations that ended before `before`, oldest end first, and returns how many were
    /// removed. A child stays as long as its parent is live.
    async fn remove_ended_operations(&self, before: Timestamp, limit: usize) -> Result<u64, Error>;
}
