//! A Postgres for tests.
//!
//! `UCP_TEST_POSTGRES_URL` names a server to use. Without it, each test process starts a temporary cluster, which is
//! stopped however the process ends. If Postgres is not installed, tests that need it are skipped with a message,
//! unless `UCP_REQUIRE_POSTGRES=1`.

#![expect(clippy::unwrap_used, reason = "a test without its database panics")]

mod certificates;
mod cipher;
mod failover;
mod measured;
mod memory;
mod migrated;
mod pool;
mod pooler;
mod server;
mod tls;

use std::path::Path;
use std::sync::OnceLock;

use sqlx::postgres::PgConnection;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Row as _};

pub use cipher::{TestCipher, cipher};
pub use failover::Failover;
pub use measured::{MeasuredDatabase, Statements, measured_database};
pub use migrated::{SqliteFolder, migrated_database};
use pool::Pool;
pub use pooler::Pooler;
use server::{EMPTY, Server, clear};
pub use tls::Listening;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::Mutex;

/// A stream of bytes in both directions.
pub trait Bytes: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Bytes for T {}

/// A database without rows. With this value it is dropped, or goes back to the pool that it is from.
#[derive(Debug)]
pub struct TestDatabase {
    server: &'static Server,
    name: String,
    /// Set if it has its tables, and another test may have it afterwards.
    pool: Option<&'static Pool>,
    /// To look at the others, as often as it takes until one of them waits.
    observer: Mutex<Option<PgConnection>>,
}

/// Creates an empty database; `None` if there is no Postgres.
pub async fn database() -> Option<TestDatabase> {
    let server = server().await?;
    let name = server.create_database(EMPTY).await;
    Some(TestDatabase::new(server, name, None))
}

/// Returns the server of this process. The first test starts it, the others wait.
async fn server() -> Option<&'static Server> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    let server = tokio::task::spawn_blocking(|| SERVER.get_or_init(Server::for_tests));
    server.await.unwrap().as_ref()
}

impl TestDatabase {
    fn new(server: &'static Server, name: String, pool: Option<&'static Pool>) -> Self {
        Self {
            server,
            name,
            pool,
            observer: Mutex::default(),
        }
    }

    /// Returns the URL of the database.
    pub fn url(&self) -> String {
        self.server.url(&self.name)
    }

    /// Returns how many megabytes the database has on disk.
    pub async fn megabytes(&self) -> u64 {
        let mut connection = self.server.connect().await;
        let bytes: i64 = sqlx::query_scalar("SELECT pg_database_size($1)")
            .bind(&self.name)
            .fetch_one(&mut connection)
            .await
            .unwrap();
        u64::try_from(bytes >> 20).unwrap()
    }

    /// Returns the URL of the database on another port of this machine, to which its traffic is led.
    pub fn url_at(&self, port: u16) -> String {
        let user = self.server.options.get_username();
        format!("postgres://{user}@127.0.0.1:{port}/{}", self.name)
    }

    /// Opens a connection that speaks no protocol yet.
    pub async fn dial(&self) -> std::io::Result<Box<dyn Bytes>> {
        let options = &self.server.options;
        let port = options.get_port();
        Ok(match options.get_socket() {
            Some(folder) => {
                let socket = folder.join(format!(".s.PGSQL.{port}"));
                Box::new(UnixStream::connect(socket).await?)
            }
            None => Box::new(TcpStream::connect((options.get_host(), port)).await?),
        })
    }

    /// Locks a table against everything until the returned connection is closed.
    pub async fn lock_table(&self, table: &str) -> PgConnection {
        let mut connection = self.server.connect_to(&self.name).await;
        let lock = format!("BEGIN; LOCK TABLE {table}");
        let lock = sqlx::raw_sql(AssertSqlSafe(lock));
        lock.execute(&mut connection).await.unwrap();
        connection
    }

    /// Returns whether a transaction on the database waits for another one.
    pub async fn is_anyone_waiting(&self) -> bool {
        let mut observer = self.observer.lock().await;
        if observer.is_none() {
            *observer = Some(self.server.connect().await);
        }
        let waiting = "SELECT EXISTS (SELECT 1 FROM pg_stat_activity
            WHERE datname = $1 AND wait_event_type = 'Lock')";
        let waiting = sqlx::query(waiting).bind(&self.name);
        let waiting = waiting.fetch_one(observer.as_mut().unwrap());
        waiting.await.unwrap().get(0)
    }

    /// Removes all rows, of a database that is migrated. Cheaper than another database.
    pub async fn clear(&self) {
        clear(&mut self.server.connect_to(&self.name).await).await;
    }

    /// Runs the statements of a dump.
    pub async fn restore(&self, dump: &str) {
        let mut connection = self.server.connect_to(&self.name).await;
        let statements = sqlx::raw_sql(AssertSqlSafe(dump.to_owned()));
        statements.execute(&mut connection).await.unwrap();
    }
}

/// Creates the SQLite database at `path` from the statements of a dump.
pub async fn restore_sqlite(path: &Path, dump: &str) {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        // A dump lists the tables by name, not by dependency.
        .foreign_keys(false);
    let mut connection = options.connect().await.unwrap();
    let statements = sqlx::raw_sql(AssertSqlSafe(dump.to_owned()));
    statements.execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        if let Some(pool) = self.pool {
            return pool.take_back(&mut self.name);
        }
        // Also in a cluster that ends with this process: the databases of all its tests would fill the disk.
        let drop = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        let server = self.server;
        let work = async move {
            let mut connection = server.connect().await;
            sqlx::query(AssertSqlSafe(drop))
                .execute(&mut connection)
                .await
        };
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            runtime.unwrap().block_on(work)
        });
        if !matches!(thread.join(), Ok(Ok(_))) {
            eprintln!("the test database {} was left behind", self.name);
        }
    }
}
