use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Link;

/// What a set declares, as it waits to be applied. It has secrets, so it is sealed wherever it is stored.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Declarations {
    /// The members, in the order in which they are applied; `None` for a delete, and for one with nothing to do.
    pub members: Vec<Option<DeclaredMember>>,
    /// The outputs, linked.
    #[serde(default)]
    pub outputs: Map<String, Value>,
    /// What the members refer to that the set does not change, as it was planned: by [`Link::key`]. Without a plan there is nothing.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pinned: BTreeMap<String, Value>,
}

impl Declarations {
    /// Returns the value of a reference that a member takes whatever stands there by now.
    pub fn pinned(&self, link: &Link) -> Option<&Value> {
        // Most sets refer to nothing outside, or have no plan.
        (!self.pinned.is_empty())
            .then(|| self.pinned.get(&link.key()))
            .flatten()
    }
}

/// What a set declares of one resource.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeclaredMember {
    /// The properties, linked.
    pub properties: Map<String, Value>,
    /// The tags that it has besides those declared.
    #[serde(default)]
    pub default_tags: BTreeMap<String, String>,
}

impl fmt::Debug for Declarations {
    /// Formats it without the properties, which may contain write-only values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let members = self.members.len();
        write!(f, "Declarations({members} members)")
    }
}

impl fmt::Debug for DeclaredMember {
    /// Formats it without the properties.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeclaredMember").finish_non_exhaustive()
    }
}
