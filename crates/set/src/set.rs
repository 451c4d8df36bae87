use serde_json::{Map, Value};
use ucp_model::{GroupId, ReferenceId};

/// Declarations of resources in a group, with references between them.
#[derive(Clone, Debug)]
pub struct Set {
    /// The group.
    pub group: GroupId,
    /// The resources.
    pub members: Vec<Member>,
    /// Whether these are all that the body has. Without those that cannot be read, a name may seem unknown.
    pub is_complete: bool,
    /// Whether values may be unknown: those of a what-if.
    pub may_be_unknown: bool,
    /// What to tell at the end, by name.
    pub outputs: Map<String, Value>,
}

/// A resource of a [`Set`].
#[derive(Clone, Debug)]
pub struct Member {
    /// Its place, as a JSON Pointer into the body.
    pub place: String,
    /// Its reference.
    pub reference: ReferenceId,
    /// Its name in the set, if it has one besides the alias.
    pub symbolic_name: Option<String>,
    /// The names of members that come first.
    pub depends_on: Vec<String>,
    /// What is to become of it.
    pub goal: Goal,
}

/// What is to become of a member.
#[derive(Clone, Debug, PartialEq)]
pub enum Goal {
    /// It has these properties.
    Put(Map<String, Value>),
    /// It does not exist.
    Delete,
}
