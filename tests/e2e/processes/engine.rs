//! Databases for processes.

use ucp_store_sql::testing::{SqliteFolder, migrated_database};

/// An engine that processes are served from.
#[derive(Clone, Copy, Debug, Hash)]
pub(super) enum Engine {
    Sqlite,
    Postgres,
}

/// Keeps a database.
pub(super) type Guard = Box<dyn Send>;

impl Engine {
    /// Returns the URL of a database that has its tables and no rows; `None` if there is no Postgres.
    pub(super) async fn fresh(self) -> Option<(String, Guard)> {
        Some(match self {
            Engine::Sqlite => {
                let folder = SqliteFolder::create().await;
                (folder.url(), Box::new(folder))
            }
            Engine::Postgres => {
                let database = migrated_database().await?;
                (database.url(), Box::new(database))
            }
        })
    }
}
