use std::fmt;

use serde_json::Value;
use ucp_model::json;
use ucp_model::pointer::{Pointer, PointerBuf};
use ucp_schema::{Classes, Cursor};

use crate::edit::{Edit, Why};

/// What stands in a [`Change`] for a write-only value.
pub const SENSITIVE: &str = "(sensitive)";

/// What becomes of one place of the model.
#[derive(Clone, PartialEq)]
pub struct Change {
    /// The JSON Pointer into the live model.
    pub path: String,
    /// What is done there.
    pub kind: ChangeKind,
    /// The value until now, [`SENSITIVE`] for what is write-only.
    pub before: Option<Value>,
    /// The value then, [`SENSITIVE`] for what is write-only.
    pub after: Option<Value>,
    /// Why it is done.
    pub reason: Reason,
    /// Whether no read will show it.
    pub is_write_only: bool,
    /// Whether values are left out of `before` or `after`.
    pub is_sensitive: bool,
    /// Whether only a replacement of the resource can do it.
    pub forces_replacement: bool,
}

/// What is done to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// A value where there was none.
    Add,
    /// No value any more.
    Remove,
    /// Another value.
    Replace,
}

/// Why a change is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It is declared so.
    Declared,
    /// No read returns it, so it goes along with every update.
    Resent,
    /// The read returned something that AWS refuses to take back.
    Tidied,
}

impl Change {
    /// The history's line about it.
    pub(crate) fn line(&self) -> ucp_model::operation::Change {
        let op = match self.kind {
            ChangeKind::Add => "add",
            ChangeKind::Remove => "remove",
            ChangeKind::Replace => "replace",
        };
        ucp_model::operation::Change {
            path: self.path.clone(),
            op: op.to_owned(),
        }
    }

    /// The value of a place that only a replacement can change.
    pub(crate) fn replacing(
        path: String,
        before: Option<&Value>,
        after: &Value,
        cursor: Cursor<'_>,
    ) -> Self {
        Self {
            path,
            kind: match before {
                Some(_) => ChangeKind::Replace,
                None => ChangeKind::Add,
            },
            before: before.map(|value| redacted(value, cursor)),
            after: Some(redacted(after, cursor)),
            reason: Reason::Declared,
            is_write_only: cursor.is(Classes::WRITE_ONLY),
            is_sensitive: is_sensitive(after, cursor),
            forces_replacement: true,
        }
    }
}

impl fmt::Debug for Change {
    /// Without values, which may be long, and in a property that holds a secret without being write-only, secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Change")
            .field("path", &self.path)
            .field("kind", &self.kind)
            .field("reason", &self.reason)
            .field("forces_replacement", &self.forces_replacement)
            .finish_non_exhaustive()
    }
}

/// The changes that an edit makes, by path.
pub(crate) fn of(edit: &Edit, live: &Value, cursor: Cursor<'_>) -> Vec<Change> {
    let mut changes = Vec::new();
    collect(
        edit,
        Some(live),
        cursor,
        &mut PointerBuf::root(),
        &mut changes,
    );
    changes
}

fn collect(
    edit: &Edit,
    live: Option<&Value>,
    cursor: Cursor<'_>,
    path: &mut PointerBuf,
    changes: &mut Vec<Change>,
) {
    match edit {
        Edit::Keep => {}
        Edit::Set(value, why) => {
            changes.push(change(path, live, Some(value), *why, cursor));
        }
        Edit::Remove(why) => changes.push(change(path, live, None, *why, cursor)),
        Edit::Members(edits) => {
            let mut edits: Vec<&(String, Edit)> = edits.iter().collect();
            edits.sort_unstable_by_key(|(name, _)| name);
            for (name, edit) in edits {
                let live = live.and_then(|live| live.get(name));
                path.push_back(name);
                collect(edit, live, cursor.member_or_anything(name), path, changes);
                path.pop_back();
            }
        }
        Edit::Element(index, edit) => {
            let live = live.and_then(|live| live.get(*index));
            path.push_back(*index);
            collect(edit, live, cursor.element(), path, changes);
            path.pop_back();
        }
        Edit::Insert(index, value, why) => {
            path.push_back(*index);
            changes.push(change(path, None, Some(value), *why, cursor.element()));
            path.pop_back();
        }
    }
}

fn change(
    path: &Pointer,
    before: Option<&Value>,
    after: Option<&Value>,
    why: Why,
    cursor: Cursor<'_>,
) -> Change {
    Change {
        path: path.to_string(),
        kind: match (before, after) {
            (None, _) => ChangeKind::Add,
            (Some(_), None) => ChangeKind::Remove,
            (Some(_), Some(_)) => ChangeKind::Replace,
        },
        before: before.map(|value| redacted(value, cursor)),
        after: after.map(|value| redacted(value, cursor)),
        reason: match why {
            Why::Change => Reason::Declared,
            Why::Resend => Reason::Resent,
            Why::Tidy => Reason::Tidied,
        },
        is_write_only: cursor.is(Classes::WRITE_ONLY),
        is_sensitive: [before, after]
            .into_iter()
            .flatten()
            .any(|value| is_sensitive(value, cursor)),
        forces_replacement: false,
    }
}

/// Whether there is a write-only value in `value`.
pub(crate) fn is_sensitive(value: &Value, cursor: Cursor<'_>) -> bool {
    if cursor.is(Classes::WRITE_ONLY) || !cursor.holds(Classes::WRITE_ONLY) {
        return cursor.is(Classes::WRITE_ONLY);
    }
    json::children(value).any(|(step, child)| is_sensitive(child, cursor.below_or_anything(step)))
}

/// `value` with [`SENSITIVE`] for what is write-only in it.
pub(crate) fn redacted(value: &Value, cursor: Cursor<'_>) -> Value {
    if cursor.is(Classes::WRITE_ONLY) {
        return Value::from(SENSITIVE);
    }
    if !cursor.holds(Classes::WRITE_ONLY) {
        return value.clone();
    }
    json::map_children(value, |step, child| {
        Some(redacted(child, cursor.below_or_anything(step)))
    })
}
