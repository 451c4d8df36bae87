//! Sets of declarations: what is wrong with them, what is to be done, and applying them.

mod apply;
mod drafts;
mod judging;
mod moving;
mod obstacle;
mod planned;
mod recorded;
mod seen;
mod what_if;

pub(crate) use self::apply::applied;
pub(crate) use self::drafts::SET_CHECKS_MAX;
pub(crate) use self::judging::UNLISTED_MAX;
pub(crate) use self::obstacle::{placed, refused_elsewhere};
pub(crate) use self::seen::{AllSeen, value_of};
pub(crate) use self::what_if::SHOWN_MAX_BYTES;

use std::sync::Arc;

use serde_json::{Map, Value};
use ucp_model::operation::{GroupWork, OnShared};
use ucp_model::{Detail, Operation, PlanId, Scope, TypeName};
use ucp_schema::ResourceSchema;

use crate::PutResource;

/// A set, as a request declares it.
#[derive(Clone)]
pub struct DeclaredSet {
    /// What becomes of resources that it does not list.
    pub mode: Mode,
    /// What becomes of those that it deletes so, if other references stand for them.
    pub on_shared: OnShared,
    /// The resources, or what is wrong with one.
    pub members: Vec<Result<SetMember, Detail>>,
    /// What to tell at the end, by name.
    pub outputs: Map<String, Value>,
}

/// A set to apply.
#[derive(Clone)]
pub enum ApplySet {
    /// This one.
    Declared(DeclaredSet),
    /// That of the plan. A set that is declared too must be the same.
    Planned(PlanId, Option<DeclaredSet>),
}

/// What becomes of the resources of a group that a set does not list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// They stay as they are.
    #[default]
    Incremental,
    /// Those that the group owns are deleted.
    Complete,
}

/// A resource of a set.
#[derive(Clone)]
pub struct SetMember {
    /// Its account and region.
    pub scope: Scope,
    /// Its type, as the caller spelled it.
    pub type_name: TypeName,
    /// Its alias in the group.
    pub alias: String,
    /// Its name in the set, if it has one besides the alias.
    pub symbolic_name: Option<String>,
    /// The names of members that come first.
    pub depends_on: Vec<String>,
    /// What is to become of it.
    pub goal: SetGoal,
}

/// A resource of a set, with the schema that it is judged by.
struct Given {
    schema: Arc<ResourceSchema>,
    member: SetMember,
}

/// What is to become of a resource of a set.
#[derive(Clone)]
pub enum SetGoal {
    /// It is as this put declares it. The put has neither a name nor a reference.
    Put(Box<PutResource>),
    /// It does not exist. What becomes of the delete if other references stand for the resource.
    Delete(OnShared),
}

/// The result of an apply so far.
#[derive(Debug)]
pub enum ApplyOutcome {
    /// There was nothing to do. This is what the operation would have been.
    Unchanged(Box<GroupWork>),
    /// The operation is under way.
    Accepted(Box<Operation>),
}
