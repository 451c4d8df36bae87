use std::collections::BTreeMap;

use crate::{ETag, GroupId, OperationId, Timestamp};

/// A resource group: the deployment scope, in which aliases are unique per resource type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceGroup {
    /// Its id, in the casing of the first write.
    pub id: GroupId,
    /// The location the caller gave, `global` by convention.
    pub location: String,
    /// ARM tags of the group itself; they never reach AWS.
    pub tags: BTreeMap<String, String>,
    /// AWS tags that the resources put into the group get by default.
    pub default_tags: BTreeMap<String, String>,
    /// The operation that deletes it; meanwhile nothing else may change it or what it tracks.
    pub deletion: Option<OperationId>,
    /// When it was first written.
    pub created_at: Timestamp,
    /// When it was last written.
    pub updated_at: Timestamp,
    /// Rises by one with each write.
    pub revision: u64,
}

impl ResourceGroup {
    /// The tag of its latest write.
    pub fn etag(&self) -> ETag {
        ETag::of_revision(self.created_at, self.revision)
    }
}
