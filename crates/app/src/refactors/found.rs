//! What a refactor has found.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;
use ucp_model::{
    Baseline, GroupId, Identifier, NewResourceGroup, Reference, ReferenceId, ResourceGroup, Scope,
    Target,
};
use ucp_refactor::Refactor;
use ucp_schema::ResourceSchema;

use crate::PutResource;
use crate::moves::history::History;

/// What a refactor has found.
pub(super) struct Found {
    pub(super) refactor: Refactor,
    /// The named groups.
    pub(super) groups: Vec<FoundGroup>,
    /// What is deployed in them, by key.
    pub(super) references: HashMap<String, Reference>,
    /// The events that they have had.
    pub(super) history: History,
    /// The puts of what changes, if that is deployed, each after those that it refers to.
    pub(super) puts: Vec<FoundPut>,
}

/// A group that a refactor names.
pub(super) struct FoundGroup {
    /// As it is made if it does not exist.
    pub(super) new: NewResourceGroup,
    /// As it is recorded, if it exists.
    pub(super) recorded: Option<ResourceGroup>,
    /// Whether the body declares a resource in it.
    pub(super) is_declared: bool,
}

impl FoundGroup {
    pub(super) fn id(&self) -> &GroupId {
        match &self.recorded {
            Some(recorded) => &recorded.id,
            None => &self.new.id,
        }
    }
}

/// A put of what a refactor changes.
pub(super) struct FoundPut {
    /// What it updates, as it is deployed; none if it creates something.
    pub(super) updates: Option<Tracked>,
    /// What was last applied to that.
    pub(super) last: Option<Baseline>,
    /// The resources that it refers to and that are not put, as they are deployed.
    pub(super) stays: Vec<Tracked>,
    /// Its identifier, if the caller gives one that the properties do not tell.
    pub(super) given: Option<Identifier>,
    /// The place of its resource, as a JSON Pointer into the body.
    pub(super) place: String,
    /// Its reference, once everything has moved.
    pub(super) reference: ReferenceId,
    /// What is put. References in its properties name tracking ids.
    pub(super) put: Box<PutResource>,
    pub(super) schema: Arc<ResourceSchema>,
    /// The indexes of the puts that come first.
    pub(super) needs: Vec<usize>,
    /// What it refers to that nothing will be at, with the place of the reference.
    pub(super) unmet: Vec<(String, ReferenceId)>,
}

impl FoundPut {
    /// Returns whether its declaration is judged in so little time that it needs no turn.
    pub(super) fn is_quick(&self) -> bool {
        let properties = Value::Object(self.put.properties.clone());
        self.schema.is_quick_for([&properties])
    }
}

/// Returns a group that does not exist yet, as far as the default tags of a put in it are concerned.
pub(super) fn as_made(new: &NewResourceGroup) -> ResourceGroup {
    ResourceGroup {
        id: new.id.clone(),
        location: new.location.clone(),
        tags: new.tags.clone(),
        body: new.body.clone(),
        created_at: ucp_model::Timestamp::default(),
        updated_at: ucp_model::Timestamp::default(),
        revision: 0,
    }
}

/// What is deployed, in a few words.
#[derive(Clone, Debug)]
pub(super) struct Tracked {
    /// Its reference, before anything moves.
    pub(super) id: ReferenceId,
    pub(super) scope: Scope,
    pub(super) identifier: Option<Identifier>,
}

impl Tracked {
    pub(super) fn of(reference: &Reference) -> Self {
        Self {
            id: reference.id.clone(),
            scope: reference.scope.clone(),
            identifier: reference.identifier.clone(),
        }
    }

    /// Returns the AWS resource, if it stands for one.
    pub(super) fn target(&self) -> Option<Target<'_>> {
        Some(Target {
            scope: &self.scope,
            type_name: &self.id.type_name,
            identifier: self.identifier.as_ref()?,
        })
    }
}
