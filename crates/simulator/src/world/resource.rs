use std::sync::Arc;

use serde_json::Value;
use ucp_model::Timestamp;

use crate::resource_type::ResourceType;

/// Type name and [key](ResourceType::key) of the identifier.
pub(super) type ResourceKey = (String, String);

/// An existing resource.
#[derive(Clone)]
pub(super) struct Resource {
    pub(super) resource_type: Arc<ResourceType>,
    /// All properties, including write-only ones.
    pub(super) model: Value,
    pub(super) changed_at: Timestamp,
}

impl Resource {
    /// Returns its own properties without write-only ones.
    pub(super) fn visible(&self) -> Value {
        self.resource_type.schema.without_write_only(&self.model)
    }
}
