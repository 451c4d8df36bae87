//! What there is to decide on, and what is to be started.

use std::collections::BTreeMap;

use super::super::record::Operation;
use super::super::resource::Kind;
use crate::{Failure, Identifier, Reference, ReferenceId, Scope};

/// What there is to decide on: rows, and what has just been refused.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Survey {
    /// The references of the group, in the order of their keys.
    pub references: Vec<Reference>,
    /// The children so far, the oldest first.
    pub children: Vec<Operation>,
    /// Why children could not be started a moment ago, by the key of their reference.
    pub refused: BTreeMap<String, Refusal>,
}

/// Why a child could not be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Another operation on its alias or its resource is under way.
    Busy,
    /// It cannot be, as things are.
    Lasting(Failure),
}

/// An operation to start as a part of another.
#[derive(Clone, Debug, PartialEq)]
pub struct Child {
    /// What it is to achieve.
    pub kind: Kind,
    /// Under which alias.
    pub reference: ReferenceId,
    /// Where.
    pub scope: Scope,
    /// The resource, where the alias does not map it yet.
    pub identifier: Option<Identifier>,
    /// Whether the reference is to own it.
    pub take_ownership: bool,
}

impl Survey {
    /// How many of the children have ended.
    pub fn ended_children(&self) -> usize {
        self.children
            .iter()
            .filter(|child| child.is_terminal())
            .count()
    }
}
