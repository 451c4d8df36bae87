//! Create-only values: either they are as declared, or the change requires a replacement.

use serde_json::Value;
use ucp_model::json;
use ucp_schema::{Classes, Cursor};

use crate::change::Change;
use crate::document;
use crate::edit::Edit;
use crate::merge::{Member, Merge};
use crate::same::is_hollow;
use crate::secrets::Secret;

impl<'a> Merge<'a> {
    /// The edit for a create-only value. Records a replacement if it differs from the declaration.
    pub(crate) fn create_only(&mut self, member: Member<'a>, cursor: Cursor<'a>) -> Edit {
        if let (Value::Object(declared), Some(Value::Object(live))) = (member.declared, member.live)
            && !document::is_policy(member.declared)
            && cursor.transform().is_none()
        {
            // Only unknown values result in an edit here.
            let mut edits = Vec::new();
            for (name, value) in declared {
                let below = cursor.member_or_anything(name);
                let member = Member {
                    declared: value,
                    live: live.get(name).filter(|live| !live.is_null()),
                    last: member.last.and_then(|last| last.get(name)),
                    parent: member.declared,
                };
                self.path.push_key(name);
                let edit = self.member(member, below);
                self.path.pop();
                if !edit.is_keep() {
                    edits.push((name.clone(), edit));
                }
            }
            return Edit::members(edits);
        }
        let is_same = match member.live {
            Some(live) => self
                .same
                .holds(member.declared, live, cursor, member.parent),
            None => self.was_created_with(member, cursor),
        };
        let is_same = is_same || self.is_as_shown(member, cursor);
        let has_changed_secret =
            || cursor.holds(Classes::WRITE_ONLY) && self.secrets_below(cursor) == Secret::Changed;
        if !is_same || has_changed_secret() {
            self.replace(member.declared, member.live, cursor);
        }
        Edit::Keep
    }

    /// Returns whether a create-only value is declared as in the last put, and AWS shows it as in the read that followed: in a form
    /// of its own from the start. What it shows otherwise now is another resource.
    fn is_as_shown(&self, member: Member<'a>, cursor: Cursor<'a>) -> bool {
        let shown = self
            .last
            .and_then(|last| last.shown.get(&self.path.pointer()));
        let (Some(shown), Some(live), Some(last)) = (shown, member.live, member.last) else {
            return false;
        };
        let holds = |one, other| (self.same).holds(one, other, cursor, member.parent);
        // AWS returns sets in any order.
        let is_shown_so = json::equal(live, shown) || holds(shown, live) && holds(live, shown);
        is_shown_so && holds(member.declared, last)
    }

    /// Returns whether a create-only value that no read returns is as declared.
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

    /// Records a replacement for create-only values that would have to be removed.
    pub(crate) fn replace_blocking(&mut self, live: &'a Value, cursor: Cursor<'a>) {
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

    pub(crate) fn replace(&mut self, declared: &Value, live: Option<&Value>, cursor: Cursor<'a>) {
        let path = match cursor.create_only_path() {
            Some(path) => path.to_string(),
            None => format!("/properties{}", self.path.pattern()),
        };
        self.found.replace_paths.push(path);
        let change = Change::replacing(self.path.pointer(), live, declared, cursor);
        self.found.replacements.push(change);
    }
}
