//! Databases for processes.

use ucp_store_sql::testing::{SqliteFolder, migrated_database};

/// An engine that processes are served from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Engine {
    Sqlite,
    Postgres,
}

/// Into how many tests the kills on an engine are divided.
pub(super) const TENTHS: usize = 10;

/// Makes ten tests for each engine, each of which calls `kill_everywhere(engine, tenth)`. A run kills at a half of the
/// points, and with `UCP_MISHAPS=all` at each.
macro_rules! tenths {
    ($sqlite:ident, $postgres:ident) => {
        tenths! { $sqlite Sqlite: tenth_1 0 tenth_2 1 tenth_3 2 tenth_4 3 tenth_5 4
            tenth_6 5 tenth_7 6 tenth_8 7 tenth_9 8 tenth_10 9 }
        tenths! { $postgres Postgres: tenth_1 0 tenth_2 1 tenth_3 2 tenth_4 3 tenth_5 4
            tenth_6 5 tenth_7 6 tenth_8 7 tenth_9 8 tenth_10 9 }
    };
    ($name:ident $engine:ident: $($test:ident $tenth:literal)+) => {
        mod $name {
            $(
                #[tokio::test(flavor = "multi_thread")]
                async fn $test() {
                    super::kill_everywhere(super::Engine::$engine, $tenth).await;
                }
            )+
        }
    };
}
pub(super) use tenths;

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
