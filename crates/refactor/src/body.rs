use std::collections::BTreeSet;

use serde_json::Value;
use ucp_model::{GroupId, Identifier, ReferenceId, Scope};

/// The body of a refactor: all that the named groups shall hold.
#[derive(Clone, Debug)]
pub struct Body {
    /// What addresses begin at.
    pub base: Base,
    /// The named groups. Others are not looked at.
    pub groups: Vec<Group>,
    /// The resources in all of them.
    pub resources: Vec<Declared>,
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
