//! Databases with their tables. They are migrated once in a process, and copied.

use std::path::{Path, PathBuf};

use sqlx::Connection as _;
use tempfile::TempDir;
use tokio::sync::OnceCell;

use super::TestDatabase;
use super::server::EMPTY;
use crate::{Sql, migrations};

/// A folder that needs no disk, where there is one: a store waits for the disk at each commit.
const MEMORY: &str = "/dev/shm";

/// Creates a database with its tables; `None` if there is no Postgres.
pub async fn migrated_database() -> Option<TestDatabase> {
    static TEMPLATE: OnceCell<String> = OnceCell::const_new();
    let server = super::server().await?;
    if server.outlives_us() {
        // A template would be left behind.
        return super::database().await;
    }
    let migrate = async || {
        let name = server.create_database(EMPTY).await;
        let mut connection = server.connect_to(&name).await;
        let migrator = migrations::postgres();
        let migrated = migrator.run_direct(None, &mut connection, false);
        migrated.await.unwrap();
        connection.close().await.unwrap();
        name
    };
    let template = TEMPLATE.get_or_init(migrate).await;
    Some(TestDatabase::new(
        server,
        server.create_database(template).await,
    ))
}

/// A folder with a SQLite database that has its tables.
#[derive(Debug)]
pub struct SqliteFolder(TempDir);

impl SqliteFolder {
    /// Creates the folder and the database.
    pub async fn create() -> Self {
        static TEMPLATE: OnceCell<Vec<u8>> = OnceCell::const_new();
        let migrate = async || {
            let folder = Self(folder());
            let store = Sql::open_sqlite(folder.database()).await.unwrap();
            store.close().await;
            std::fs::read(folder.database()).unwrap()
        };
        let template = TEMPLATE.get_or_init(migrate).await;
        let created = Self(folder());
        std::fs::write(created.database(), template).unwrap();
        created
    }

    /// Returns the path of the database.
    pub fn database(&self) -> PathBuf {
        self.0.path().join("ucp.db")
    }
}

fn folder() -> TempDir {
    match Path::new(MEMORY).is_dir() {
        true => TempDir::new_in(MEMORY).unwrap(),
        false => TempDir::new().unwrap(),
    }
}
