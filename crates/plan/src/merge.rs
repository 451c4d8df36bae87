//! The walk that merges a declaration into a live model.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Map, Value};
use ucp_model::{Baseline, Digest, json};
use ucp_schema::{Classes, Cursor, ResourceSchema, Violation, holds_unknown, is_unknown};

use crate::budget::Budget;
use crate::edit::{Edit, Why};
use crate::found::Found;
use crate::path::Path;
use crate::same::{Sameness, coerced, is_hollow};
use crate::warning::{Warning, WarningCode};
use crate::{Desired, Mode, document, either_or, removal, tags, tidy};

/// Classes whose values are not compared with the live ones, or not written if they differ.
const NEVER_COMPARED: [Classes; 3] = [
    Classes::READ_ONLY,
    Classes::CREATE_ONLY,
    Classes::WRITE_ONLY,
];

/// The walk, with its findings other than edits.
pub(crate) struct Merge<'a> {
    pub(crate) digests: &'a BTreeMap<String, Digest>,
    pub(crate) last: Option<&'a Baseline>,
    pub(crate) mode: Mode,
    pub(crate) path: Path<'a>,
    pub(crate) same: Sameness<'a>,
    pub(crate) found: Found,
    /// Whether resources of the type can be updated.
    pub(crate) is_updatable: bool,
    /// Whether an unknown value is declared anywhere.
    has_unknown: bool,
}

/// A declared member with its counterparts in the live model and in the last declaration.
#[derive(Clone, Copy)]
pub(crate) struct Member<'a> {
    pub(crate) declared: &'a Value,
    pub(crate) live: Option<&'a Value>,
    pub(crate) last: Option<&'a Value>,
    /// The object that contains it.
    pub(crate) parent: &'a Value,
}

impl<'a> Merge<'a> {
    pub(crate) fn new(
        desired: &'a Desired,
        last: Option<&'a Baseline>,
        mode: Mode,
        schema: &ResourceSchema,
        budget: &'a Budget,
    ) -> Self {
        Self {
            digests: &desired.baseline.digests,
            last,
            mode,
            path: Path::default(),
            same: Sameness {
                root: desired.declaration.properties(),
                budget,
            },
            found: Found::default(),
            is_updatable: schema.is_updatable(),
            has_unknown: holds_unknown(desired.declaration.properties()),
        }
    }

    /// Returns the edit of a live object, given its current declaration and the last one.
    pub(crate) fn object(
        &mut self,
        declared: &'a Value,
        live: &'a Map<String, Value>,
        last: Option<&'a Value>,
        cursor: Cursor<'a>,
    ) -> Edit {
        let mut edits: Vec<(String, Edit)> = Vec::new();
        let members = declared.as_object().into_iter().flatten();
        for (name, value) in members {
            self.path.push_key(name);
            let edit = match cursor.member(name) {
                None => {
                    self.not_a_property(name, cursor);
                    Edit::Keep
                }
                Some(_) if cursor.is(Classes::TAGS) && tags::is_reserved_key(name) => {
                    self.warn(WarningCode::ReservedTag);
                    Edit::Keep
                }
                Some(below) => {
                    let member = Member {
                        declared: value,
                        live: live.get(name).filter(|live| !live.is_null()),
                        last: last.and_then(|last| last.get(name)),
                        parent: declared,
                    };
                    self.named_member(name, member, live, below, cursor)
                }
            };
            self.path.pop();
            if !edit.is_keep() {
                edits.push((name.clone(), edit));
            }
        }
        for (name, value) in live {
            if declared.get(name).is_some() {
                continue;
            }
            let below = cursor.member_or_anything(name);
            let is_required = cursor.shape().requires(name);
            let was_declared = last.and_then(|last| last.get(name));
            let edit = match (self.mode, was_declared) {
                (Mode::Merge, None) => tidy::undeclared(value, below, is_required),
                _ if cursor.is(Classes::TAGS) && tags::is_reserved_key(name) => Edit::Keep,
                (Mode::Merge, Some(_)) if is_required => Edit::Keep,
                (Mode::Merge, Some(last)) => self.withdrawn(value, last, below),
                (Mode::Replace, _) => removal::strict(value, below, is_required),
            };
            if !edit.is_keep() {
                edits.push((name.clone(), edit));
            }
        }
        for blocking in either_or::settle(declared, live, cursor, &mut edits) {
            self.path.push_key(blocking.name);
            self.replace_blocking(blocking.value, blocking.cursor);
            self.path.pop();
        }
        Edit::members(edits)
    }

    /// Returns the edit of the member `name` of the object `live`, whose schema is at `holder`.
    fn named_member(
        &mut self,
        name: &str,
        member: Member<'a>,
        live: &'a Map<String, Value>,
        cursor: Cursor<'a>,
        holder: Cursor<'a>,
    ) -> Edit {
        let edit = self.member(member, cursor);
        if NEVER_COMPARED.iter().any(|class| cursor.is(*class)) {
            return edit;
        }
        let is_required = holder.shape().requires(name);
        match live.get(name) {
            None if edit.is_keep()
                && is_new_marker(member, name, live, holder, self.path.is_top()) =>
            {
                Edit::Set(member.declared.clone(), Why::Change)
            }
            // AWS may refuse the live value in an update even if both are empty.
            Some(live) if edit.is_keep() && is_hollow(member.declared) => {
                tidy::undeclared(live, cursor, is_required)
            }
            Some(_) if edit.empties() && cursor.list().min_items > 0 && !is_required => {
                Edit::Remove(Why::Change)
            }
            Some(_) | None => edit,
        }
    }

    /// Returns the edit of a value that is no longer declared. What others added to a map or a keyed list stays.
    fn withdrawn(&mut self, live: &'a Value, last: &'a Value, cursor: Cursor<'a>) -> Edit {
        static NOTHING: LazyLock<Value> = LazyLock::new(|| Value::Array(Vec::new()));
        let is_fixed = cursor.is(Classes::READ_ONLY | Classes::CREATE_ONLY);
        match live {
            Value::Array(elements) if !is_fixed && !is_hollow(live) => {
                let member = Member {
                    declared: &NOTHING,
                    live: Some(live),
                    last: Some(last),
                    parent: &Value::Null,
                };
                let edit = self.list(&[], elements, member, cursor);
                if edit.empties() {
                    removal::removal(live, cursor, false)
                } else {
                    edit
                }
            }
            Value::Object(members) if !is_fixed && cursor.shape().is_map() => {
                removal::of_keys(members, last, live, cursor)
            }
            _ => removal::removal(live, cursor, false),
        }
    }

    /// Returns the edit of a declared member.
    pub(crate) fn member(&mut self, member: Member<'a>, cursor: Cursor<'a>) -> Edit {
        if cursor.is(Classes::READ_ONLY) {
            self.read_only(member, cursor);
            return Edit::Keep;
        }
        if cursor.is(Classes::DEPRECATED) {
            self.warn(WarningCode::Deprecated);
        }
        if cursor.is(Classes::NON_PUBLIC) {
            self.warn(WarningCode::NonPublic);
        }
        if self.is_unknown(member.declared, cursor) {
            return self.unknown(member, cursor);
        }
        if cursor.is(Classes::WRITE_ONLY) {
            return self.write_only(member.declared, cursor);
        }
        if cursor.is(Classes::CREATE_ONLY) {
            return self.create_only(member, cursor);
        }
        match member.live {
            Some(live) => self.present(member, live, cursor),
            None => self.absent(member, cursor),
        }
    }

    fn present(&mut self, member: Member<'a>, live: &'a Value, cursor: Cursor<'a>) -> Edit {
        let same = self.same;
        let is_transformed = || same.is_transformed(live, cursor, member.parent);
        match (member.declared, live) {
            (Value::Object(_), Value::Object(_))
                if document::is_policy(member.declared) && document::is_policy(live) =>
            {
                if same.is_same_document(member.declared, live) || is_transformed() {
                    Edit::Keep
                } else {
                    Edit::Set(member.declared.clone(), Why::Change)
                }
            }
            (Value::Object(_), Value::Object(members)) => {
                let edit = self.object(member.declared, members, member.last, cursor);
                let is_known = || !(self.has_unknown && holds_unknown(member.declared));
                if edit.is_change() && is_known() && is_transformed() {
                    Edit::Keep
                } else {
                    edit
                }
            }
            (Value::Array(declared), Value::Array(elements)) => {
                let edit = self.list(declared, elements, member, cursor);
                if edit.is_change() && is_transformed() {
                    Edit::Keep
                } else {
                    edit
                }
            }
            _ if self
                .same
                .holds(member.declared, live, cursor, member.parent)
                && !is_retyped(member, live, cursor) =>
            {
                Edit::Keep
            }
            (Value::Object(_), _) => {
                let (made, _) = self.made(member.declared, member.last, cursor);
                Edit::Set(coerced(&made, cursor), Why::Change)
            }
            _ => Edit::Set(coerced(member.declared, cursor), Why::Change),
        }
    }

    /// Returns whether a value is unknown as a whole: either it is unknown itself, or a part of it is and the value is
    /// never compared by its parts.
    fn is_unknown(&self, declared: &Value, cursor: Cursor<'_>) -> bool {
        let is_whole = || {
            cursor.is(Classes::WRITE_ONLY)
                || cursor.is(Classes::CREATE_ONLY) && !declared.is_object()
        };
        self.has_unknown && (is_unknown(declared) || is_whole() && holds_unknown(declared))
    }

    pub(crate) fn not_a_property(&mut self, name: &str, cursor: Cursor<'a>) {
        let pointer = self.path.pointer();
        let known = cursor.shape().member_names();
        let violation = Violation::not_a_property(cursor.type_name(), &pointer, name, known);
        self.found.errors.push(violation);
    }

    /// Checks a declared read-only value: a warning if it is equal to the live one, and an error otherwise.
    fn read_only(&mut self, member: Member<'a>, cursor: Cursor<'a>) {
        if is_unknown(member.declared) {
            return;
        }
        let is_same = match member.live {
            Some(live) => self
                .same
                .holds(member.declared, live, cursor, member.parent),
            None => is_hollow(member.declared),
        };
        if is_same {
            self.warn(WarningCode::ReadOnly);
        } else {
            let pointer = self.path.pointer();
            self.found
                .errors
                .push(Violation::read_only(&pointer, member.live.is_some()));
        }
    }

    fn unknown(&mut self, member: Member<'a>, cursor: Cursor<'a>) -> Edit {
        if cursor.is(Classes::CREATE_ONLY) {
            self.warn(WarningCode::MayForceReplacement);
        }
        Edit::Set(member.declared.clone(), Why::Change)
    }

    pub(crate) fn warn(&mut self, code: WarningCode) {
        let pointer = self.path.pointer();
        self.found.warnings.push(Warning::new(code, pointer));
    }
}

/// Returns whether the user changed the JSON type of a value that the schema does not restrict, such as `5` to `"5"`.
/// If the declaration is unchanged, AWS may return either.
fn is_retyped(member: Member<'_>, live: &Value, cursor: Cursor<'_>) -> bool {
    let are_texts = member.declared.is_string() && live.is_string();
    let is_free = cursor.shape().types.is_any() || are_texts && cursor.transform().is_none();
    let is_new = |last: &Value| !json::equal(last, member.declared);
    is_free && member.last.is_some_and(is_new) && document::is_retyped(member.declared, live)
}

/// Returns whether a declared object that is not live and contains nothing but defaults is significant by its presence,
/// like a branch of a union: either the schema has it as an alternative, or it is empty and the only declared member
/// of a non-empty live object.
fn is_new_marker(
    member: Member<'_>,
    name: &str,
    live: &Map<String, Value>,
    holder: Cursor<'_>,
    is_root: bool,
) -> bool {
    let Value::Object(declared) = member.declared else {
        return false;
    };
    if member.live.is_some() || is_root || holder.shape().is_map() {
        return false;
    }
    let shape = holder.shape();
    let is_one = |names: &Vec<String>| names.iter().any(|alternative| alternative == name);
    let unions = || (shape.exclusive.iter()).filter(|union| union.iter().any(is_one));
    if !declared.is_empty() {
        // Defaults are equivalent to absence, but not to another branch.
        let is_live = |names: &Vec<String>| names.iter().all(|name| live.contains_key(name));
        let is_other = |names: &Vec<String>| !is_one(names) && is_live(names);
        let fixed_or_unseen = Classes::READ_ONLY | Classes::CREATE_ONLY | Classes::WRITE_ONLY;
        let is_plain = |below: Cursor<'_>| !below.holds(fixed_or_unseen);
        return holder.member(name).is_some_and(is_plain) && unions().flatten().any(is_other);
    }
    let is_alone = member
        .parent
        .as_object()
        .is_some_and(|siblings| siblings.len() == 1);
    let takes_over = is_alone && !live.is_empty() && shape.has_member(name);
    takes_over || unions().next().is_some()
}
