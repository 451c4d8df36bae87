//! The plan engine: desired × last applied × live × schema × mode → [`Plan`].
//!
//! Pure: no I/O, no clock, no chance. Live state is the base and what is declared is laid over it; what was never
//! declared stays. Objects are compared key by key, arrays whole. Read-only properties are never touched, a changed
//! create-only property means replacement, and write-only values, which no read returns, are compared by digest with
//! what was last applied and sent again with every update.

mod baseline;
mod diff;

use std::fmt;

use json_patch::Patch;
use serde_json::{Map, Value};
use ucp_model::operation::Change;
use ucp_model::{Baseline, Digest};
use ucp_schema::ResourceSchema;

/// What the user declares now.
#[derive(Clone, PartialEq)]
pub struct Desired {
    /// The properties, without `null` members.
    pub properties: Value,
    /// The same as it would be kept: each write-only value as a digest.
    pub baseline: Baseline,
}

impl Desired {
    /// The declaration of `properties`, with `digest` applied to each write-only value.
    pub fn new(
        properties: Value,
        schema: &ResourceSchema,
        digest: impl FnMut(&str, &Value) -> Digest,
    ) -> Self {
        let baseline = baseline::of(&properties, schema, digest);
        Self {
            properties,
            baseline,
        }
    }
}

impl fmt::Debug for Desired {
    /// Without the properties, which may hold write-only values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desired")
            .field("baseline", &self.baseline)
            .finish_non_exhaustive()
    }
}

pub use ucp_model::operation::UpdateMode as Mode;

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
}

/// What is to be done to make the live resource what is declared.
#[derive(Clone, PartialEq)]
pub struct Plan {
    /// What to do.
    pub action: Action,
    /// The RFC 6902 patch against the live model without write-only values; never empty when the action is `Update`.
    pub patch: Patch,
    /// What the model will be.
    pub planned: Value,
    /// The create-only properties that differ, as `/properties/…`.
    pub replace_paths: Vec<String>,
    /// What changes, by path.
    pub changes: Vec<Change>,
}

impl fmt::Debug for Plan {
    /// Without values, which may be write-only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan")
            .field("action", &self.action)
            .field("replace_paths", &self.replace_paths)
            .field("changes", &self.changes)
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
    let Some(live) = live else {
        return create(desired);
    };
    let found = diff::Diff::of(desired, last_applied, live, schema, mode);
    let patch = found.patch();
    let action = match (found.replace_paths.is_empty(), patch.0.is_empty()) {
        (false, _) => Action::Replace,
        (true, false) => Action::Update,
        (true, true) => Action::Noop,
    };
    let mut planned = live.clone();
    if action == Action::Update {
        json_patch::patch(&mut planned, &patch).expect("the patch was made for this model");
    }
    let changes = patch.0.iter().map(diff::change).collect();
    let patch = if action == Action::Update {
        patch
    } else {
        Patch(Vec::new())
    };
    Plan {
        action,
        patch,
        planned,
        replace_paths: found.replace_paths,
        changes,
    }
}

fn create(desired: &Desired) -> Plan {
    let empty = Map::new();
    let members = desired.properties.as_object().unwrap_or(&empty);
    let change = |name: &String| Change {
        path: format!("/{}", ucp_model::json::pointer_token(name)),
        op: "add".to_owned(),
    };
    Plan {
        action: Action::Create,
        patch: Patch(Vec::new()),
        planned: desired.properties.clone(),
        replace_paths: Vec::new(),
        changes: members.keys().map(change).collect(),
    }
}

#[cfg(test)]
mod tests;
