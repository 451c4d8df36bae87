//! A PgBouncer that hands out connections by transaction.

use std::io::ErrorKind;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use tempfile::TempDir;
use tokio::net::UnixStream;

use super::server::{Account, command_of_account};
use super::{Bytes, TestDatabase};

/// The port of the socket of a pooler that listens on no other.
const PORT: u16 = 6432;
/// So few connections to the database that clients share them all the time.
const FEW: usize = 5;
/// As many as PgBouncer has by default.
const DEFAULT: usize = 20;
const SETTINGS: &str = "pool_mode = transaction
auth_type = any
max_client_conn = 500
ignore_startup_parameters =
";

/// A pooler in front of a database.
#[derive(Debug)]
pub struct Pooler {
    child: Child,
    folder: TempDir,
    name: String,
}

impl Pooler {
    /// Starts PgBouncer in front of `database`, with few connections. Returns `None` if it is not installed; then
    /// `UCP_REQUIRE_PGBOUNCER` makes this fail.
    pub async fn before(database: &TestDatabase) -> Option<Self> {
        Self::with_connections(database, FEW).await
    }

    /// As [`before`](Self::before), with as many connections as PgBouncer has by default.
    pub async fn of_usual_size(database: &TestDatabase) -> Option<Self> {
        Self::with_connections(database, DEFAULT).await
    }

    async fn with_connections(database: &TestDatabase, connections: usize) -> Option<Self> {
        let server = &database.server.options;
        let settings = format!("listen_addr =\ndefault_pool_size = {connections}\n");
        Self::start(server, &database.name, PORT, &settings).await
    }

    /// Starts PgBouncer in front of a server, on a socket of this port with these settings besides the usual ones.
    pub(super) async fn start(
        server: &PgConnectOptions,
        database: &str,
        port: u16,
        besides: &str,
    ) -> Option<Self> {
        let folder = TempDir::with_prefix("ucp-pgbouncer-").unwrap();
        let host = server
            .get_socket()
            .map(|socket| socket.display().to_string());
        let host = host.unwrap_or_else(|| server.get_host().to_owned());
        let settings = format!(
            "[databases]\n* = host={host} port={} user={}\n[pgbouncer]\nunix_socket_dir = {}\nlisten_port = {port}\n\
             {besides}{SETTINGS}",
            server.get_port(),
            server.get_username(),
            folder.path().display(),
        );
        let file = folder.path().join("pgbouncer.ini");
        std::fs::write(&file, settings).unwrap();
        if let Some(account) = Account::unprivileged() {
            account.give(folder.path());
        }
        let program = if works("pgbouncer") {
            "pgbouncer"
        } else {
            "/usr/sbin/pgbouncer"
        };
        let started = command_of_account(program)
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(folder.path().join("log")).unwrap())
            .spawn();
        let child = match started {
            Ok(child) => child,
            Err(error) => {
                assert!(error.kind() == ErrorKind::NotFound, "{error}");
                assert!(
                    std::env::var("UCP_REQUIRE_PGBOUNCER").is_err(),
                    "UCP_REQUIRE_PGBOUNCER is set, but pgbouncer was not found"
                );
                eprintln!("skipped: no PgBouncer (install pgbouncer)");
                return None;
            }
        };
        let pooler = Self {
            child,
            folder,
            name: database.to_owned(),
        };
        let socket = pooler.folder.path().join(format!(".s.PGSQL.{port}"));
        for _ in 0..1000 {
            if std::os::unix::net::UnixStream::connect(&socket).is_ok() {
                return Some(pooler);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("PgBouncer does not listen: {}", pooler.log());
    }

    /// Returns the URL of the database through the pooler.
    pub fn url(&self) -> String {
        let folder = self.folder.path().display();
        let name = &self.name;
        format!("postgres://postgres@localhost/{name}?host={folder}&port={PORT}")
    }

    /// Returns the URL of the database on another port of this machine, to which its traffic is led.
    pub fn url_at(&self, port: u16) -> String {
        format!("postgres://postgres@127.0.0.1:{port}/{}", self.name)
    }

    /// Opens a connection that speaks no protocol yet.
    pub async fn dial(&self) -> std::io::Result<Box<dyn Bytes>> {
        let socket = self.folder.path().join(format!(".s.PGSQL.{PORT}"));
        Ok(Box::new(UnixStream::connect(socket).await?))
    }

    /// Returns what it has logged.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        // It may already have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn works(program: &str) -> bool {
    let mut command = Command::new(program);
    let command = command.arg("--version").stdout(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
