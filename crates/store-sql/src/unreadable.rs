use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use ucp_store::Error;

use crate::database::Row;

/// The number of reasons that are remembered.
const MAX: usize = 1_000;

/// The operations that could not be read, so that each is logged once. They are of a later version, or damaged. Those
/// that are sealed under a key which this process does not have are logged once for each key.
#[derive(Debug, Default)]
pub(crate) struct Unreadable {
    reasons: Mutex<BTreeSet<String>>,
}

impl Unreadable {
    /// Logs why `row` cannot be read, unless that was done before.
    pub(crate) fn note(&self, row: &Row, error: &Error) {
        let id = row.get::<&str>("id").unwrap_or("unknown");
        if let Error::OtherKey { sealed_under, .. } = error {
            if self.is_new(sealed_under) {
                tracing::warn!(%error, "operations wait for a process that has their encryption key");
            }
        } else if self.is_new(id) {
            tracing::error!(operation.id = id, %error, "an operation cannot be read");
        }
    }

    fn is_new(&self, reason: &str) -> bool {
        let mut reasons = self.reasons.lock().unwrap_or_else(PoisonError::into_inner);
        if reasons.len() >= MAX {
            reasons.clear();
        }
        reasons.insert(reason.to_owned())
    }
}
