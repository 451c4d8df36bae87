//! Databases with their tables. They are migrated once in a process, and copied; who has one gives it back.

use std::path::PathBuf;

use sqlx::Connection as _;
use tempfile::TempDir;
use tokio::sync::OnceCell;

use super::pool::Pool;
use super::server::{EMPTY, Server, clear};
use super::{TestDatabase, memory};
use crate::{Sql, migrations};

/// Returns a database with its tables and without rows; `None` if there is no Postgres. For tests that leave the tables
/// as they are.
pub async fn migrated_database() -> Option<TestDatabase> {
    static TEMPLATE: OnceCell<String> = OnceCell::const_new();
    static POOL: Pool = Pool::new();
    let server = super::server().await?;
    if server.outlives_us() {
        // A template would be left behind, and so would a pool.
        return super::database().await;
    }
    let name = match POOL.take() {
        Some(used) => emptied(server, &used).await,
        None => {
            let template = TEMPLATE.get_or_init(|| migrated(server)).await;
            server.create_database(template).await
        }
    };
    Some(TestDatabase::new(server, name, Some(&POOL)))
}

/// Creates a database, migrates it and closes it.
async fn migrated(server: &Server) -> String {
    let name = server.create_database(EMPTY).await;
    let mut connection = server.connect_to(&name).await;
    let migrator = migrations::postgres();
    let migrated = migrator.run_direct(None, &mut connection, false);
    migrated.await.unwrap();
    connection.close().await.unwrap();
    name
}

/// Removes all rows of a database, and everybody who is still connected. It gets another name, under which none of them
/// comes back.
async fn emptied(server: &Server, used: &str) -> String {
    let name = server.rename_database(used).await;
    clear(&mut server.connect_to(&name).await).await;
    name
}

/// A folder with a SQLite database that has its tables.
#[derive(Debug)]
pub struct SqliteFolder(TempDir);

impl SqliteFolder {
    /// Creates the folder and the database.
    pub async fn create() -> Self {
        static TEMPLATE: OnceCell<Vec<u8>> = OnceCell::const_new();
        let migrate = async || {
            let folder = Self(memory::folder("ucp-sqlite-"));
            let store = Sql::open_sqlite(folder.database()).await.unwrap();
            store.close().await;
            std::fs::read(folder.database()).unwrap()
        };
        let template = TEMPLATE.get_or_init(migrate).await;
        let created = Self(memory::folder("ucp-sqlite-"));
        std::fs::write(created.database(), template).unwrap();
        created
    }

    /// Returns the path of the database.
    pub fn database(&self) -> PathBuf {
        self.0.path().join("ucp.db")
    }

    /// Returns the URL of the database.
    pub fn url(&self) -> String {
        format!("sqlite://{}", self.database().display())
    }
}
