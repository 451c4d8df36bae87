use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::request::ResourceDescription;
use crate::resource_type::ResourceType;

/// Type name and [key](ResourceType::key) of the identifier.
pub(super) type ResourceKey = (String, String);

/// The resources in a region, and the locks of changes in flight.
#[derive(Default)]
pub(super) struct Resources {
    pub(super) existing: BTreeMap<ResourceKey, Resource>,
    /// The resources locked by changes in flight, with the numbers of the changes.
    busy: BTreeMap<ResourceKey, u64>,
}

/// An existing resource.
#[derive(Clone)]
pub(super) struct Resource {
    pub(super) resource_type: Arc<ResourceType>,
    /// All properties, including write-only ones.
    pub(super) model: Value,
}

impl Resource {
    /// Returns the properties without write-only ones.
    pub(super) fn visible(&self) -> Value {
        self.resource_type.schema.without_write_only(&self.model)
    }

    pub(super) fn description(&self, key: &str) -> ResourceDescription {
        ResourceDescription {
            identifier: self.resource_type.answered(key),
            properties: self.visible().to_string(),
        }
    }
}

impl Resources {
    /// Returns another resource whose model contains the identifier of this one as a value.
    pub(super) fn user_of(&self, key: &ResourceKey) -> Option<&ResourceKey> {
        let mut others = self.existing.iter().filter(|(other, _)| *other != key);
        let user = others.find(|(_, resource)| names(&resource.model, &key.1));
        user.map(|(user, _)| user)
    }

    /// Whether an identifier is in use, or is going to be.
    pub(super) fn is_taken(&self, key: &ResourceKey) -> bool {
        self.existing.contains_key(key) || self.busy.contains_key(key)
    }

    /// Locks a resource for the change of this number, unless it is locked already.
    pub(super) fn hold(&mut self, key: ResourceKey, number: u64) {
        self.busy.entry(key).or_insert(number);
    }

    /// Unlocks a resource if the change of this number has locked it.
    pub(super) fn release(&mut self, key: &ResourceKey, number: u64) {
        if self.holder(key) == Some(number) {
            self.busy.remove(key);
        }
    }

    /// Returns the number of the change in flight that locks a resource.
    pub(super) fn holder(&self, key: &ResourceKey) -> Option<u64> {
        self.busy.get(key).copied()
    }
}

fn names(value: &Value, name: &str) -> bool {
    match value {
        Value::String(text) => text == name,
        Value::Array(elements) => elements.iter().any(|element| names(element, name)),
        Value::Object(members) => members.values().any(|member| names(member, name)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
