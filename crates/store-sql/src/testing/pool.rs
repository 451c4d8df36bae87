//! Databases that wait for their next test.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Databases that tests have given back: to create one and to drop it takes longer than to remove a few rows.
#[derive(Debug)]
pub(super) struct Pool(Mutex<VecDeque<String>>);

impl Pool {
    pub(super) const fn new() -> Self {
        Self(Mutex::new(VecDeque::new()))
    }

    /// Takes back a database. What it holds is removed when the next test asks for one: connections of this one may
    /// still be open.
    pub(super) fn take_back(&self, name: &mut String) {
        let mut pool = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pool.push_back(std::mem::take(name));
    }

    /// Hands out the one that was given back first, as it was: what was removed leaves room in its tables, so all take turns.
    pub(super) fn take(&self) -> Option<String> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front()
    }
}
