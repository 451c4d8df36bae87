use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::{ETag, PlaneId, Timestamp};

/// A plane as a resource. What lies below it does not need it to exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plane {
    /// Its id, in the casing of the first write.
    pub id: PlaneId,
    /// The location the caller gave, `global` by convention.
    pub location: String,
    /// ARM tags.
    pub tags: BTreeMap<String, String>,
    /// The plane's settings, which may be secret.
    pub properties: Map<String, Value>,
    /// When it was first written.
    pub created_at: Timestamp,
    /// When it was last written.
    pub updated_at: Timestamp,
    /// Rises by one with each write.
    pub revision: u64,
}

impl Plane {
    /// The tag of its latest write.
    pub fn etag(&self) -> ETag {
        ETag::of_revision(self.created_at, self.revision)
    }
}
