//! Declared values without a live counterpart.

use std::sync::LazyLock;

use serde_json::{Map, Value};
use ucp_model::json;
use ucp_schema::{Classes, Cursor, Violation, is_unknown};

use crate::edit::{Edit, Why};
use crate::merge::{Member, Merge};
use crate::same::{coerced, is_hollow};
use crate::secrets::Secret;
use crate::tags;
use crate::warning::WarningCode;

impl<'a> Merge<'a> {
    /// The edit for a declared value without a live counterpart.
    pub(crate) fn absent(&mut self, member: Member<'a>, cursor: Cursor<'a>) -> Edit {
        let is_hidden = cursor.is(Classes::DEPRECATED | Classes::NON_PUBLIC);
        if is_hidden {
            return self.hidden(member, cursor);
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
            Value::Array(elements) if !elements.iter().any(tags::counts(cursor)) => Edit::Keep,
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

    /// The edit for a declared value of a deprecated or undocumented property, which reads may omit.
    fn hidden(&self, member: Member<'a>, cursor: Cursor<'a>) -> Edit {
        let is_last = |last: &Value| {
            self.same
                .holds(member.declared, last, cursor, member.parent)
        };
        let has_same_secrets =
            || !cursor.holds(Classes::WRITE_ONLY) || self.secrets_below(cursor) == Secret::Same;
        let is_known = member.last.is_some_and(is_last) && has_same_secrets();
        let why = if is_known { Why::Resend } else { Why::Change };
        if is_known && cursor.is(Classes::CONDITIONAL_CREATE_ONLY) {
            Edit::Keep
        } else {
            Edit::Set(coerced(member.declared, cursor), why)
        }
    }

    /// Returns a declared object without a live counterpart as it is sent, and the reason to send it, if any.
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
        // Values equivalent to absence are still part of the declaration.
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

    /// Returns the elements of a list without live elements as they are sent, and the reason to send them.
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
        let counts = tags::counts(cursor);
        for (index, value) in declared
            .iter()
            .enumerate()
            .filter(|(_, value)| counts(value))
        {
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

    /// Returns a value that is entirely new as it is sent. The create-only properties in it count as replaced.
    pub(crate) fn fresh(&mut self, declared: &'a Value, cursor: Cursor<'a>) -> Value {
        self.look_at_fresh(declared, cursor);
        coerced(declared, cursor)
    }

    pub(crate) fn look_at_fresh(&mut self, declared: &'a Value, cursor: Cursor<'a>) {
        if is_unknown(declared) {
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
        self.warn_of_reserved(declared, cursor);
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
}
