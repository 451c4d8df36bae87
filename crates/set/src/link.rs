use std::fmt;

use serde_json::Value;
use ucp_model::pointer::PointerBuf;
use ucp_model::{Identifier, ReferenceId};
use ucp_schema::unknown;

use crate::expression::Address;

/// A linked reference: the tracking id of a resource, and a place in its live properties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The reference of the resource.
    pub reference: ReferenceId,
    /// The place; `None` for the primary identifier.
    pub pointer: Option<PointerBuf>,
}

impl Link {
    /// Reads an address that has been linked.
    pub(crate) fn of(address: &Address) -> Option<Self> {
        Some(Self {
            reference: address.name.parse().ok()?,
            pointer: address.pointer.clone(),
        })
    }

    /// Returns a text that is the same for every reference to this value.
    pub fn key(&self) -> String {
        let reference = self.reference.key();
        match &self.pointer {
            Some(pointer) => format!("{reference}#{pointer}"),
            None => reference,
        }
    }

    /// Returns the value in a resource with this identifier and these live properties; `None` if it has none there.
    pub fn value_in(&self, identifier: &Identifier, live: Option<&Value>) -> Option<Value> {
        match &self.pointer {
            None => Some(Value::from(identifier.as_str())),
            Some(pointer) => live?
                .pointer(pointer.as_str())
                .filter(|value| !value.is_null())
                .cloned(),
        }
    }

    /// Returns the value in a resource that is planned to have this identifier and these properties. It is unknown if
    /// AWS may still assign it, and `None` if `is_settled`, since nothing changes there, and there is none.
    pub fn value_planned(
        &self,
        identifier: Option<&Identifier>,
        planned: Option<&Value>,
        is_settled: bool,
    ) -> Option<Value> {
        let found = match &self.pointer {
            None => identifier.map(|identifier| Value::from(identifier.as_str())),
            Some(pointer) => planned
                .and_then(|planned| planned.pointer(pointer.as_str()))
                .filter(|value| !value.is_null())
                .cloned(),
        };
        found.or_else(|| (!is_settled).then(unknown))
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}'", self.reference.alias)?;
        match &self.pointer {
            Some(pointer) => write!(f, " at {pointer}"),
            None => f.write_str(", its identifier"),
        }
    }
}
