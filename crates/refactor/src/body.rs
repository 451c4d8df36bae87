use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde_json::Value;
use ucp_model::{GroupId, Identifier, ReferenceId, Scope};
use ucp_set::{address, visit};

/// The body of a refactor: all that the named groups shall hold.
#[derive(Clone, Debug)]
pub struct Body {
    /// What addresses begin at.
    pub base: Base,
    /// The named groups. Others are not looked at.
    pub groups: Vec<Group>,
    /// The resources in all of them.
    pub resources: Vec<Declared>,
    /// The addresses of what is to be deleted. Nothing is declared there, and what is deployed there does not move.
    pub deleted: Vec<Deleted>,
    /// Where resources move to, as far as the user says so.
    pub moves: Vec<Mapping>,
    /// Addresses and types of what stays.
    pub exclude: Vec<String>,
    /// The events that the groups shall have had, in order. `None` if no history is kept.
    pub history: Option<Vec<Event>>,
    /// What is to be done about ambiguities.
    pub on_ambiguity: OnAmbiguity,
    /// Whether what changes is put afterwards.
    pub deploy: bool,
}

/// What addresses begin at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Base {
    /// A radius plane, by its name: addresses are `{group}/{type}/{alias}`.
    Plane(String),
    /// A group: addresses may be `{type}/{alias}` too.
    Group(GroupId),
}

/// A group that the body names.
#[derive(Clone, Debug)]
pub struct Group {
    /// The place of its name, as a JSON Pointer into the body.
    pub place: String,
    /// The group.
    pub id: GroupId,
}

/// A resource that the body declares.
#[derive(Clone, Debug)]
pub struct Declared {
    /// Its place, as a JSON Pointer into the body.
    pub place: String,
    /// Its address.
    pub address: ReferenceId,
    /// Its name in its group, if it has one besides the alias.
    pub symbolic_name: Option<String>,
    /// Its environment: the account and region.
    pub scope: Scope,
    /// Its primary identifier, given or told by its properties.
    pub identifier: Option<Identifier>,
    /// The property that is the primary identifier of its type, as a JSON Pointer, if it is one alone.
    pub identified_by: Option<String>,
    /// Its properties, with references to other resources.
    pub properties: Value,
    /// The properties that its default tags are, in the form of its type.
    pub default_tags: Value,
    /// The places of write-only values in the properties, as JSON Pointers.
    pub write_only: BTreeSet<String>,
}

/// An address at which nothing shall be.
#[derive(Clone, Debug)]
pub struct Deleted {
    /// Its place, as a JSON Pointer into the body.
    pub place: String,
    /// The address.
    pub address: ReferenceId,
    /// The name of what is to be deleted in its group, if it has one besides the alias.
    pub symbolic_name: Option<String>,
}

impl Body {
    /// Returns the keys of the groups that it names.
    pub fn named(&self) -> HashSet<String> {
        let groups = self.groups.iter();
        groups.map(|group| group.id.key()).collect()
    }

    /// Returns what its resources refer to in groups that it does not name, by key, each with the environment of one that refers to it.
    pub fn outside(&self) -> BTreeMap<String, (ReferenceId, &Scope)> {
        let named = self.named();
        let mut outside = BTreeMap::new();
        for declared in &self.resources {
            let group = &declared.address.group;
            each_outside(&declared.properties, group, &named, |id| {
                outside.entry(id.key()).or_insert((id, &declared.scope));
            });
        }
        outside
    }
}

/// Visits what a declaration in a group refers to in other groups than those with these keys.
pub fn each_outside(
    properties: &Value,
    group: &GroupId,
    named: &HashSet<String>,
    mut found: impl FnMut(ReferenceId),
) {
    visit(properties, |_, expression| {
        let Ok(expression) = expression else {
            return;
        };
        for name in expression.addresses().map(|address| &address.name) {
            let id = address(name, &group.plane, Some(group));
            if let Some(id) = id.ok().filter(|id| !named.contains(&id.group.key())) {
                found(id);
            }
        }
    });
}

/// A move that the user asks for, from an address to an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// The old address.
    pub from: String,
    /// The new address.
    pub to: String,
}

/// Moves that belong together, in a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The name of the event, unique in its history.
    pub id: String,
    /// Its moves. They are made at once, so that resources can change places.
    pub moves: Vec<Mapping>,
}

/// What is to be done about ambiguities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnAmbiguity {
    /// Nothing is moved.
    #[default]
    Refuse,
    /// What is ambiguous is left, and the rest goes ahead.
    Leave,
}
