//! References: which AWS resource each alias stands for.

use std::collections::BTreeMap;

use async_trait::async_trait;
use ucp_model::{CorrelationId, GroupId, Reference, ReferenceId, Timestamp};

use crate::{Error, Event};

/// What forgetting a reference came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Forgotten {
    /// The reference is gone; the AWS resource was left alone.
    Forgotten,
    /// The reference owns its resource, which has to be deleted first.
    Owned(Box<Reference>),
}

/// What to change about a reference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReferenceUpdate {
    /// Whether it owns its resource.
    pub owned: Option<bool>,
    /// All its tags.
    pub tags: Option<BTreeMap<String, String>>,
}

/// The references, and the history of each.
#[async_trait]
pub trait References: Send + Sync {
    /// The reference, if the alias maps anything or is being created.
    async fn get_reference(&self, id: &ReferenceId) -> Result<Option<Reference>, Error>;

    /// The references of a group, in the order of their keys; [`Error::NoSuchGroup`] when there is no such group.
    async fn list_references(&self, group: &GroupId) -> Result<Vec<Reference>, Error>;

    /// Changes who owns the resource of a referenced reference, or the reference's tags, with an event.
    ///
    /// The first of these that holds is the answer: [`Error::NoSuchReference`]; [`Error::GroupDeleting`]; [`Error::Busy`] when
    /// the alias or its resource has a live operation; [`Error::OwnedElsewhere`] when it is to own a resource that another
    /// reference owns.
    async fn update_reference(
        &self,
        id: &ReferenceId,
        update: ReferenceUpdate,
        caller: &str,
        correlation_id: &CorrelationId,
        now: Timestamp,
    ) -> Result<Reference, Error>;

    /// Removes the reference of a reference that does not own its resource, with an event.
    /// [`Error::NoSuchReference`] when there is none, [`Error::GroupDeleting`] when its group is being deleted, [`Error::Busy`]
    /// when an operation is under way.
    async fn forget_reference(
        &self,
        id: &ReferenceId,
        caller: &str,
        correlation_id: &CorrelationId,
        now: Timestamp,
    ) -> Result<Forgotten, Error>;

    /// The events of an alias (by reference id), oldest first.
    async fn list_events(&self, reference: &ReferenceId) -> Result<Vec<Event>, Error>;
}
