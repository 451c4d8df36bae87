//! A resource that declarations refer to, as requests and workers come to know it.

use serde_json::Value;
use ucp_model::{Identifier, Reference, Scope, Timestamp, TypeName};
use ucp_schema::ResourceSchema;

use crate::link::Link;

/// A resource that declarations refer to.
#[derive(Clone, Debug)]
pub struct Referent {
    /// Its identifier.
    pub identifier: Identifier,
    /// Its properties, as far as they were read.
    pub live: Option<Value>,
}

impl Referent {
    /// Returns the value that a link to it stands for, if it has one there.
    pub fn value(&self, link: &Link) -> Option<Value> {
        link.value_in(&self.identifier, self.live.as_ref())
    }
}

/// What a reference tells of its resource, before AWS is asked.
#[derive(Debug)]
pub enum RecordedReferent {
    /// It stands for none.
    Nothing,
    /// What was seen last is enough.
    Known(Referent),
    /// It has to be read.
    Unread(Box<UnreadReferent>),
}

/// A resource that has to be read.
#[derive(Debug)]
pub struct UnreadReferent {
    /// Its account and region.
    pub scope: Scope,
    /// Its type.
    pub type_name: TypeName,
    /// Its identifier.
    pub identifier: Identifier,
    /// What stands in for its properties if nobody can read it.
    unread_model: Option<Value>,
}

impl RecordedReferent {
    /// Tells what a reference tells. `is_enough` is asked of what was seen last, and when that was.
    pub fn of(
        reference: Option<Reference>,
        is_enough: impl FnOnce(&Referent, Option<Timestamp>) -> bool,
    ) -> Self {
        let Some(mut reference) = reference else {
            return Self::Nothing;
        };
        let Some(identifier) = reference.identifier.take() else {
            return Self::Nothing;
        };
        let seen = Referent {
            identifier,
            live: reference.observed.take(),
        };
        if is_enough(&seen, reference.observed_at) {
            return Self::Known(seen);
        }
        // What was observed stands in only if nothing was put.
        let unread_model = reference.unread_model().cloned().or(seen.live);
        Self::Unread(Box::new(UnreadReferent {
            scope: reference.scope,
            type_name: reference.id.type_name,
            identifier: seen.identifier,
            unread_model,
        }))
    }
}

impl UnreadReferent {
    /// Returns it as far as it is known without a read: its identifier, and what stands in for the properties of a type that
    /// nobody can read.
    pub fn without_read(self, schema: Option<&ResourceSchema>) -> Referent {
        let is_unreadable = schema.is_some_and(|schema| !schema.handlers().read);
        Referent {
            identifier: self.identifier,
            live: self.unread_model.filter(|_| is_unreadable),
        }
    }

    /// Returns it with the properties that a read has found.
    pub fn with(self, found: &Value, schema: &ResourceSchema) -> Referent {
        Referent {
            identifier: self.identifier,
            live: Some(schema.shown(found)),
        }
    }
}
