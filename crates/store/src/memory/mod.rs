//! The in-memory reference engine: one lock and ordered maps. Nothing outlives the process.

mod acceptance;
mod audit_events;
mod cancellation;
mod credentials;
mod groups;
mod kept_plans;
mod leases;
mod leftovers;
mod operations;
mod planes;
mod rates;
mod refactors;
mod references;
mod register;
mod role_assignments;
mod sealed;
mod service_broker;
mod tables;
mod tokens;
mod track_records;
mod type_schemas;
mod watches;

use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use self::tables::Tables;
use crate::{Error, Reachable};

/// A store without persistence, for tests and as a readable model of the other engines.
#[derive(Debug, Default)]
pub struct Memory {
    tables: Mutex<Tables>,
}

impl Memory {
    /// Creates an empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ignores poisoning: every method changes the tables only after its last check, so a panic leaves no partial
    /// change.
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
