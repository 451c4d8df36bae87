use std::fmt;

use serde_json::Value;
use ucp_model::pointer::{Pointer, PointerBuf};
use ucp_model::{SENSITIVE, json};
use ucp_schema::{Classes, Cursor, ResourceSchema};

use crate::edit::{Edit, Why};
use crate::tags;

/// A change at one location of the model.
#[derive(Clone, PartialEq)]
pub struct Change {
    /// The JSON Pointer into the live model.
    pub path: String,
    /// The kind of the change.
    pub kind: ChangeKind,
    /// The old value, with [`SENSITIVE`] for write-only values.
    pub before: Option<Value>,
    /// The new value, with [`SENSITIVE`] for write-only values.
    pub after: Option<Value>,
    /// The reason for the change.
    pub reason: Reason,
    /// Whether it is write-only, so that no read returns it.
    pub is_write_only: bool,
    /// Whether values are left out of `before` or `after`.
    pub is_sensitive: bool,
    /// Whether the change requires replacing the resource.
    pub forces_replacement: bool,
}

/// The kind of a [`Change`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// A value is added.
    Add,
    /// A value is removed.
    Remove,
    /// A value is replaced by another.
    Replace,
}

/// The reason for a [`Change`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The declaration differs.
    Declared,
    /// No read returns the value, so it is sent with every update.
    Resent,
    /// The read returned a value that AWS does not accept in an update.
    Tidied,
}

/// Returns whether a place is in a conditional create-only property, or has one in it.
fn is_conditional(path: &str, schema: &ResourceSchema) -> bool {
    let Ok(pointer) = Pointer::parse(path) else {
        return false;
    };
    let segments = pointer.tokens().map(|token| token.decoded().into_owned());
    let segments: Vec<String> = segments.collect();
    let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
    let mut listed = schema.listed(Classes::CONDITIONAL_CREATE_ONLY);
    schema.lists(Classes::CONDITIONAL_CREATE_ONLY, &segments)
        || listed.any(|path| path.names().starts_with(&segments))
}

impl Change {
    /// Returns the entry for the history.
    pub(crate) fn line(&self, schema: &ResourceSchema) -> ucp_model::operation::Change {
        let op = match self.kind {
            ChangeKind::Add => "add",
            ChangeKind::Remove => "remove",
            ChangeKind::Replace => "replace",
        };
        ucp_model::operation::Change {
            conditional: is_conditional(&self.path, schema),
            path: self.path.clone(),
            op: op.to_owned(),
        }
    }

    /// Creates a change that requires a replacement.
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
    /// Formats it without values: they may be long, or a secret in a property that is not write-only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Change")
            .field("path", &self.path)
            .field("kind", &self.kind)
            .field("reason", &self.reason)
            .field("forces_replacement", &self.forces_replacement)
            .finish_non_exhaustive()
    }
}

/// Returns the changes that an edit makes, in the order of their paths.
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

/// Returns whether `value` is or contains a write-only value.
pub(crate) fn is_sensitive(value: &Value, cursor: Cursor<'_>) -> bool {
    if cursor.is(Classes::WRITE_ONLY) || !cursor.holds(Classes::WRITE_ONLY) {
        return cursor.is(Classes::WRITE_ONLY);
    }
    json::children(value).any(|(step, child)| is_sensitive(child, cursor.below_or_anything(step)))
}

/// Returns `value` with write-only values replaced by [`SENSITIVE`], and without the mark of a reference.
pub(crate) fn redacted(value: &Value, cursor: Cursor<'_>) -> Value {
    if cursor.is(Classes::TAGS) {
        return tags::without_mark(value);
    }
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
