//! Resource groups: the scopes in which aliases are unique per type.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use ucp_model::{
    GroupId, NewResourceGroup, Operation, PlanPolicy, PlaneId, PlaneKind, ResourceGroup, Scope,
    Target, Timestamp, TypeName,
};

use crate::{Error, KeyRange, NewOperation, Precondition, Written};

/// The result of deleting a group.
#[derive(Clone, Debug, PartialEq)]
pub enum GroupDeletion {
    /// The group does not exist.
    Absent,
    /// The group had no references and nothing of ours was left over, so it was removed.
    Removed,
    /// The operation that deletes the group was recorded.
    Accepted(Box<Operation>),
    /// This operation is already deleting the group.
    Running(Box<Operation>),
    /// It owns resources at these places, and not all of them are among those that may be deleted. There may be others, if
    /// these are more than [`places_to_judge`](crate::rules::places_to_judge) says. Nothing was changed.
    Owns(BTreeSet<OwnedPlace>),
}

/// How many other references are noted of a resource: with the refused deletion of a group, and with a put that may replace it.
pub const SHARED_MAX: usize = 100;

/// Where resources are that a group owns, and of which type.
pub type OwnedPlace = (Scope, TypeName);

/// Returns the keys of a list of groups.
pub fn group_keys(plane: &str, after: Option<&GroupId>) -> KeyRange {
    let plane = PlaneId {
        kind: PlaneKind::Radius,
        name: plane.to_owned(),
    };
    let parent = format!("{}/resourcegroups", plane.key());
    KeyRange::below(&parent, after.map(GroupId::key))
}

/// A change of a resource group, as a JSON Merge Patch (RFC 7396) describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupUpdate {
    /// The change of its tags.
    pub tags: TagsUpdate,
    /// The change of the default tags of its resources.
    pub default_tags: TagsUpdate,
    /// Which changes it takes from now on; `None` keeps that.
    pub plan_policy: Option<PlanPolicy>,
    /// Whether who has asked for a plan may approve it; `None` to leave it as it is.
    pub self_approval: Option<bool>,
}

/// A change of tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TagsUpdate {
    /// Set or, where the value is `None`, remove these; keep all others.
    Merge(BTreeMap<String, Option<String>>),
    /// Remove all.
    Clear,
}

impl Default for TagsUpdate {
    fn default() -> Self {
        Self::Merge(BTreeMap::new())
    }
}

impl TagsUpdate {
    /// Returns the tags after the change.
    pub(crate) fn applied_to(self, mut tags: BTreeMap<String, String>) -> BTreeMap<String, String> {
        match self {
            Self::Merge(changes) => {
                for (key, value) in changes {
                    match value {
                        Some(value) => tags.insert(key, value),
                        None => tags.remove(&key),
                    };
                }
                tags
            }
            Self::Clear => BTreeMap::new(),
        }
    }
}

/// Storage of resource groups.
#[async_trait]
pub trait Groups: Send + Sync {
    /// Creates the group, or replaces all but its id. [`Error::PreconditionFailed`] if `precondition` does not hold,
    /// [`Error::GroupDeleting`] while the group is being deleted.
    async fn put_resource_group(
        &self,
        group: NewResourceGroup,
        precondition: &Precondition,
        now: Timestamp,
    ) -> Result<Written<ResourceGroup>, Error>;

    /// Changes the group. [`Error::NoSuchGroup`] if there is none, [`Error::PreconditionFailed`] if `precondition` does
    /// not hold, [`Error::GroupDeleting`] while the group is being deleted, [`Error::TooManyTags`] if it adds more than a
    /// group may have.
    async fn update_resource_group(
        &self,
        id: &GroupId,
        update: GroupUpdate,
        precondition: &Precondition,
        now: Timestamp,
    ) -> Result<Written<ResourceGroup>, Error>;

    /// Returns the group, or [`Error::NoSuchGroup`].
    async fn get_resource_group(&self, id: &GroupId) -> Result<ResourceGroup, Error>;

    /// Returns up to `limit` groups of a radius plane in the order of their keys, starting after the key of `after`,
    /// which need not exist any more.
    async fn list_resource_groups(
        &self,
        plane: &str,
        after: Option<&GroupId>,
        limit: usize,
    ) -> Result<Vec<ResourceGroup>, Error>;

    /// Counts the groups of a plane, up to `limit`.
    async fn count_resource_groups(&self, plane: &str, limit: usize) -> Result<usize, Error>;

    /// Returns the strictest policy of the groups besides `own` that have a reference to an AWS resource. It may be another
    /// one by the time of a change, with which it is judged.
    async fn policy_elsewhere(
        &self,
        target: &Target<'_>,
        own: Option<&GroupId>,
    ) -> Result<PlanPolicy, Error>;

    /// Deletes the group, or records the operation that does. What it owns must be at the places `deletable`; `None` for
    /// any.
    ///
    /// The first result that applies is returned:
    ///
    /// - [`GroupDeletion::Absent`] if there is no such group.
    /// - [`Error::PreconditionFailed`] if `precondition` does not hold.
    /// - [`GroupDeletion::Running`] if it is already being deleted.
    /// - [`Error::Busy`] if an operation on one of its references, or an import into it, is live.
    /// - [`GroupDeletion::Owns`] if it owns a resource at another place than those that are `deletable`.
    /// - [`Error::Shared`] if references of other groups stand for what it owns: up to [`SHARED_MAX`] of them.
    /// - [`GroupDeletion::Removed`] if it has no references and no leftovers that are [ours](ucp_model::LeftoverReason::is_ours): it
    ///   is removed, with its other leftovers and its service instances.
    /// - [`GroupDeletion::Accepted`]: the operation is recorded and due at once. Its total is the number of owned
    ///   references. From now on only its children may change the group or its references.
    async fn delete_resource_group(
        &self,
        deletion: NewOperation,
        precondition: &Precondition,
        deletable: Option<&BTreeSet<OwnedPlace>>,
    ) -> Result<GroupDeletion, Error>;
}
