//! The input of a decision about a group, and the children to start.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::record::Operation;
use super::super::resource::Options;
use crate::{Failure, Identifier, Leftover, Reference, ReferenceId, Scope, Timestamp};

/// The input of a decision about a group: its rows, and the children that could not be started.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Survey {
    /// The references of the group, in the order of their keys.
    pub references: Vec<Reference>,
    /// What is left over of the group, for its deletion.
    pub leftovers: Vec<Leftover>,
    /// The children so far, oldest first.
    pub children: Vec<Operation>,
    /// Why children could not be started just now, by the key of their reference.
    pub refused: BTreeMap<String, Refusal>,
    /// The values of the outputs of a set, once they are read, or why they cannot be.
    pub outputs: Option<Result<Value, Refusal>>,
    /// Those of the outputs of an order that have a value, if a read has shown that others have none.
    pub there: Option<Value>,
    /// Whether the operation that an order comes after has not ended yet.
    pub has_to_wait: bool,
    /// Whether what a refactor has moved was taken back, once that is tried, or why it cannot be.
    pub taken_back: Option<Result<(), Refusal>>,
}

/// Why a child could not be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Another operation on its reference or its resource is in progress.
    Busy,
    /// Something that its declaration refers to cannot be read now.
    Later(Failure),
    /// It cannot be started, for this reason.
    Lasting(Failure),
}

/// A child operation to start.
#[derive(Clone, Debug, PartialEq)]
pub struct Child {
    /// The id of the reference it works on.
    pub reference: ReferenceId,
    /// The account and region of the resource.
    pub scope: Scope,
    /// The goal of the operation.
    pub goal: ChildGoal,
}

/// The goal of a child operation.
#[derive(Clone, Debug, PartialEq)]
pub enum ChildGoal {
    /// Delete the resource and its reference.
    Delete,
    /// The same, if the reference that was made at this time still owns the resource.
    DeleteOwned(Timestamp),
    /// Remove the reference, which does not own the resource: another one stands for that, and is to be deleted with it.
    Forget,
    /// Import a resource.
    Import {
        /// Its primary identifier.
        identifier: Identifier,
        /// Whether the reference takes ownership of it.
        take_ownership: bool,
    },
    /// Create or update a resource as a member of the set declares it.
    Put {
        /// The index of the member.
        member: usize,
        /// The options of the member.
        options: Options,
    },
}

impl Survey {
    /// Returns how many of the children have ended.
    pub fn ended_children(&self) -> usize {
        self.children
            .iter()
            .filter(|child| child.is_terminal())
            .count()
    }
}
