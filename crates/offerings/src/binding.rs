use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use serde_json::Value;

use crate::resource::Resource;

/// What all bindings of an offering have in common.
#[derive(Clone, Debug)]
pub struct Binding {
    pub(crate) is_rotatable: bool,
    pub(crate) requires_app: bool,
    pub(crate) expires_after: Option<Duration>,
    pub(crate) renew_after: Option<Duration>,
    pub(crate) has_resources: bool,
    pub(crate) randoms: BTreeSet<String>,
}

impl Binding {
    /// Returns whether a new binding may take the place of an older one.
    pub fn is_rotatable(&self) -> bool {
        self.is_rotatable
    }

    /// Returns whether only an app can be bound.
    pub fn requires_app(&self) -> bool {
        self.requires_app
    }

    /// Returns how long a binding is valid, if it expires.
    pub fn expires_after(&self) -> Option<Duration> {
        self.expires_after
    }

    /// Returns how old a binding is when it should be renewed.
    pub fn renew_after(&self) -> Option<Duration> {
        self.renew_after
    }

    /// Returns whether a binding has resources of its own.
    pub fn has_resources(&self) -> bool {
        self.has_resources
    }

    /// Returns the names of the random texts of a binding. Those that an instance has too are not among them.
    pub fn randoms(&self) -> &BTreeSet<String> {
        &self.randoms
    }
}

/// What a binding declares, and what it tells once that stands. Values may be expressions of sets.
#[derive(Clone, Default, PartialEq)]
pub struct BoundSet {
    /// Its resources.
    pub resources: Vec<Resource>,
    /// The credentials.
    pub credentials: Option<Value>,
    /// The endpoints.
    pub endpoints: Option<Value>,
}

impl fmt::Debug for BoundSet {
    /// Formats it without the credentials, which are secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoundSet")
            .field("resources", &self.resources)
            .finish_non_exhaustive()
    }
}
