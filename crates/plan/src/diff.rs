//! The difference between what is declared and what is live.

use json_patch::{AddOperation, Patch, PatchOperation, RemoveOperation, ReplaceOperation};
use jsonptr::PointerBuf;
use serde_json::{Map, Value};
use ucp_model::operation::Change;
use ucp_model::{Baseline, json};
use ucp_schema::ResourceSchema;

use crate::{Desired, Mode};

/// What was found.
pub(crate) struct Diff<'a> {
    desired: &'a Desired,
    last_applied: Option<&'a Baseline>,
    schema: &'a ResourceSchema,
    mode: Mode,
    operations: Vec<PatchOperation>,
    /// Write-only values to send again with any update.
    resent: Vec<PatchOperation>,
    /// Whether one of them is known to differ from what was last applied.
    secret_changed: bool,
    pub(crate) replace_paths: Vec<String>,
}

impl<'a> Diff<'a> {
    pub(crate) fn of(
        desired: &'a Desired,
        last_applied: Option<&'a Baseline>,
        live: &Value,
        schema: &'a ResourceSchema,
        mode: Mode,
    ) -> Self {
        let mut diff = Self {
            desired,
            last_applied,
            schema,
            mode,
            operations: Vec::new(),
            resent: Vec::new(),
            secret_changed: false,
            replace_paths: Vec::new(),
        };
        diff.value(&mut Vec::new(), &desired.properties, live);
        diff
    }

    /// The patch, empty when there is nothing to send.
    pub(crate) fn patch(&self) -> Patch {
        if self.operations.is_empty() && !self.secret_changed {
            return Patch(Vec::new());
        }
        Patch(
            self.operations
                .iter()
                .chain(&self.resent)
                .cloned()
                .collect(),
        )
    }

    fn value(&mut self, path: &mut Vec<String>, desired: &Value, live: &Value) {
        match (desired, live) {
            (Value::Object(desired), Value::Object(live)) => self.members(path, desired, live),
            (Value::Array(_), Value::Array(_)) if self.holds_write_only(path) => {
                let visible = self.visible(path);
                if json::equal(&visible, live) {
                    self.resend(path, desired);
                } else {
                    self.change(path, desired, ChangeKind::Replace);
                }
            }
            _ if json::equal(desired, live) => {}
            _ => self.change(path, desired, ChangeKind::Replace),
        }
    }

    fn members(
        &mut self,
        path: &mut Vec<String>,
        desired: &Map<String, Value>,
        live: &Map<String, Value>,
    ) {
        for (name, value) in desired {
            path.push(name.clone());
            if self.is_in(self.schema.read_only(), path) {
                // AWS decides it.
            } else if self.is_in(self.schema.write_only(), path) {
                self.resend(path, value);
            } else if let Some(live) = live.get(name) {
                self.value(path, value, live);
            } else if self.holds_write_only(path) && is_hollow(&self.visible(path)) {
                self.resend(path, value);
            } else {
                self.change(path, value, ChangeKind::Add);
            }
            path.pop();
        }
        if self.mode == Mode::Replace {
            for name in live.keys().filter(|name| !desired.contains_key(*name)) {
                path.push(name.clone());
                let kept = [self.schema.read_only(), self.schema.create_only()];
                let is_required =
                    path.len() == 1 && self.schema.required().any(|required| required == name);
                if !is_required && !kept.iter().any(|class| self.is_in(class, path)) {
                    self.operations
                        .push(PatchOperation::Remove(RemoveOperation {
                            path: pointer(path),
                        }));
                }
                path.pop();
            }
        }
    }

    /// A visible value differs.
    fn change(&mut self, path: &[String], desired: &Value, kind: ChangeKind) {
        if self.is_in(self.schema.create_only(), path) {
            self.replace_paths
                .push(format!("/properties{}", pointer(path)));
            return;
        }
        let (path, value) = (pointer(path), desired.clone());
        self.operations.push(match kind {
            ChangeKind::Add => PatchOperation::Add(AddOperation { path, value }),
            ChangeKind::Replace => PatchOperation::Replace(ReplaceOperation { path, value }),
        });
    }

    /// A value that no read returns: whether it changed is told by digests alone.
    fn resend(&mut self, path: &[String], value: &Value) {
        let at = pointer(path);
        let mut changed = false;
        for (place, digest) in &self.desired.baseline.digests {
            let below = place
                .strip_prefix(at.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            let known = self
                .last_applied
                .map(|baseline| baseline.digests.get(place));
            changed |= below && known != Some(Some(digest));
        }
        if self.is_in(self.schema.create_only(), path) {
            if changed && self.last_applied.is_some() {
                self.replace_paths.push(format!("/properties{at}"));
            }
            return;
        }
        self.secret_changed |= changed;
        self.resent.push(PatchOperation::Add(AddOperation {
            path: at,
            value: value.clone(),
        }));
    }

    fn is_in(&self, class: &ucp_schema::PathSet, path: &[String]) -> bool {
        let segments: Vec<&str> = path.iter().map(String::as_str).collect();
        class.contains(&segments)
    }

    fn holds_write_only(&self, path: &[String]) -> bool {
        let at = format!("{}/", pointer(path));
        self.desired
            .baseline
            .digests
            .keys()
            .any(|place| place.starts_with(&at))
    }

    /// `value`, as a read would return it.
    fn visible(&self, path: &[String]) -> Value {
        self.desired
            .baseline
            .declared
            .pointer(pointer(path).as_str())
            .cloned()
            .unwrap_or(Value::Null)
    }
}

enum ChangeKind {
    Add,
    Replace,
}

/// Nothing but objects and arrays without a value in them.
fn is_hollow(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(members) => members.values().all(is_hollow),
        Value::Array(elements) => elements.iter().all(is_hollow),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn pointer(path: &[String]) -> PointerBuf {
    PointerBuf::from_tokens(path.iter().map(String::as_str))
}

/// The history's line about one patch operation.
pub(crate) fn change(operation: &PatchOperation) -> Change {
    let op = match operation {
        PatchOperation::Add(_) => "add",
        PatchOperation::Remove(_) => "remove",
        PatchOperation::Replace(_) => "replace",
        PatchOperation::Move(_) => "move",
        PatchOperation::Copy(_) => "copy",
        PatchOperation::Test(_) => "test",
    };
    Change {
        path: operation.path().to_string(),
        op: op.to_owned(),
    }
}
