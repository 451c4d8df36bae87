//! References: which AWS resource each alias stands for.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use ucp_model::{
    CorrelationId, GroupId, Identifier, Outline, Reference, ReferenceId, Scope, Timestamp, TypeName,
};

use crate::{Adoption, Basis, Error, Event, KeyRange, RecordedAlias};

/// Returns the keys of a list of references.
pub fn reference_keys(
    group: &GroupId,
    type_name: Option<&TypeName>,
    after: Option<&ReferenceId>,
) -> KeyRange {
    let parent = match type_name {
        Some(type_name) => ReferenceId::keys_of_type(group, type_name),
        None => format!("{}/providers", group.key()),
    };
    KeyRange::below(&parent, after.map(ReferenceId::key))
}

/// How much of a list is read at once, whichever ends first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// So many items.
    pub items: usize,
    /// So many bytes of what is sealed in them, as it is stored. The last item may have more, and the first is always read.
    pub bytes: usize,
}

impl Limit {
    /// So many items, of whatever size.
    pub fn items(items: usize) -> Self {
        Self {
            items,
            bytes: usize::MAX,
        }
    }
}

/// The beginning of the rest of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Page<T> {
    /// The items.
    pub items: Vec<T>,
    /// Whether the limit has ended it. Then there may be more.
    pub is_limited: bool,
}

/// The result of forgetting a reference.
#[derive(Clone, Debug, PartialEq)]
pub enum Forgotten {
    /// The reference was removed. The AWS resource was left alone.
    Forgotten,
    /// The reference owns its resource and was kept: the resource must be deleted first.
    Owned(Box<Reference>),
}

/// A change of a reference. `None` of what it changes keeps the current value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReferenceUpdate {
    /// Whether it owns its resource.
    pub owned: Option<bool>,
    /// Its tags; they replace all previous ones.
    pub tags: Option<BTreeMap<String, String>>,
    /// The account and region where its resource must be. `None` for any.
    pub place: Option<Scope>,
}

/// A reference to give up.
#[derive(Clone, Debug, PartialEq)]
pub struct Release {
    /// It, as it was read.
    pub reference: Reference,
    /// Whether the group keeps a plan policy that it has: the caller may not approve any, and a release lowers what the policy
    /// protects.
    pub keeps_plan_policy: bool,
    /// The reference that comes to own the resource, as it was read. It stands for the resource too.
    pub heir: Option<Reference>,
    /// Who has asked for it.
    pub caller: String,
    /// Correlates it with the caller's deployment.
    pub correlation_id: CorrelationId,
    /// When.
    pub at: Timestamp,
}

/// Storage of references and of their history.
#[async_trait]
pub trait References: Send + Sync {
    /// Returns the reference, if the alias has one. It has one while the resource is being created, too.
    async fn get_reference(&self, id: &ReferenceId) -> Result<Option<Reference>, Error>;

    /// Returns what is recorded of an alias, read at one moment. [`Error::NoSuchGroup`] if its group does not exist.
    async fn recorded_alias(&self, id: &ReferenceId) -> Result<RecordedAlias, Error>;

    /// Returns references of a group up to a limit, in the order of their keys, or only those of `type_name`, if given.
    /// They start after the key of `after`, which need not exist any more. [`Error::NoSuchGroup`] if there is no such
    /// group.
    async fn list_references(
        &self,
        group: &GroupId,
        type_name: Option<&TypeName>,
        after: Option<&ReferenceId>,
        limit: Limit,
    ) -> Result<Page<Reference>, Error>;

    /// Returns the outlines of all references of a group, in the order of their keys. [`Error::NoSuchGroup`] if there is no such
    /// group.
    async fn list_outlines(&self, group: &GroupId) -> Result<Vec<Outline>, Error>;

    /// Returns those of the resources of a type that are accounted for: a reference of any group stands for them, or the
    /// register of leftovers has them. `identifiers` are as AWS spells them.
    async fn accounted_for(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        identifiers: &[Identifier],
    ) -> Result<BTreeSet<Identifier>, Error>;

    /// Changes the ownership or the tags of a reference and appends an event.
    ///
    /// The first error that applies is returned: [`Error::NoSuchReference`]; [`Error::GroupDeleting`]; [`Error::Busy`]
    /// if the alias has a live operation; [`Error::ReferencedElsewhere`] if its resource is at another place than that of
    /// the update; [`Error::Busy`] if the resource has a live operation; [`Error::OwnedElsewhere`] if the update takes
    /// ownership of a resource that another reference owns.
    async fn update_reference(
        &self,
        id: &ReferenceId,
        update: ReferenceUpdate,
        caller: &str,
        correlation_id: &CorrelationId,
        now: Timestamp,
    ) -> Result<Reference, Error>;

    /// Writes what a put that changed nothing has learned: the baseline, the observed properties and when they were
    /// observed, the provisioning state and `updated_at`. Everything else stays. No event is appended.
    ///
    /// Returns false, and writes nothing, unless all of these hold:
    ///
    /// - The recorded reference has the revision before `reference.revision`, was created at the same time and has the
    ///   same lineage and identifier. Otherwise it has changed since it was read, or it is gone, or another one has been
    ///   made or moved there. The caller has found the alias idle: since each operation on it increases the revision,
    ///   none is live now.
    /// - No live operation works on the resource, and none has ended on it since it was read for `basis`. An operation
    ///   under another name leaves the reference alone, but a look that was made meanwhile may have seen what it rolls
    ///   back.
    ///
    /// An operation that is accepted at the same time comes after this, as does the deletion of the group until it
    /// reaches the reference.
    async fn remember(&self, reference: &Reference, basis: &Basis) -> Result<bool, Error>;

    /// Writes a reference that comes to stand for an AWS resource, or to own it, without an operation, and appends the
    /// event.
    ///
    /// The first result that applies is returned:
    ///
    /// - [`Error::NoSuchGroup`] if its group does not exist.
    /// - [`Error::GroupDeleting`] if the group is being deleted.
    /// - [`Error::Busy`] if the alias has a live operation.
    /// - `false` if the reference is not the one of the basis.
    /// - [`Error::Busy`] if the resource has a live operation.
    /// - `false` if the reference is new and another one has its lineage.
    /// - `false` if the resource is not as in the basis: another operation on it has ended, or it has got its first
    ///   reference or lost its last.
    /// - [`Error::OwnedElsewhere`] if `reference` owns the resource and another reference does too.
    /// - `true`: the reference and the event are written.
    async fn adopt(&self, adoption: Adoption) -> Result<bool, Error>;

    /// Removes a reference that does not own its resource and appends an event.
    /// [`Error::NoSuchReference`] if there is none, [`Error::GroupDeleting`] if its group is being deleted,
    /// [`Error::Busy`] if an operation is under way, [`Error::PolicyLowered`] if `keeps_plan_policy` and the group has a
    /// plan policy, which protects what its references stand for.
    async fn forget_reference(
        &self,
        id: &ReferenceId,
        keeps_plan_policy: bool,
        caller: &str,
        correlation_id: &CorrelationId,
        now: Timestamp,
    ) -> Result<Forgotten, Error>;

    /// Removes a reference, appends an event, and leaves its AWS resource alone, also one that it owns. The heir, if there is one,
    /// comes to own that. The errors are those of [`forget_reference`](References::forget_reference);
    /// [`Error::PreconditionFailed`] if the reference or the heir is not as it was read, or the heir does not stand for the resource or
    /// its group is being deleted.
    async fn release_reference(&self, release: Release) -> Result<(), Error>;

    /// Returns up to `limit` references that stand for any of these AWS resources, in the order of their keys. The resources are
    /// given by their keys, as [`Target::key`](ucp_model::Target::key) returns them.
    async fn references_to(
        &self,
        targets: &[String],
        limit: usize,
    ) -> Result<Vec<Reference>, Error>;

    /// Counts the references of a group, up to `limit`. A group that does not exist has none.
    async fn count_references(&self, group: &GroupId, limit: usize) -> Result<usize, Error>;

    /// Returns the events of a reference, oldest first.
    async fn list_events(&self, reference: &ReferenceId) -> Result<Vec<Event>, Error>;

    /// Removes events from before `before`, of the `limit` that were written first, and returns how many were removed.
    async fn remove_events(&self, before: Timestamp, limit: usize) -> Result<u64, Error>;
}
