//! The walk that lays a declaration over a live model.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Map, Value};
use ucp_model::{Baseline, Digest, json};
use ucp_schema::{Classes, Cursor, Violation, holds_unknown, is_unknown};

use crate::change::Change;
use crate::desired::without_fixed;
use crate::edit::{Edit, Why};
use crate::path::Path;
use crate::same::{Sameness, coerced, is_hollow};
use crate::warning::{Warning, WarningCode};
use crate::{Desired, Mode, document, either_or, removal, tags, tidy};

/// What is not compared with what is live, or not written for a difference.
const NEVER_COMPARED: [Classes; 3] = [
    Classes::READ_ONLY,
    Classes::CREATE_ONLY,
    Classes::WRITE_ONLY,
];

/// The walk and what it found beside edits.
pub(crate) struct Merge<'a> {
    digests: &'a BTreeMap<String, Digest>,
    pub(crate) last: Option<&'a Baseline>,
    pub(crate) mode: Mode,
    pub(crate) path: Path<'a>,
    pub(crate) same: Sameness<'a>,
    pub(crate) found: Found,
}

/// What a walk found beside edits.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The create-only properties that are declared otherwise.
    pub(crate) replace_paths: Vec<String>,
    /// The same with their values.
    pub(crate) replacements: Vec<Change>,
    /// Where unknown values are declared.
    pub(crate) unknown: Vec<String>,
    pub(crate) warnings: Vec<Warning>,
    /// Why the declaration can never be satisfied.
    pub(crate) errors: Vec<Violation>,
}

impl Found {
    /// The order of members says nothing.
    pub(crate) fn sort(&mut self) {
        self.replace_paths.sort_unstable();
        self.replace_paths.dedup();
        self.replacements
            .sort_by(|one, other| one.path.cmp(&other.path));
        self.unknown.sort_unstable();
        self.warnings
            .sort_by(|one, other| one.path.cmp(&other.path));
        self.errors
            .sort_by(|one, other| one.pointer.cmp(&other.pointer));
    }

    /// Where the replacements found so far end.
    pub(crate) fn mark(&self) -> usize {
        self.replace_paths.len()
    }

    /// Forgets the replacements found since `mark`.
    pub(crate) fn forget_replacements(&mut self, mark: usize) {
        self.replace_paths.truncate(mark);
        self.replacements.truncate(mark);
    }

    /// Without an update handler, whatever changes takes a replacement.
    pub(crate) fn replace_all_of(&mut self, edit: &Edit) {
        if let Edit::Members(edits) = edit {
            let changed = edits.iter().filter(|(_, edit)| edit.is_change());
            let paths =
                changed.map(|(name, _)| format!("/properties/{}", json::pointer_token(name)));
            self.replace_paths.extend(paths);
            self.replace_paths.sort_unstable();
        }
    }
}

/// A declared member with what stands for it in the live model and in the last declaration.
#[derive(Clone, Copy)]
pub(crate) struct Member<'a> {
    pub(crate) declared: &'a Value,
    pub(crate) live: Option<&'a Value>,
    pub(crate) last: Option<&'a Value>,
    /// The object that holds it.
    pub(crate) parent: &'a Value,
}

/// What digests tell of a write-only value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Secret {
    Same,
    Changed,
    /// Nothing was kept to compare it with.
    Unknown,
}

impl<'a> Merge<'a> {
    pub(crate) fn new(desired: &'a Desired, last: Option<&'a Baseline>, mode: Mode) -> Self {
        Self {
            digests: &desired.baseline.digests,
            last,
            mode,
            path: Path::default(),
            same: Sameness {
                root: &desired.properties,
            },
            found: Found::default(),
        }
    }

    /// The edit of a live object, of which `declared` is declared now and `last` was declared the last time.
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
                (Mode::Merge, Some(last)) if !is_required => self.withdrawn(value, last, below),
                _ => removal::removal(value, below, is_required),
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

    /// The edit of the member `name` of the object `live`, whose place in the schema is `holder`.
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
            // What is empty on both sides may still be what AWS refuses to take back.
            Some(live) if edit.is_keep() && is_hollow(member.declared) => {
                tidy::undeclared(live, cursor, is_required)
            }
            Some(_) if edit.empties() && cursor.list().min_items > 0 && !is_required => {
                Edit::Remove(Why::Change)
            }
            Some(_) | None => edit,
        }
    }

    /// The edit of what was declared and no longer is. What others put into a map or a keyed list stays.
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
                match edit.empties() {
                    true => removal::removal(live, cursor, false),
                    false => edit,
                }
            }
            Value::Object(members) if !is_fixed && cursor.shape().is_map() => {
                removal::of_keys(members, last, live, cursor)
            }
            _ => removal::removal(live, cursor, false),
        }
    }

    /// The edit of what `member` stands for.
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
        if is_unknown(member.declared) {
            return self.unknown(member, cursor);
        }
        if cursor.is(Classes::WRITE_ONLY) {
            return self.write_only(member.declared, cursor);
        }
        if cursor.is(Classes::CREATE_ONLY) {
            self.create_only(member, cursor);
            return Edit::Keep;
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
                match document::same(member.declared, live) || is_transformed() {
                    true => Edit::Keep,
                    false => Edit::Set(member.declared.clone(), Why::Change),
                }
            }
            (Value::Object(_), Value::Object(members)) => {
                let unknown_before = self.found.unknown.len();
                let edit = self.object(member.declared, members, member.last, cursor);
                let is_known = self.found.unknown.len() == unknown_before;
                match edit.is_change() && is_known && is_transformed() {
                    true => Edit::Keep,
                    false => edit,
                }
            }
            (Value::Array(declared), Value::Array(elements)) => {
                let edit = self.list(declared, elements, member, cursor);
                match edit.is_change() && is_transformed() {
                    true => Edit::Keep,
                    false => edit,
                }
            }
            _ if self
                .same
                .holds(member.declared, live, cursor, member.parent) =>
            {
                Edit::Keep
            }
            _ => Edit::Set(coerced(member.declared, cursor), Why::Change),
        }
    }

    /// What is declared where nothing is live.
    fn absent(&mut self, member: Member<'a>, cursor: Cursor<'a>) -> Edit {
        let is_hidden = cursor.is(Classes::DEPRECATED | Classes::NON_PUBLIC);
        if is_hidden {
            let is_known = member.last == Some(member.declared);
            let why = if is_known { Why::Resend } else { Why::Change };
            return Edit::Set(coerced(member.declared, cursor), why);
        }
        let is_default = |default: &Value| json::equal(member.declared, default);
        if cursor.shape().default.as_ref().is_some_and(is_default) {
            return Edit::Keep;
        }
        match member.declared {
            Value::Null => Edit::Keep,
            Value::Object(_) => match self.made(member.declared, member.last, cursor) {
                (value, Some(why)) => Edit::Set(value, why),
                (_, None) => Edit::Keep,
            },
            Value::Array(elements) if elements.is_empty() => Edit::Keep,
            Value::Array(elements) => {
                let last = member.last.and_then(Value::as_array);
                let (elements, why) = self.made_elements(elements, last, cursor);
                Edit::Set(Value::Array(elements), why)
            }
            Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                Edit::Set(coerced(member.declared, cursor), Why::Change)
            }
        }
    }

    /// A declared object as it is sent when there is nothing live, and why it would be sent.
    pub(crate) fn made(
        &mut self,
        declared: &'a Value,
        last: Option<&'a Value>,
        cursor: Cursor<'a>,
    ) -> (Value, Option<Why>) {
        static NOTHING: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
        let edit = self.object(declared, &NOTHING, last, cursor);
        let why = edit.why();
        let mut made = edit.apply(&Value::Object(Map::new())).unwrap_or_default();
        // What is the same as nothing is still part of what is declared.
        if let (Value::Object(made), Value::Object(declared)) = (&mut made, declared) {
            for (name, value) in declared {
                let below = cursor.member_or_anything(name);
                let is_sent =
                    !below.is(Classes::READ_ONLY | Classes::WRITE_ONLY | Classes::CREATE_ONLY);
                if is_sent
                    && !made.contains_key(name)
                    && !below.holds(Classes::WRITE_ONLY | Classes::FIXED)
                {
                    made.insert(name.clone(), coerced(value, below));
                }
            }
        }
        (made, why)
    }

    /// The elements of a list where none is live, and why they would be sent.
    fn made_elements(
        &mut self,
        declared: &'a [Value],
        last: Option<&'a Vec<Value>>,
        cursor: Cursor<'a>,
    ) -> (Vec<Value>, Why) {
        let element = cursor.element();
        let is_unseen =
            |value: &Value| value.is_object() && self.same.holds_nothing(value, element);
        let are_unseen = element.holds(Classes::WRITE_ONLY) && declared.iter().all(is_unseen);
        let mut made = Vec::with_capacity(declared.len());
        let mut why = if are_unseen { Why::Resend } else { Why::Change };
        for (index, value) in declared.iter().enumerate() {
            let last = last.and_then(|last| last.get(index));
            self.path.push_element(index, last.map(|_| index));
            if are_unseen {
                let (value, reason) = self.made(value, last, element);
                why = why.max(reason.unwrap_or(Why::Resend));
                made.push(value);
            } else {
                let before = self.found.mark();
                made.push(self.fresh(value, element));
                self.found.forget_replacements(before);
            }
            self.path.pop();
        }
        (made, why)
    }

    /// A value of which nothing exists yet, as it is sent. The create-only properties in it count as replaced.
    pub(crate) fn fresh(&mut self, declared: &'a Value, cursor: Cursor<'a>) -> Value {
        self.look_at_fresh(declared, cursor);
        coerced(declared, cursor)
    }

    pub(crate) fn look_at_fresh(&mut self, declared: &'a Value, cursor: Cursor<'a>) {
        if is_unknown(declared) {
            self.found.unknown.push(self.path.pointer());
            return;
        }
        if cursor.is(Classes::READ_ONLY) {
            if !is_hollow(declared) {
                let pointer = self.path.pointer();
                let violation = Violation::read_only(&pointer, false);
                self.found.errors.push(violation);
            }
            return;
        }
        if cursor.is(Classes::DEPRECATED) {
            self.warn(WarningCode::Deprecated);
        }
        if cursor.is(Classes::CREATE_ONLY) {
            self.replace(declared, None, cursor);
        }
        match declared {
            Value::Object(members) => {
                for (name, value) in members {
                    self.path.push_key(name);
                    match cursor.member(name) {
                        Some(below) => self.look_at_fresh(value, below),
                        None => self.not_a_property(name, cursor),
                    }
                    self.path.pop();
                }
            }
            Value::Array(elements) => {
                for (index, value) in elements.iter().enumerate() {
                    self.path.push_element(index, None);
                    self.look_at_fresh(value, cursor.element());
                    self.path.pop();
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn not_a_property(&mut self, name: &str, cursor: Cursor<'a>) {
        let pointer = self.path.pointer();
        let known = cursor.shape().member_names();
        let violation = Violation::not_a_property(cursor.type_name(), &pointer, name, known);
        self.found.errors.push(violation);
    }

    /// A value that AWS alone sets: declared as it is, or never to be satisfied.
    fn read_only(&mut self, member: Member<'a>, cursor: Cursor<'a>) {
        let is_same = match member.live {
            Some(live) => self
                .same
                .holds(member.declared, live, cursor, member.parent),
            None => is_hollow(member.declared) || is_unknown(member.declared),
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
        self.found.unknown.push(self.path.pointer());
        if cursor.is(Classes::CREATE_ONLY) && member.live.is_some() {
            self.warn(WarningCode::MayForceReplacement);
        }
        Edit::Set(member.declared.clone(), Why::Change)
    }

    fn write_only(&mut self, declared: &'a Value, cursor: Cursor<'a>) -> Edit {
        let secret = self.secret();
        if cursor.is(Classes::CREATE_ONLY) {
            self.fixed_secret(secret, declared, cursor);
            return Edit::Keep;
        }
        if cursor.is(Classes::CONDITIONAL_CREATE_ONLY) {
            return match secret {
                Secret::Same => Edit::Keep,
                Secret::Unknown => {
                    self.warn(WarningCode::NotComparable);
                    Edit::Keep
                }
                Secret::Changed => Edit::Set(coerced(declared, cursor), Why::Change),
            };
        }
        let is_unknown = holds_unknown(declared);
        if is_unknown {
            self.found.unknown.push(self.path.pointer());
        }
        let mut sent = without_fixed(declared, cursor).into_owned();
        let holds_changed = self.add_changed_below(declared, &mut sent, cursor);
        if is_hollow(&sent) && !is_hollow(declared) {
            return Edit::Keep;
        }
        let is_changed = secret != Secret::Same || holds_changed || is_unknown;
        let why = if is_changed { Why::Change } else { Why::Resend };
        Edit::Set(coerced(&sent, cursor), why)
    }

    /// Puts back what is conditionally create-only in a write-only value and changed, and looks at what is create-only
    /// in it. Tells whether something was put back.
    fn add_changed_below(
        &mut self,
        declared: &'a Value,
        sent: &mut Value,
        cursor: Cursor<'a>,
    ) -> bool {
        if !cursor.holds(Classes::FIXED) {
            return false;
        }
        let mut is_changed = false;
        match (declared, sent) {
            (Value::Object(members), Value::Object(sent)) => {
                for (name, value) in members {
                    let Some(below) = cursor.member(name) else {
                        continue;
                    };
                    self.path.push_key(name);
                    if below.is(Classes::CREATE_ONLY) {
                        let secret = self.secret();
                        self.fixed_secret(secret, value, below);
                    } else if below.is(Classes::CONDITIONAL_CREATE_ONLY) {
                        if self.secret() == Secret::Changed {
                            sent.insert(name.clone(), value.clone());
                            is_changed = true;
                        }
                    } else if let Some(sent) = sent.get_mut(name) {
                        is_changed |= self.add_changed_below(value, sent, below);
                    }
                    self.path.pop();
                }
            }
            (Value::Array(elements), Value::Array(sent)) => {
                for (index, (value, sent)) in elements.iter().zip(sent).enumerate() {
                    self.path.push_element(index, Some(index));
                    is_changed |= self.add_changed_below(value, sent, cursor.element());
                    self.path.pop();
                }
            }
            _ => {}
        }
        is_changed
    }

    /// A value that is both write-only and create-only is never sent again.
    fn fixed_secret(&mut self, secret: Secret, declared: &Value, cursor: Cursor<'a>) {
        match secret {
            Secret::Same => {}
            Secret::Unknown => self.warn(WarningCode::NotComparable),
            Secret::Changed => self.replace(declared, None, cursor),
        }
    }

    /// A value that is fixed by the creation: as declared, or only a replacement makes it so.
    fn create_only(&mut self, member: Member<'a>, cursor: Cursor<'a>) {
        if let (Value::Object(declared), Some(Value::Object(live))) = (member.declared, member.live)
            && !document::is_policy(member.declared)
            && cursor.transform().is_none()
        {
            for (name, value) in declared {
                let below = cursor.member_or_anything(name);
                let member = Member {
                    declared: value,
                    live: live.get(name).filter(|live| !live.is_null()),
                    last: member.last.and_then(|last| last.get(name)),
                    parent: member.declared,
                };
                self.path.push_key(name);
                self.member(member, below);
                self.path.pop();
            }
            return;
        }
        let is_same = match member.live {
            Some(live) => self
                .same
                .holds(member.declared, live, cursor, member.parent),
            None => self.was_created_with(member, cursor),
        };
        let has_changed_secret =
            || cursor.holds(Classes::WRITE_ONLY) && self.secrets_below() == Secret::Changed;
        if !is_same || has_changed_secret() {
            self.replace(member.declared, member.live, cursor);
        }
    }

    /// Whether a create-only value that no read shows is the one that is declared.
    fn was_created_with(&self, member: Member<'a>, cursor: Cursor<'a>) -> bool {
        let is_last = |last| {
            self.same
                .holds(member.declared, last, cursor, member.parent)
        };
        let is_hidden = cursor.is(Classes::DEPRECATED | Classes::NON_PUBLIC);
        match (self.last, is_hidden) {
            (Some(_), true) => is_hollow(member.declared) || member.last.is_some_and(is_last),
            _ => {
                self.same.holds_nothing(member.declared, cursor) || member.last.is_some_and(is_last)
            }
        }
    }

    /// What is live must go for what is declared, and cannot: it was fixed by the creation.
    fn replace_blocking(&mut self, live: &'a Value, cursor: Cursor<'a>) {
        if cursor.is(Classes::CREATE_ONLY) {
            return self.replace(&Value::Null, Some(live), cursor);
        }
        for (name, value) in live.as_object().into_iter().flatten() {
            let below = cursor.member_or_anything(name);
            if below.is(Classes::CREATE_ONLY) || below.holds(Classes::CREATE_ONLY) {
                self.path.push_key(name);
                self.replace_blocking(value, below);
                self.path.pop();
            }
        }
    }

    fn replace(&mut self, declared: &Value, live: Option<&Value>, cursor: Cursor<'a>) {
        let path = match cursor.create_only_path() {
            Some(path) => path.to_string(),
            None => format!("/properties{}", self.path.pattern()),
        };
        self.found.replace_paths.push(path);
        let change = Change::replacing(self.path.pointer(), live, declared, cursor);
        self.found.replacements.push(change);
    }

    /// Whether the write-only value at this place is the one that was last applied.
    fn secret(&self) -> Secret {
        let Some(last) = self.last else {
            return Secret::Unknown;
        };
        let known = self
            .path
            .last_pointer()
            .and_then(|at| last.digests.get(&at));
        match (known, self.digests.get(&self.path.pointer())) {
            (Some(known), Some(declared)) if known.key_id != declared.key_id => Secret::Unknown,
            (known, declared) if known == declared => Secret::Same,
            _ => Secret::Changed,
        }
    }

    /// The same for all write-only values below this place, whatever the order of lists.
    fn secrets_below(&self) -> Secret {
        let Some(last) = self.last else {
            return Secret::Unknown;
        };
        let below = |digests: &BTreeMap<String, Digest>, at: &str| {
            let prefix = format!("{at}/");
            let mut found: Vec<String> = digests
                .range(prefix.clone()..)
                .take_while(|(place, _)| place.starts_with(&prefix))
                .map(|(_, digest)| format!("{}:{}", digest.key_id, digest.hmac))
                .collect();
            found.sort_unstable();
            found
        };
        let known = self.path.last_pointer().map(|at| below(&last.digests, &at));
        let declared = below(self.digests, &self.path.pointer());
        match known.is_some_and(|known| known == declared) {
            true => Secret::Same,
            false => Secret::Changed,
        }
    }

    pub(crate) fn warn(&mut self, code: WarningCode) {
        let pointer = self.path.pointer();
        self.found.warnings.push(Warning::new(code, pointer));
    }
}

/// Whether an object that is declared and not live, and says nothing but defaults, says something by being there, as a
/// branch of a union does: the schema knows it as an alternative, or it is empty and all that is declared in place of
/// all that is live.
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
        // Defaults are the same as nothing, but not as another branch.
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
