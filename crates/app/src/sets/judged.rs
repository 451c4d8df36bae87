//! A set with which nothing is wrong, as far as that can be told without AWS.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use ucp_look::PlanRead;
use ucp_model::operation::OnShared;
use ucp_model::operation::group::MovedFrom;
use ucp_model::{Identifier, Reference, ReferenceId, ResourceGroup, Scope, Timestamp};

use crate::{PutResource, TrackedBy};

/// A set with which nothing is wrong, as far as that can be told without AWS.
pub(crate) struct JudgedSet {
    /// The group as recorded.
    pub(crate) group: ResourceGroup,
    /// The members, each after those that it depends on, deletes last.
    pub(crate) members: Vec<JudgedMember>,
    /// The outputs, linked.
    pub(crate) outputs: Map<String, Value>,
    /// The references of the group, by key. What moves is where it comes to.
    pub(crate) recorded: BTreeMap<String, Reference>,
    /// The resources outside of the set that it refers to.
    pub(crate) reads: Vec<PlanRead>,
    /// Whether it takes so little time that it needs no thread of its own.
    pub(crate) is_quick: bool,
}

/// A member of a [`JudgedSet`].
pub(crate) struct JudgedMember {
    /// Its place, as a JSON Pointer into the body; none if the set does not list it.
    pub(crate) place: String,
    pub(crate) symbolic_name: String,
    pub(crate) reference: ReferenceId,
    pub(crate) scope: Scope,
    pub(crate) goal: JudgedGoal,
    /// The indexes of the members that come first.
    pub(crate) depends_on: Vec<usize>,
    /// What moves to its alias when the set is applied.
    pub(crate) moved_from: Option<MovedFrom>,
    /// Whether its alias has a reference.
    pub(crate) has_reference: bool,
    /// The resource that its reference stands for.
    pub(crate) recorded: Option<Identifier>,
    /// The resource that it declares, if its properties tell that.
    pub(crate) declared: Option<Identifier>,
    /// The name that it declares, or that its resource was declared with, if AWS has it once although it is not the identifier.
    pub(crate) custom_name: Option<CustomName>,
    /// Whether another member declares what it gives up.
    pub(crate) is_declared: bool,
}

/// A name that is not the identifier.
pub(crate) struct CustomName {
    pub(super) name: String,
    /// It, with all else that only a new resource can have otherwise: it may be unique in a network or a cluster only.
    pub(super) fixed: String,
}

impl JudgedMember {
    /// Returns its put, if it has one.
    pub(super) fn put(&self) -> Option<&PutResource> {
        match &self.goal {
            JudgedGoal::Put(put) => Some(put),
            JudgedGoal::Delete(_) | JudgedGoal::DeleteOwned(..) => None,
        }
    }

    /// Returns its put as the resource is found until the set is applied: by the reference that is to move.
    pub(super) fn found(&self, put: PutResource) -> PutResource {
        let moved = self.moved_from.as_ref().map(|from| TrackedBy {
            id: from.reference.to_string(),
            alias: None,
        });
        PutResource {
            tracked_by: moved.or(put.tracked_by),
            ..put
        }
    }

    /// Returns what becomes of its delete if other references stand for the resource.
    pub(crate) fn on_shared(&self) -> OnShared {
        match &self.goal {
            JudgedGoal::Put(_) => OnShared::default(),
            JudgedGoal::Delete(on_shared) | JudgedGoal::DeleteOwned(_, on_shared) => *on_shared,
        }
    }

    /// Returns whether a reference stands for the resource `name` once its put has succeeded, or else nothing is known of it: it is no
    /// other one's.
    pub(super) fn can_stand_for(&self, name: &Identifier) -> bool {
        self.recorded
            .as_ref()
            .is_none_or(|recorded| recorded == name)
    }

    /// Returns the key of a resource that it is about. AWS may show one under several types.
    pub(super) fn key_of(&self, name: &Identifier) -> String {
        let place = self.scope.place_of_name(&self.reference.type_name);
        format!("{place}/{name}")
    }

    /// Returns where an error about it is: its place, or its reference if the set does not list it.
    pub(crate) fn target(&self) -> String {
        match self.place.is_empty() {
            true => self.reference.to_string(),
            false => self.place.clone(),
        }
    }
}

/// What is to become of a [`JudgedMember`].
pub(crate) enum JudgedGoal {
    /// This put. Its properties are linked.
    Put(Box<PutResource>),
    /// Delete it.
    Delete(OnShared),
    /// The same. The set does not list it.
    DeleteOwned(Timestamp, OnShared),
}
