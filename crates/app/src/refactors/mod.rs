//! Refactors: what is tracked gets other aliases and groups, and AWS notices nothing.

mod applying;
mod comparing;
mod deployed;
mod deploying;
mod found;
mod recording;
mod records;

use std::sync::Arc;

use ucp_model::operation::group::OnFailure;
use ucp_model::{Detail, GroupId, NewResourceGroup, Operation, Refactor};
use ucp_refactor::{Base, Deleted, Event, Mapping, OnAmbiguity};

use crate::{Allowances, ChangeCases, Ground, MoveCases, OperationCases, PutResource, TypeCases};

pub(crate) use self::applying::{PLANS_MAX, PLANS_MAX_BYTES};
pub(crate) use self::comparing::{GROUPS_MAX, TYPES_MAX};
pub(crate) use self::deployed::DEPLOYED_MAX_BYTES;
pub use self::records::RefactorQuery;

/// Refactors.
pub struct RefactorCases {
    pub(crate) ground: Arc<Ground>,
    pub(crate) allowances: Arc<Allowances>,
    pub(crate) types: Arc<TypeCases>,
    pub(crate) operations: Arc<OperationCases>,
    pub(crate) changes: Arc<ChangeCases>,
    pub(crate) moves: Arc<MoveCases>,
}

/// A refactor, as a request declares it: all that the named groups shall hold.
pub struct DeclaredRefactor {
    /// What addresses begin at.
    pub base: Base,
    /// Whether anything is to move, or only to be told.
    pub mode: RefactorMode,
    /// The groups, or what is wrong with one.
    pub groups: Vec<Result<NamedGroup, Detail>>,
    /// The resources in all of them, or what is wrong with one.
    pub resources: Vec<Result<DeclaredResource, Detail>>,
    /// What is to be deleted.
    pub deleted: Vec<Deleted>,
    /// Where resources move to, as far as the caller says so.
    pub moves: Vec<Mapping>,
    /// Addresses and types of what stays.
    pub exclude: Vec<String>,
    /// The events that the groups shall have had. `None` if no history is kept.
    pub history: Option<Vec<Event>>,
    /// What is to be done about ambiguities.
    pub on_ambiguity: OnAmbiguity,
    /// What becomes of groups that are empty then.
    pub emptied_groups: EmptiedGroups,
    /// If what changes is to be put: what becomes of the moves if a put fails.
    pub deploy: Option<OnFailure>,
    /// The fingerprint of the refactor that the caller has seen, if it must still be that one.
    pub fingerprint: Option<String>,
}

impl DeclaredRefactor {
    /// Returns the place of all that it declares, as a JSON Pointer into the body.
    fn place_of_all(&self) -> &'static str {
        match self.base {
            Base::Plane(_) => "/groups",
            Base::Group(_) => "/resources",
        }
    }
}

/// What came of a request for a refactor.
#[derive(Debug)]
pub struct Refactored {
    /// The record.
    pub record: Refactor,
    /// The operation that puts what changes, if anything does.
    pub deployment: Option<Operation>,
}

/// Whether a refactor moves anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefactorMode {
    /// It is only told, and kept.
    Plan,
    /// Everything moves.
    Apply,
}

/// What becomes of groups that a refactor empties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EmptiedGroups {
    /// They stay.
    #[default]
    Keep,
    /// They are removed.
    Remove,
}

/// A group that a refactor names.
#[derive(Clone, Debug)]
pub struct NamedGroup {
    /// The place of its name, as a JSON Pointer into the body.
    pub place: String,
    /// The group, as it is made if it does not exist.
    pub group: NewResourceGroup,
}

/// A resource that a refactor declares.
pub struct DeclaredResource {
    /// Its place, as a JSON Pointer into the body.
    pub place: String,
    /// Its group.
    pub group: GroupId,
    /// Its alias.
    pub alias: String,
    /// Its name in its group, if it has one besides the alias.
    pub symbolic_name: Option<String>,
    /// Its primary identifier, if the caller knows it.
    pub identifier: Option<String>,
    /// What would be put. It has neither a name nor a reference.
    pub put: Box<PutResource>,
}
