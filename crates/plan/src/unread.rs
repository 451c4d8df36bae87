//! Plans for types without a read handler: the last applied declaration stands in for the live model.

use json_patch::{AddOperation, PatchOperation, RemoveOperation};
use serde_json::Value;
use ucp_model::Baseline;
use ucp_model::pointer::{self, PointerBuf};
use ucp_schema::{Classes, Cursor, ResourceSchema};

use crate::change::{self, Change, ChangeKind, Reason};
use crate::{Action, Plan};

/// Sends again what was sent since `last` was applied, by puts that did not succeed: AWS may have the old value, the
/// new one or none.
pub(crate) fn send_unconfirmed(plan: &mut Plan, last: &Baseline, schema: &ResourceSchema) {
    if last.unconfirmed.is_empty() || !matches!(plan.action, Action::Noop | Action::Update) {
        return;
    }
    plan.action = Action::Update;
    let is_confirmed = |path: &str| !last.is_unconfirmed(path);
    plan.patch
        .0
        .retain(|step| is_confirmed(step.path().as_str()));
    plan.changes.retain(|change| is_confirmed(&change.path));
    for pointer in &last.unconfirmed {
        let planned = plan.planned.pointer(pointer).cloned();
        plan.changes
            .push(change(pointer, planned.as_ref(), schema.root()));
        plan.patch.0.extend(operations(pointer, planned));
    }
    plan.changes.sort_by(|one, other| one.path.cmp(&other.path));
}

/// Sends all that is declared and may be changed, whatever was put last: somebody may have changed it in AWS, which nobody can
/// read.
pub(crate) fn send_again(plan: &mut Plan, declared: &Value, schema: &ResourceSchema) {
    if !matches!(plan.action, Action::Noop | Action::Update) || !schema.is_updatable() {
        return;
    }
    let members = declared.as_object().into_iter().flatten();
    let pointers = members.map(|(name, _)| pointer::join("", name));
    let root = schema.root();
    let is_changeable = |pointer: &String| {
        let name = pointer.strip_prefix('/').unwrap_or_default();
        let cursor = root.member_or_anything(&pointer::unescape(name));
        !cursor.is(Classes::FIXED) && !cursor.is(Classes::READ_ONLY)
    };
    let pointers: Vec<String> = pointers.filter(is_changeable).collect();
    if pointers.is_empty() {
        return;
    }
    plan.action = Action::Update;
    let is_sent = |path: &str| pointers.iter().any(|sent| pointer::is_within(path, sent));
    plan.patch.0.retain(|step| !is_sent(step.path().as_str()));
    plan.changes.retain(|change| !is_sent(&change.path));
    for pointer in &pointers {
        let planned = plan.planned.pointer(pointer).cloned();
        plan.changes
            .push(change(pointer, planned.as_ref(), schema.root()));
        plan.patch.0.extend(operations(pointer, planned));
    }
    plan.changes.sort_by(|one, other| one.path.cmp(&other.path));
}

/// Returns the operations that give a property its planned value, whatever it is now. An `add` replaces what is there.
/// A `remove` requires that something is there.
fn operations(pointer: &str, planned: Option<Value>) -> Vec<PatchOperation> {
    let Ok(path) = PointerBuf::parse(pointer) else {
        return Vec::new();
    };
    let is_removed = planned.is_none();
    let add = PatchOperation::Add(AddOperation {
        path: path.clone(),
        value: planned.unwrap_or_default(),
    });
    let remove = is_removed.then_some(PatchOperation::Remove(RemoveOperation { path }));
    std::iter::once(add).chain(remove).collect()
}

fn change(path: &str, planned: Option<&Value>, root: Cursor<'_>) -> Change {
    let name = path.strip_prefix('/').unwrap_or_default();
    let cursor = root.member_or_anything(&pointer::unescape(name));
    Change {
        path: path.to_owned(),
        kind: match planned {
            Some(_) => ChangeKind::Replace,
            None => ChangeKind::Remove,
        },
        before: None,
        after: planned.map(|value| change::redacted(value, cursor)),
        reason: Reason::Declared,
        is_write_only: cursor.is(Classes::WRITE_ONLY),
        is_sensitive: planned.is_some_and(|value| change::is_sensitive(value, cursor)),
        forces_replacement: false,
    }
}
