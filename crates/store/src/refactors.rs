//! Refactors: what was found, and what has come of it.

use std::collections::BTreeSet;

use async_trait::async_trait;
use ucp_model::{CorrelationId, GroupId, Refactor, RefactorEvent, RefactorId, Timestamp};

use crate::{Error, Lease, NewOperation};

/// How many refactors the history of groups has at most, where it is compared.
pub const REFACTORS_MAX: usize = 10_000;

/// The events that a refactor has brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Brought {
    /// The keys of all groups that it names.
    pub groups: BTreeSet<String>,
    /// The events, in their order.
    pub events: Vec<RefactorEvent>,
}

/// A refactor to apply.
#[derive(Clone, Debug, PartialEq)]
pub struct ApplyRefactor {
    /// Its record, as it is to be from [`changed_at`](Refactor::changed_at) on. Each move has the ETag of the reference that
    /// it was planned with. `groups.remove` are the groups that are removed if it empties them.
    pub record: Refactor,
    /// Whether the record is there already, as a plan.
    pub is_planned: bool,
    /// No reference must move into a group that takes more changes without a plan than its own, and no group with a policy is
    /// removed: the caller may not approve any.
    pub keeps_plan_policy: bool,
    /// The events of its groups, by their ids, as [`refactor_events`](Refactors::refactor_events) returned them when it was
    /// judged: those of the last [`REFACTORS_MAX`] refactors. `None` if they do not matter.
    pub history: Option<Vec<String>>,
    /// The operation that puts what changes once everything has moved: an apply to a group. It is accepted with the moves. One
    /// with a deployment holds all groups of that until it ends; another one is that of a set, and is accepted as any other is.
    pub deploy: Option<NewOperation>,
    /// The lease on the deployment whose moves are taken back, since a put of it has failed. It keeps nobody off, and what was
    /// written to the references does not matter. One that was deleted meanwhile does not move.
    pub taken_back_by: Option<Lease>,
    /// Who has asked for it.
    pub caller: String,
    /// Correlates it with the caller's deployment.
    pub correlation_id: CorrelationId,
}

/// Storage of the records of refactors.
#[async_trait]
pub trait Refactors: Send + Sync {
    /// Stores the record of a refactor that is planned. Nothing moves. Of those that its maker has planned and nobody has
    /// applied, only the latest `most` stay.
    async fn keep_refactor(&self, refactor: Refactor, most: usize) -> Result<(), Error>;

    /// Moves all references of a refactor at once, so that swaps, cycles and chains of ids move too, and nothing is sent to
    /// AWS. In one transaction its groups are created, each reference gets its new id with an event `move` under both ids, the
    /// groups that it has emptied are removed, and the record is written with status `Applied`, the ids and the new ETags of what
    /// has moved as they are recorded, and the groups that were removed as they were. The refactor that it takes back, if any, is
    /// `Undone` from then on. Returns the record.
    ///
    /// Of the groups in `groups.remove` those are removed that something moves out of, or that the refactor which is taken back
    /// has created. A group stays if anything would be lost with it that its record does not have: if it has a reference, a live
    /// operation, a leftover or a service instance that is not gone, or if a role assignment names it. It stays if it has a plan policy and `keeps_plan_policy`.
    ///
    /// A reference keeps its lineage, its AWS resource, its ownership, its tags, what was declared and what was observed. It gets
    /// the next revision, and an ETag that its new id never had. The record tells what was [written](ucp_model::Reference::written)
    /// of it before: what is taken back may have another ETag, if it was only moved since, and back again.
    ///
    /// If `history` is given, all groups that it names are locked, and its events come after theirs, whatever the clock says.
    ///
    /// What names a reference by its id stays as it is: operations that have ended, events, leftovers and their register, what
    /// plans show. A plan that is open for a reference that has moved is refused, since its id stands for something else.
    ///
    /// The first error that applies is returned, and nothing is written:
    ///
    /// - [`Error::LeaseLost`] if it takes moves back, and another worker may.
    /// - [`Error::NoSuchRefactor`] and [`Error::RefactorStatus`] if the record is to be there and to be `Planned`, or what is
    ///   taken back is not `Applied`.
    /// - [`Error::GroupDeleting`] if one of its groups is being deleted.
    /// - [`Error::PreconditionFailed`] if a group that it creates exists. An undo takes such a group as it is.
    /// - [`Error::PreconditionFailed`] if its groups have had other events than `history` says.
    /// - [`Error::Busy`] if what moves, or what has one of its new ids, has a live operation.
    /// - For each move: [`Error::PreconditionFailed`] if the reference does not exist, has another ETag or was written since, or if the new id has a
    ///   reference that does not move; [`Error::NoSuchGroup`] if its new group does not exist; [`Error::OutcomeUnknown`] if its
    ///   state is `Unknown`, since the register knows it by its id; [`Error::PolicyLowered`] if `keeps_plan_policy` and its new
    ///   group takes more changes.
    /// - [`Error::PreconditionFailed`] if a deployment creates what has a reference, or updates what has none.
    /// - [`Error::NoSuchGroup`], [`Error::PlanRequired`] and [`Error::ApprovalRequired`] if a group of a put does not exist, or
    ///   takes no change that was not planned.
    /// - [`Error::Busy`] if one of the groups has a live operation as a whole, or is held, or the AWS resource of what moves has
    ///   one.
    async fn apply_refactor(&self, new: ApplyRefactor) -> Result<Refactor, Error>;

    /// Returns the record, if there is one and it has not been removed yet.
    async fn get_refactor(&self, id: RefactorId) -> Result<Option<Refactor>, Error>;

    /// Returns up to `limit` records of a plane, or only those that name `group`: latest first, then by descending id. They
    /// start after the one that was created at `after.0` and has the id `after.1`, which need not exist any more.
    async fn list_refactors(
        &self,
        plane: &str,
        group: Option<&GroupId>,
        after: Option<(Timestamp, RefactorId)>,
        limit: usize,
    ) -> Result<Vec<Refactor>, Error>;

    /// Returns the history of groups: the events that refactors have brought which name any of them, in the order in which
    /// they were applied, then by id. What was undone has brought none. It has events of up to `limit` refactors, the last
    /// ones.
    async fn refactor_events(
        &self,
        groups: &[GroupId],
        limit: usize,
    ) -> Result<Vec<Brought>, Error>;

    /// Removes up to `limit` records whose status is from before `before`, earliest first, and returns how many were removed.
    /// Those that [last](Refactor::is_lasting) stay: what was applied and has moved something or brought events.
    async fn remove_refactors(&self, before: Timestamp, limit: usize) -> Result<u64, Error>;
}

/// Returns the place of a record in lists.
pub fn refactor_place(refactor: &Refactor) -> (Timestamp, RefactorId) {
    (refactor.created_at, refactor.id)
}
