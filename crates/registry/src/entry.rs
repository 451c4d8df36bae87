use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ucp_model::{Timestamp, TypeName};
use ucp_schema::{ResourceSchema, UnknownType};

/// What this process remembers of one type in one account and region.
#[derive(Debug, Default)]
pub(crate) struct Entry {
    known: Mutex<Option<Known>>,
    /// Held by the one who asks the store and the registry.
    pub(crate) flight: Arc<tokio::sync::Mutex<()>>,
}

/// What is known of a type.
#[derive(Clone, Debug)]
pub(crate) enum Known {
    /// Its schema.
    Schema {
        schema: Arc<ResourceSchema>,
        /// From when on it is to be looked up anew.
        refresh_at: Timestamp,
    },
    /// That there is none.
    Nothing {
        /// The name that was asked for: another casing may be the right one.
        asked: TypeName,
        why: UnknownType,
        /// How long that is believed.
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
