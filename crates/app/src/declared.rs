//! What requests declare: a put of one resource, and sets.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};
use ucp_model::operation::{OnShared, Options};
use ucp_model::{Detail, PlanId, Scope, TypeName};
use ucp_schema::ResourceSchema;

use crate::TrackedBy;

/// A put of one resource.
#[derive(Clone)]
pub struct PutResource {
    /// The scope.
    pub scope: Scope,
    /// The type, as the caller spelled it.
    pub type_name: TypeName,
    /// The name in the URL. Without it, the properties contain the identifier, or AWS assigns one.
    pub name: Option<String>,
    /// The reference. Without it, the put has none.
    pub tracked_by: Option<TrackedBy>,
    /// The alias without a reference: only a label.
    pub label: Option<String>,
    /// The declared properties.
    pub properties: Map<String, Value>,
    /// The default tags of the request.
    pub default_tags: BTreeMap<String, String>,
    /// The ARM tags of the request. They are default tags that a type must support.
    pub tags: BTreeMap<String, String>,
    /// The options of the request.
    pub options: Options,
    /// The plan that it carries out, if any.
    pub plan: Option<PlannedPut>,
}

/// The plan that a put carries out.
#[derive(Clone, Debug)]
pub struct PlannedPut {
    /// The plan.
    pub id: PlanId,
    /// Whether the put declares something. If not, it is as planned.
    pub is_declared: bool,
}

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

/// What is to become of a resource of a set.
#[derive(Clone)]
pub enum SetGoal {
    /// It is as this put declares it. The put has neither a name nor a reference.
    Put(Box<PutResource>),
    /// It does not exist. What becomes of the delete if other references stand for the resource.
    Delete(OnShared),
}

/// A resource of a set, with the schema that it is judged by.
pub(crate) struct Given {
    pub(crate) schema: Arc<ResourceSchema>,
    pub(crate) member: SetMember,
}

/// A set to apply.
#[derive(Clone)]
pub enum ApplySet {
    /// This one.
    Declared(DeclaredSet),
    /// That of the plan. A set that is declared too must be the same.
    Planned(PlanId, Option<DeclaredSet>),
}
