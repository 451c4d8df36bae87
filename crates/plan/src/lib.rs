//! The plan engine: desired × last applied × live × schema × mode → [`Plan`]; and the judge, who says what to do about it.
//!
//! Pure: no I/O, no clock, no chance. Live state is the base; what is declared is laid over it; what used to be declared
//! and no longer is, is taken away; everything else stays. The classes that the schema puts properties in decide the
//! rest (`docs/adr/0008-plan-engine.md`).
//!
//! [`plan`] starts a walk that gives one `edit` of the live model, a tree that becomes the patch, the planned model and
//! the changes. The walk begins in `merge` and has a file for each thing it may meet: `list`, `absent` for what is not
//! live, `removal` for what is no longer declared, `secrets` for what is write-only, `fixed` for what is create-only,
//! `either_or` and `tidy` for what AWS returns and refuses. Whether AWS already has what is declared, in whatever form,
//! is answered in `same` and `document`; which element of a list is which in `pairing`.
//!
//! [`judge`] decides what is done to a resource so that it is as declared: nothing, a create, an update or a replacement,
//! with the document to send; or why that cannot be (`docs/adr/0014-one-judge.md`). Whoever puts, shows or compares asks it.

mod absent;
mod change;
mod create;
mod desired;
mod document;
mod edit;
mod either_or;
mod fixed;
mod flatten;
mod found;
mod judge;
mod list;
mod merge;
mod pairing;
mod path;
mod removal;
mod same;
mod secrets;
mod tags;
mod tidy;
mod warning;

use std::fmt;

use json_patch::Patch;
use serde_json::Value;
use ucp_model::Baseline;
use ucp_model::pointer::{self, PointerBuf};
use ucp_schema::{ResourceSchema, Violation, unknown_pointers};

pub use change::{Change, ChangeKind, Reason, SENSITIVE};
pub use desired::Desired;
pub use flatten::{flatten, unflatten};
pub use judge::{Judgement, Live, Question, Subject, Verdict, judge};
pub use ucp_model::operation::UpdateMode as Mode;
pub use warning::{Warning, WarningCode};

use edit::Edit;
use merge::Merge;
use same::Budget;

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// There is nothing live: create it as declared.
    Create,
    /// Send [`Plan::patch`].
    Update,
    /// It cannot be patched: [`Plan::replace_paths`] would change.
    Replace,
    /// Send nothing.
    Noop,
    /// Send nothing: [`Plan::errors`] say why the declaration can never be satisfied.
    Error,
}

/// What is to be done to make the live resource what is declared.
#[derive(Clone, PartialEq)]
pub struct Plan {
    /// What to do.
    pub action: Action,
    /// The RFC 6902 patch against the live model without write-only values; never empty when the action is `Update`.
    /// It can be sent only when nothing is [`Plan::unknown`].
    pub patch: Patch,
    /// What the model will be: write-only values as they are sent, `{"$unknown": true}` for what is known only after
    /// the plan, or what it depends on, was applied.
    pub planned: Value,
    /// The properties for whose sake the resource would have to be replaced, as `/properties/…`.
    pub replace_paths: Vec<String>,
    /// Where `planned` is not known yet, as JSON Pointers.
    pub unknown: Vec<String>,
    /// What changes, by path.
    pub changes: Vec<Change>,
    /// What is to be said about the declaration.
    pub warnings: Vec<Warning>,
    /// Why the declaration can never be satisfied.
    pub errors: Vec<Violation>,
}

impl Plan {
    /// The desired state of a create: what is planned, without what AWS will set.
    pub fn desired_state(&self) -> Value {
        let mut state = self.planned.clone();
        for pointer in &self.unknown {
            let Some((holder, name)) = pointer.rsplit_once('/') else {
                continue;
            };
            if let Some(Value::Object(members)) = state.pointer_mut(holder) {
                members.shift_remove(&pointer::unescape(name));
            }
        }
        state
    }

    fn impossible(errors: Vec<Violation>, live: Option<&Value>) -> Self {
        Self {
            action: Action::Error,
            patch: Patch(Vec::new()),
            planned: live.cloned().unwrap_or_default(),
            replace_paths: Vec::new(),
            unknown: Vec::new(),
            changes: Vec::new(),
            warnings: Vec::new(),
            errors,
        }
    }

    /// The history's lines about it.
    pub fn history(&self) -> Vec<ucp_model::operation::Change> {
        self.changes.iter().map(Change::line).collect()
    }
}

impl fmt::Debug for Plan {
    /// Without the patch and the planned model, which may hold write-only values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan")
            .field("action", &self.action)
            .field("replace_paths", &self.replace_paths)
            .field("unknown", &self.unknown)
            .field("changes", &self.changes)
            .field("warnings", &self.warnings)
            .field("errors", &self.errors)
            .finish_non_exhaustive()
    }
}

/// Works out what to do. `last_applied` is what the last successful put declared, `live` what AWS returns now; either
/// may be unknown or absent.
pub fn plan(
    desired: &Desired,
    last_applied: Option<&Baseline>,
    live: Option<&Value>,
    schema: &ResourceSchema,
    mode: Mode,
) -> Plan {
    let properties = desired.declaration.properties();
    if !properties.is_object() {
        let errors = schema.validate_declaration(properties);
        return Plan::impossible(errors, live);
    }
    let budget = Budget::new();
    let merge = Merge::new(desired, last_applied, mode, &budget);
    match live {
        None => create::plan(desired, merge, schema),
        Some(live) if change::is_sensitive(live, schema.root()) => {
            // A few reads return write-only values after all, masked more often than not.
            let live = schema.without_write_only(live);
            change_plan(desired, merge, &live, schema)
        }
        Some(live) => change_plan(desired, merge, live, schema),
    }
}

/// What is of a wrong JSON type in whatever form it is sent. (Unknown properties are told by the walk.)
fn wrong_types(desired: &Desired, schema: &ResourceSchema) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut place = PointerBuf::root();
    same::find_misfits(
        desired.declaration.properties(),
        schema.root(),
        &mut place,
        &mut violations,
    );
    violations
}

fn change_plan<'a>(
    desired: &'a Desired,
    mut merge: Merge<'a>,
    live: &'a Value,
    schema: &'a ResourceSchema,
) -> Plan {
    let root = schema.root();
    merge.found.errors = wrong_types(desired, schema);
    let last = merge.last.map(|last| &last.declared);
    let edit = match live {
        Value::Object(members) => {
            merge.object(desired.declaration.properties(), members, last, root)
        }
        _ => Edit::Keep,
    };
    let (mode, budget) = (merge.mode, merge.same.budget);
    let mut found = merge.found;
    found.sort();
    let is_change = edit.is_change();
    if is_change && !schema.is_updatable() {
        found.replace_all_of(&edit);
    }
    let action = if !found.errors.is_empty() {
        Action::Error
    } else if !found.replace_paths.is_empty() {
        Action::Replace
    } else if is_change {
        Action::Update
    } else {
        Action::Noop
    };
    let mut unknown = unknown_pointers(desired.declaration.properties());
    unknown.sort_unstable();
    let mut changes = found.replacements;
    if is_change {
        changes.extend(change::of(&edit, live, root));
    }
    let (patch, planned) = match action {
        Action::Update => (edit.patch(live), edit.apply(live).unwrap_or_default()),
        Action::Replace => {
            let new = create::plan(desired, Merge::new(desired, None, mode, budget), schema);
            unknown = new.unknown;
            (Patch(Vec::new()), new.planned)
        }
        Action::Create | Action::Noop | Action::Error => (Patch(Vec::new()), live.clone()),
    };
    Plan {
        action,
        patch,
        planned,
        replace_paths: found.replace_paths,
        unknown,
        changes,
        warnings: found.warnings,
        errors: found.errors,
    }
}
