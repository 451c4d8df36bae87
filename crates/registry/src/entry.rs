use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

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
        /// It is read again from the store once nobody has it.
        schema: Weak<ResourceSchema>,
        /// Whether it is the embedded one, since the registry has not shown it.
        is_embedded: bool,
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

impl Known {
    pub(crate) fn is_embedded(&self) -> bool {
        match self {
            Self::Schema { is_embedded, .. } => *is_embedded,
            Self::Nothing { .. } => false,
        }
    }
}

impl Entry {
    pub(crate) fn known(&self) -> Option<Known> {
        self.lock().clone()
    }

    /// Notes a schema, whether it is the embedded one, and when to refresh it.
    pub(crate) fn set_schema(
        &self,
        schema: &Arc<ResourceSchema>,
        is_embedded: bool,
        refresh_at: Timestamp,
    ) {
        self.set(Known::Schema {
            schema: Arc::downgrade(schema),
            is_embedded,
            refresh_at,
        });
    }

    pub(crate) fn set(&self, known: Known) {
        *self.lock() = Some(known);
    }

    fn lock(&self) -> MutexGuard<'_, Option<Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
