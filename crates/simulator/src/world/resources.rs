use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::request::ResourceDescription;
use crate::resource_type::ResourceType;

/// Type name and identifier.
pub(super) type ResourceKey = (String, String);

/// The resources in a region, and which of them are being changed.
#[derive(Default)]
pub(super) struct Resources {
    pub(super) existing: BTreeMap<ResourceKey, Resource>,
    /// Those that a change in flight holds, with its number.
    busy: BTreeMap<ResourceKey, u64>,
}

/// A resource that exists.
#[derive(Clone)]
pub(super) struct Resource {
    pub(super) resource_type: Arc<ResourceType>,
    /// All properties, the write-only ones included.
    pub(super) model: Value,
}

impl Resource {
    /// The properties that AWS tells.
    pub(super) fn visible(&self) -> Value {
        self.resource_type.schema.without_write_only(&self.model)
    }

    pub(super) fn description(&self, identifier: &str) -> ResourceDescription {
        ResourceDescription {
            identifier: identifier.to_owned(),
            properties: self.visible().to_string(),
        }
    }
}

impl Resources {
    /// Another resource that names this one as a whole value somewhere in its model.
    pub(super) fn user_of(&self, key: &ResourceKey) -> Option<&ResourceKey> {
        let mut others = self.existing.iter().filter(|(other, _)| *other != key);
        let user = others.find(|(_, resource)| names(&resource.model, &key.1));
        user.map(|(user, _)| user)
    }

    /// Whether an identifier is taken, or about to be.
    pub(super) fn is_taken(&self, key: &ResourceKey) -> bool {
        self.existing.contains_key(key) || self.busy.contains_key(key)
    }

    /// Lets the change of this number hold a resource, unless another one does.
    pub(super) fn hold(&mut self, key: ResourceKey, number: u64) {
        self.busy.entry(key).or_insert(number);
    }

    /// Lets go of a resource that the change of this number holds.
    pub(super) fn release(&mut self, key: &ResourceKey, number: u64) {
        if self.holder(key) == Some(number) {
            self.busy.remove(key);
        }
    }

    /// The number of the change in flight that holds a resource.
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
