use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use ucp_store::Error;

use crate::database::Row;

/// The number of rows that are remembered.
const MAX: usize = 1_000;

/// The operations that could not be read, so that each is logged once. They are of a later version, or damaged.
#[derive(Debug, Default)]
pub(crate) struct Unreadable {
    ids: Mutex<BTreeSet<String>>,
}

impl Unreadable {
    /// Logs why `row` cannot be read, unless that was done before.
    pub(crate) fn note(&self, row: &Row, error: &Error) {
        let id = row.get::<&str>("id").unwrap_or("unknown");
        let mut ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        if ids.len() >= MAX {
            ids.clear();
        }
        if ids.insert(id.to_owned()) {
            tracing::error!(operation.id = id, %error, "an operation cannot be read");
        }
    }
}
