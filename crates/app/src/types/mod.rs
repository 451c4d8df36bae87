//! The types that requests name, and what the configuration says of their declarations.

pub(crate) mod default_tags;
pub(crate) mod regions;
pub(crate) mod requested;
pub(crate) mod resource_types;

use std::sync::Arc;

use ucp_model::DefaultTags;
use ucp_schema::ResourceTypes;

pub use self::regions::{InvalidRegion, Regions};
pub use self::resource_types::ResourceProvider;
use crate::UntrackedAlias;

/// The types that requests name, and what the configuration says of their declarations.
pub struct TypeCases {
    pub(crate) source: Arc<dyn ResourceTypes>,
    /// The regions that requests may name.
    pub(crate) regions: Regions,
    pub(crate) default_tags: DefaultTags,
    /// What to do with an alias without `trackedBy`.
    pub(crate) untracked_alias: UntrackedAlias,
}
