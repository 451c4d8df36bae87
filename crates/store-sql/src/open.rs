use std::fs::{File, TryLockError};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sqlx::SqlitePool;
use sqlx::migrate::MigrateError;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use ucp_store::{Error, Leases};

use crate::Sql;
use crate::connections::Connections;
use crate::database::Database;
use crate::gathering::Gathering;
use crate::migrations;
use crate::nudges::Nudges;
use crate::sealed_json::Missing;
use crate::servers::Servers;
use crate::unreadable::Unreadable;

/// The number of connections to Postgres for transactions.
const WRITERS: usize = 10;
/// The number of connections that read from Postgres outside transactions.
const READERS: usize = 10;
/// The number of connections that read from SQLite.
const SQLITE_READERS: u32 = 4;
/// How many aliases one statement reads. Their rows may be large.
const ALIASES_AT_ONCE: usize = 16;
/// How many plans one statement writes. Large ones have a statement of their own.
const PLANS_AT_ONCE: usize = 64;
/// The mode of a file that only its owner reads and writes.
const OF_OWNER: u32 = 0o600;

/// Errors of opening a store.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has the SQLite database open.
    #[error("another process has {0} open")]
    Locked(PathBuf),
    /// The lock file beside the SQLite database cannot be created or locked.
    #[error("cannot lock {0}")]
    Lock(PathBuf, #[source] std::io::Error),
    /// A file of the SQLite database cannot be created, or be kept from other users.
    #[error("cannot keep {0} from other users: its mode must be 600")]
    Protect(PathBuf, #[source] std::io::Error),
    /// The database cannot be reached or opened.
    #[error("cannot open the database")]
    Connect(#[source] sqlx::Error),
    /// The database can be reached, and not in the way that TLS must be spoken with it.
    #[error(
        "the database cannot be spoken with over TLS; sslmode and sslrootcert in its URL say whether and how TLS is spoken \
         (docs/how-to/postgres.md)"
    )]
    Tls(#[source] sqlx::Error),
    /// A database migration failed.
    #[error("cannot migrate the database")]
    Migrate(#[source] MigrateError),
    /// The URL to listen at leads to a pooler.
    #[error("a pooler cannot be listened through; give the URL of the database itself")]
    ListensThroughPooler,
    /// The leases of the previous process cannot be dropped.
    #[error("cannot take over the leases")]
    TakeOver(#[source] Error),
}

impl OpenError {
    fn of(error: sqlx::Error) -> Self {
        match error {
            error @ sqlx::Error::Tls(_) => OpenError::Tls(error),
            error => OpenError::Connect(error),
        }
    }
}

impl Sql {
    /// Opens the SQLite database at `path` for this process alone, and creates or migrates it as needed. A lock on the
    /// file `{path}.lock` keeps other processes out, and the files' modes keep other users out. All leases are dropped,
    /// since no other process can hold one.
    pub async fn open_sqlite(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let path = path.as_ref();
        let lock = lock(path)?;
        protect(path)?;
        let options = sqlite(path);
        let writer = pool(1).connect_with(options.clone()).await;
        let writer = writer.map_err(OpenError::Connect)?;
        migrations::sqlite()
            .run(&writer)
            .await
            .map_err(OpenError::Migrate)?;
        let readers = readers(options).await?;

        let store = Self {
            database: Database::Sqlite {
                writer,
                readers,
                cipher: Arc::new(Missing),
            },
            nudges: None,
            unreadable: Unreadable::default(),
            new_plans: Gathering::new(PLANS_AT_ONCE),
            asked_aliases: Gathering::new(ALIASES_AT_ONCE),
            _lock: Some(lock),
        };
        store
            .take_over_leases()
            .await
            .map_err(OpenError::TakeOver)?;
        // A process that was killed may have left it behind.
        store.erase_deleted().await;
        Ok(store)
    }

    /// Opens the SQLite database at `path` whether or not another process has it open. Use it only for what is safe
    /// beside another process. Nothing is created, migrated or taken over.
    pub async fn join_sqlite(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let options = sqlite(path.as_ref());
        let writer = pool(1).connect_with(options.clone()).await;
        let writer = writer.map_err(OpenError::Connect)?;
        let readers = readers(options).await?;
        Ok(Self {
            database: Database::Sqlite {
                writer,
                readers,
                cipher: Arc::new(Missing),
            },
            nudges: None,
            unreadable: Unreadable::default(),
            new_plans: Gathering::new(PLANS_AT_ONCE),
            asked_aliases: Gathering::new(ALIASES_AT_ONCE),
            _lock: None,
        })
    }

    /// Connects to the Postgres database at `url` and applies database migrations as needed. Several processes may do
    /// so at the same time.
    pub async fn connect_postgres(url: &str) -> Result<Self, OpenError> {
        Self::connect_postgres_and_listen(url, None).await
    }

    /// The same, and listens for notifications at `listen_url`, which reaches the same database without a pooler.
    /// Without it, a process behind a pooler learns by polling what another one has accepted.
    pub async fn connect_postgres_and_listen(
        url: &str,
        listen_url: Option<&str>,
    ) -> Result<Self, OpenError> {
        let servers = Servers::find(url).await.map_err(OpenError::of)?;
        migrations::migrate_postgres(&servers)
            .await
            .map_err(OpenError::Migrate)?;
        let servers = Arc::new(servers);
        let listened = match listen_url {
            Some(url) => {
                let listened = Servers::find(url).await.map_err(OpenError::of)?;
                if listened.are_pooled() {
                    return Err(OpenError::ListensThroughPooler);
                }
                Some(Arc::new(listened))
            }
            None => Some(Arc::clone(&servers)).filter(|servers| !servers.are_pooled()),
        };
        let sending = Connections::new(Arc::clone(&servers), 1);
        let nudges = Nudges::connect(sending, listened).await;
        Ok(Self {
            database: Database::Postgres {
                writers: Connections::new(Arc::clone(&servers), WRITERS),
                readers: Connections::new(servers, READERS),
                cipher: Arc::new(Missing),
            },
            nudges: Some(nudges.map_err(OpenError::Connect)?),
            unreadable: Unreadable::default(),
            new_plans: Gathering::new(PLANS_AT_ONCE),
            asked_aliases: Gathering::new(ALIASES_AT_ONCE),
            _lock: None,
        })
    }
}

fn sqlite(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        // Overwrites deleted content with zeros. What the write-ahead log still has of it is erased by `erase`.
        .pragma("secure_delete", "ON")
}

fn pool(size: u32) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .max_connections(size)
        // The database is a file: a connection cannot be lost.
        .test_before_acquire(false)
        .max_lifetime(None)
        .idle_timeout(None)
}

async fn readers(options: SqliteConnectOptions) -> Result<SqlitePool, OpenError> {
    let readers = pool(SQLITE_READERS).connect_with(options.pragma("query_only", "ON"));
    readers.await.map_err(OpenError::Connect)
}

/// Creates the database if it is missing, and keeps other users from it and from the files beside it. SQLite gives those
/// that it creates the mode of the database.
fn protect(database: &Path) -> Result<(), OpenError> {
    let created = File::options()
        .create(true)
        .append(true)
        .mode(OF_OWNER)
        .open(database);
    created.map_err(|error| OpenError::Protect(database.to_owned(), error))?;
    for path in [
        database.to_owned(),
        beside(database, "-wal"),
        beside(database, "-shm"),
    ] {
        let Ok(metadata) = path.metadata() else {
            continue;
        };
        let mut permissions = metadata.permissions();
        if permissions.mode() & !OF_OWNER & 0o777 != 0 {
            permissions.set_mode(OF_OWNER);
            std::fs::set_permissions(&path, permissions)
                .map_err(|error| OpenError::Protect(path.clone(), error))?;
            tracing::warn!(file.path = %path.display(), "other users could access the database; its mode is 600 now");
        }
    }
    Ok(())
}

/// Returns the path of the file that has the name of `database` followed by `suffix`.
fn beside(database: &Path, suffix: &str) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(suffix);
    PathBuf::from(path)
}

fn lock(database: &Path) -> Result<File, OpenError> {
    let path = beside(database, ".lock");
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(OF_OWNER)
        .open(&path)
        .map_err(|error| OpenError::Lock(path.clone(), error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(OpenError::Locked(database.to_owned())),
        Err(TryLockError::Error(error)) => Err(OpenError::Lock(path, error)),
    }
}
