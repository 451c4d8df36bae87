use std::collections::BTreeMap;
use std::ops::Bound;

use serde_json::Value;
use ucp_model::{Entropy, Timestamp};

use super::following;
use super::names::Names;
use super::past::Past;
use super::resource::{Resource, ResourceKey};
use crate::faults::Lag;

/// The resources in a region, what they were before their latest changes, and the locks of changes in flight.
#[derive(Default)]
pub(super) struct Resources {
    existing: BTreeMap<ResourceKey, Resource>,
    pub(super) past: Past,
    /// The locks of changes in flight, with the numbers of the changes.
    busy: BTreeMap<(ResourceKey, u64), Lock>,
}

/// What a change in flight locks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lock {
    /// The resource, against other changes of it.
    Resource,
    /// Its identifier too, against creates, even if the resource does not exist.
    Identifier,
}

impl Resources {
    /// Returns the existing resources.
    pub(super) fn existing(&self) -> &BTreeMap<ResourceKey, Resource> {
        &self.existing
    }

    /// Returns the existing resources, to give them a new version of their type.
    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut Resource> {
        self.existing.values_mut()
    }

    /// Creates or replaces a resource.
    pub(super) fn insert(
        &mut self,
        key: ResourceKey,
        resource: Resource,
        at: Timestamp,
        entropy: &dyn Entropy,
    ) {
        let before = self.existing.insert(key.clone(), resource);
        self.past.record(key, before, at, entropy);
    }

    /// Removes a resource. Returns false if it does not exist.
    pub(super) fn remove(
        &mut self,
        key: &ResourceKey,
        at: Timestamp,
        entropy: &dyn Entropy,
    ) -> bool {
        let removed = self.existing.remove(key);
        let existed = removed.is_some();
        if existed {
            self.past.record(key.clone(), removed, at, entropy);
        }
        existed
    }

    /// Returns a resource as a read shows it, which may lag.
    pub(super) fn shown(
        &self,
        key: &ResourceKey,
        lag: Option<&Lag>,
        now: Timestamp,
    ) -> Option<&Resource> {
        match lag.and_then(|lag| self.past.shown(key, lag, now)) {
            Some(before) => before,
            None => self.existing.get(key),
        }
    }

    /// Returns the properties of a resource as a read shows them, which may lag: without write-only ones, and with what
    /// follows from other resources.
    pub(super) fn visible(
        &self,
        key: &ResourceKey,
        resource: &Resource,
        lag: Option<&Lag>,
        now: Timestamp,
    ) -> Value {
        let mut visible = resource.visible();
        following::fill(key, resource, &mut visible, |type_name| {
            self.shown_of_type(type_name, String::new(), lag, now)
        });
        visible
    }

    /// Returns the resources of a type after the key `after` as a read shows them, which may lag.
    pub(super) fn shown_of_type<'a>(
        &'a self,
        type_name: &'a str,
        after: String,
        lag: Option<&Lag>,
        now: Timestamp,
    ) -> Box<dyn Iterator<Item = (&'a str, &'a Resource)> + 'a> {
        let from = (type_name.to_owned(), after);
        let existing = self
            .existing
            .range((Bound::Excluded(&from), Bound::Unbounded))
            .take_while(move |((of, _), _)| of == type_name)
            .map(|((_, key), resource)| (key.as_str(), resource));
        let Some(lag) = lag else {
            return Box::new(existing);
        };
        let mut shown: BTreeMap<&str, &Resource> = existing.collect();
        let changed = self.past.keys();
        for key in changed.filter(|key| key.0 == type_name && **key > from) {
            match self.shown(key, Some(lag), now) {
                Some(resource) => shown.insert(&key.1, resource),
                None => shown.remove(key.1.as_str()),
            };
        }
        Box::new(shown.into_iter())
    }

    /// Returns another resource that refers to this one; see [`Names`].
    pub(super) fn user_of(&self, key: &ResourceKey) -> Option<&ResourceKey> {
        let names = Names::of(key, self.existing.get(key)?);
        let mut others = self.existing.iter().filter(|(other, _)| *other != key);
        let user = others.find(|(_, resource)| names.are_in("", &resource.model));
        user.map(|(user, _)| user)
    }

    /// Whether an identifier is in use, or is kept by a change in flight.
    pub(super) fn is_taken(&self, key: &ResourceKey) -> bool {
        self.existing.contains_key(key) || self.is_locked(key)
    }

    /// Whether an identifier is kept by a change in flight.
    pub(super) fn is_locked(&self, key: &ResourceKey) -> bool {
        self.locks(key).any(|(_, lock)| lock == Lock::Identifier)
    }

    /// Locks a resource for the change of this number.
    pub(super) fn hold(&mut self, key: ResourceKey, number: u64, lock: Lock) {
        self.busy.insert((key, number), lock);
    }

    /// Unlocks a resource if the change of this number has locked it.
    pub(super) fn release(&mut self, key: &ResourceKey, number: u64) {
        self.busy.remove(&(key.clone(), number));
    }

    /// Returns the number of the change in flight that locks a resource: of the earliest, if there are several.
    pub(super) fn holder(&self, key: &ResourceKey) -> Option<u64> {
        self.locks(key).next().map(|(number, _)| number)
    }

    /// Returns the locks of a resource, with the numbers of their changes.
    fn locks(&self, key: &ResourceKey) -> impl Iterator<Item = (u64, Lock)> {
        let of_key = (key.clone(), 0)..=(key.clone(), u64::MAX);
        let locks = self.busy.range(of_key);
        locks.map(|((_, number), lock)| (*number, *lock))
    }
}
