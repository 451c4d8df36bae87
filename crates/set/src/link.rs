use std::fmt;

use serde_json::Value;
use ucp_model::pointer::PointerBuf;
use ucp_model::{Identifier, ReferenceId};

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
