//! The in-memory reference engine: one lock, ordered maps, and nothing that outlives the process.

mod credentials;
mod groups;
mod leases;
mod operations;
mod planes;
mod references;
mod sealed;
mod tables;
mod type_schemas;

use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use self::tables::Tables;
use crate::{Error, Reachable};

/// A store that lives and dies with the process; for tests, and to read what the others do.
#[derive(Debug, Default)]
pub struct Memory {
    tables: Mutex<Tables>,
}

impl Memory {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Every method changes the tables only after its last check, so a panic leaves nothing half done.
    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Reachable for Memory {
    async fn ping(&self) -> Result<(), Error> {
        Ok(())
    }
}
