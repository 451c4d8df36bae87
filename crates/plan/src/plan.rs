use std::fmt;

use json_patch::Patch;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ucp_model::pointer;
use ucp_schema::{ResourceSchema, Violation};

use crate::{Change, Warning, WarningCode};

/// The action to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// Create the resource as declared.
    Create,
    /// Send [`Plan::patch`].
    Update,
    /// The change requires a replacement, because of [`Plan::replace_paths`].
    Replace,
    /// Nothing to do.
    Noop,
    /// Send nothing. [`Plan::errors`] says why the declaration can never be satisfied.
    Error,
}

/// The plan that makes the live resource as declared.
#[derive(Clone, PartialEq)]
pub struct Plan {
    /// The action to take.
    pub action: Action,
    /// The RFC 6902 patch against the live model without write-only values. Never empty if the action is `Update`.
    /// It can be sent only if [`Plan::unknown`] is empty.
    pub patch: Patch,
    /// The planned model. It has write-only values as they are sent, and `{"$unknown": true}` for values that are known
    /// only after the plan, or another one it depends on, is applied.
    pub planned: Value,
    /// The properties that require a replacement, as `/properties/…`.
    pub replace_paths: Vec<String>,
    /// JSON Pointers to the unknown values in `planned`.
    pub unknown: Vec<String>,
    /// The changes.
    pub changes: Vec<Change>,
    /// Warnings about the declaration.
    pub warnings: Vec<Warning>,
    /// Why the declaration can never be satisfied.
    pub errors: Vec<Violation>,
}

impl Plan {
    /// Returns the desired state of a create: the planned model without the values that AWS will set.
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

    /// Warns of the write-only values that are sent because nothing is kept to compare them with.
    pub(crate) fn warn_of_secrets_sent(&mut self) {
        let sent = self.changes.iter().filter(|change| change.is_write_only);
        let warning = |change: &Change| Warning::new(WarningCode::AlwaysSent, change.path.clone());
        self.warnings.extend(sent.map(warning));
    }

    /// Returns the entries for the history.
    pub fn history(&self, schema: &ResourceSchema) -> Vec<ucp_model::operation::Change> {
        self.changes
            .iter()
            .map(|change| change.line(schema))
            .collect()
    }
}

impl fmt::Debug for Plan {
    /// Formats it without the patch and the planned model, which may contain write-only values.
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
