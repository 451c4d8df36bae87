//! A resource that a change concerns.

use ucp_model::operation::OnShared;
use ucp_model::operation::group::MovedFrom;
use ucp_model::{Identifier, ReferenceId, Scope, Timestamp};

use crate::{PutResource, TrackedBy};

/// One of the resources that a change concerns, with which nothing is wrong, as far as that can be told without AWS. Whoever changes
/// a group has some: a set, the deployment of a refactor, an order.
pub(crate) struct ChangeMember {
    /// Its place, as a JSON Pointer into the body; none if that does not list it.
    pub(crate) place: String,
    pub(crate) symbolic_name: String,
    pub(crate) reference: ReferenceId,
    pub(crate) scope: Scope,
    pub(crate) goal: ChangeGoal,
    /// The indexes of the members that come first.
    pub(crate) depends_on: Vec<usize>,
    /// What moves to its alias when the change is accepted.
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
    pub(crate) name: String,
    /// It, with all else that only a new resource can have otherwise: it may be unique in a network or a cluster only.
    pub(crate) fixed: String,
}

impl ChangeMember {
    /// Returns one that depends on no other one, and of which nothing more is known.
    pub(crate) fn new(reference: ReferenceId, scope: Scope, goal: ChangeGoal) -> Self {
        Self {
            place: String::new(),
            symbolic_name: reference.alias.clone(),
            reference,
            scope,
            goal,
            depends_on: Vec::new(),
            moved_from: None,
            has_reference: false,
            recorded: None,
            declared: None,
            custom_name: None,
            is_declared: false,
        }
    }

    /// Returns its put, if it has one.
    pub(crate) fn put(&self) -> Option<&PutResource> {
        match &self.goal {
            ChangeGoal::Put(put) => Some(put),
            ChangeGoal::Delete(_) | ChangeGoal::DeleteOwned(..) => None,
        }
    }

    /// Returns its put as the resource is found until the change is accepted: by the reference that is to move.
    pub(crate) fn found(&self, put: PutResource) -> PutResource {
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
            ChangeGoal::Put(_) => OnShared::default(),
            ChangeGoal::Delete(on_shared) | ChangeGoal::DeleteOwned(_, on_shared) => *on_shared,
        }
    }

    /// Returns whether a reference stands for the resource `name` once its put has succeeded, or else nothing is known of it: it is no
    /// other one's.
    pub(crate) fn can_stand_for(&self, name: &Identifier) -> bool {
        self.recorded
            .as_ref()
            .is_none_or(|recorded| recorded == name)
    }

    /// Returns the key of a resource that it is about. AWS may show one under several types.
    pub(crate) fn key_of(&self, name: &Identifier) -> String {
        let place = self.scope.place_of_name(&self.reference.type_name);
        format!("{place}/{name}")
    }

    /// Returns where an error about it is: its place, or its reference if the body does not list it.
    pub(crate) fn target(&self) -> String {
        if self.place.is_empty() {
            self.reference.to_string()
        } else {
            self.place.clone()
        }
    }
}

/// What is to become of a [`ChangeMember`].
pub(crate) enum ChangeGoal {
    /// This put. Its properties are linked.
    Put(Box<PutResource>),
    /// Delete it.
    Delete(OnShared),
    /// The same. The body does not list it.
    DeleteOwned(Timestamp, OnShared),
}
