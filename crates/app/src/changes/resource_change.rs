//! What would become of resources.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ucp_model::operation::ReplacementPolicy;
use ucp_model::{
    Failure, Identifier, KeptPlan, Reference, ReferenceId, Scope, TrackRecord, TypeName, Warning,
};
use ucp_plan::Delta;

/// What would be done.
pub struct WhatIf {
    /// The resources: those that are put, in the order in which they are, then those that are deleted, then the others.
    pub changes: Vec<ResourceChange>,
    /// Why it would fail, as far as a look can tell.
    pub error: Option<Failure>,
    /// The plan that was kept of it, if it ended well.
    pub plan: Option<KeptPlan>,
}

/// What would become of a resource.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceChange {
    /// Its type.
    pub type_name: TypeName,
    /// Its account and region.
    pub scope: Scope,
    /// Its identifier, if it is known.
    pub identifier: Option<Identifier>,
    /// Its reference, if it has one.
    pub tracked_by: Option<ReferenceId>,
    /// The id that its reference has until then, if it moves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<ReferenceId>,
    /// What kind of change it is.
    pub kind: ChangeKind,
    /// The live properties, without those that no read returns.
    pub before: Option<Map<String, Value>>,
    /// The planned properties, without those that no read returns.
    pub after: Option<Map<String, Value>>,
    /// The differences of a [`ChangeKind::Modify`].
    pub deltas: Vec<Delta>,
    /// The properties that require a replacement, as `/properties/…`.
    pub replace_paths: Vec<String>,
    /// How the put replaces the resource, if its change requires that.
    pub replacement: Option<ReplacementPolicy>,
    /// JSON Pointers to the values of `after` that AWS assigns, so that they are known only once it is applied.
    pub unknown: Vec<String>,
    /// JSON Pointers to the values that the author of the declaration leaves open, or that refer to such. Those that no read returns
    /// are at their place in the declaration, the others at that in `after`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<String>,
    /// What the caller should know.
    pub warnings: Vec<Warning>,
    /// Whether its type has no read handler, so that the last declaration whose put succeeded stands in for what AWS has.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unreadable: bool,
    /// How good the plans of such puts were, if any were compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub track_record: Option<TrackRecord>,
}

/// The kind of a [`ResourceChange`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ChangeKind {
    /// The resource is created.
    Create,
    /// It is deleted.
    Delete,
    /// It is updated or replaced.
    Modify,
    /// Its reference gets another id. It is as declared.
    Move,
    /// It is as declared.
    NoChange,
    /// It is not declared, and stays.
    Ignore,
    /// It is not known what would happen, for this reason.
    Unsupported(String),
}

impl ResourceChange {
    pub(crate) fn new(
        type_name: TypeName,
        scope: Scope,
        tracked_by: Option<ReferenceId>,
        kind: ChangeKind,
    ) -> Self {
        Self {
            type_name,
            scope,
            identifier: None,
            tracked_by,
            moved_from: None,
            kind,
            before: None,
            after: None,
            deltas: Vec::new(),
            replace_paths: Vec::new(),
            replacement: None,
            unknown: Vec::new(),
            withheld: Vec::new(),
            warnings: Vec::new(),
            unreadable: false,
            track_record: None,
        }
    }

    /// What a reference stands for.
    pub(crate) fn of_reference(reference: &Reference, kind: ChangeKind) -> Self {
        let id = reference.id.clone();
        Self {
            identifier: reference.identifier.clone(),
            ..Self::new(
                id.type_name.clone(),
                reference.scope.clone(),
                Some(id),
                kind,
            )
        }
    }
}
