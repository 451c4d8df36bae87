use std::fmt;

use json_patch::Patch;
use serde_json::Value;
use ucp_model::pointer;
use ucp_schema::Violation;

use crate::{Change, Warning};

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

    pub(crate) fn impossible(errors: Vec<Violation>, live: Option<&Value>) -> Self {
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
