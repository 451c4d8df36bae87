use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ucp_model::{Timestamp, TypeName};
use ucp_schema::{ResourceSchema, UnknownType};

/// The cache entry of one type in one account and region.
#[derive(Debug, Default)]
pub(crate) struct Entry {
    known: Mutex<Option<Known>>,
    /// Held by the task that queries the store and the registry.
    pub(crate) flight: Arc<tokio::sync::Mutex<()>>,
}

/// The cached result for a type.
#[derive(Clone, Debug)]
pub(crate) enum Known {
    /// The type has a schema.
    Schema {
        schema: Arc<ResourceSchema>,
        /// When to refresh it.
        refresh_at: Timestamp,
    },
    /// The type has no usable schema.
    Nothing {
        /// The name as requested: another casing may be the right one.
        asked: TypeName,
        why: UnknownType,
        /// When this result expires.
        until: Timestamp,
    },
}

impl Entry {
    pub(crate) fn known(&self) -> Option<Known> {
        self.lock().clone()
    }

    pub(crate) fn set(&self, known: Known) {
        *self.lock() = Some(known);
    }

    fn lock(&self) -> MutexGuard<'_, Option<Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
