//! A set with which nothing is wrong, as far as that can be told without AWS.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use ucp_look::PlanRead;
use ucp_model::{Reference, ResourceGroup};

use crate::changes::ChangeMember;

/// A set with which nothing is wrong, as far as that can be told without AWS.
pub(crate) struct JudgedSet {
    /// The group as recorded.
    pub(crate) group: ResourceGroup,
    /// The members, each after those that it depends on, deletes last.
    pub(crate) members: Vec<ChangeMember>,
    /// The outputs, linked.
    pub(crate) outputs: Map<String, Value>,
    /// The references of the group, by key. What moves is where it comes to.
    pub(crate) recorded: BTreeMap<String, Reference>,
    /// The resources outside of the set that it refers to.
    pub(crate) reads: Vec<PlanRead>,
    /// Whether it takes so little time that it needs no thread of its own.
    pub(crate) is_quick: bool,
}
