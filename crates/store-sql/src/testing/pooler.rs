//! A PgBouncer that hands out connections by transaction.

use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use tempfile::TempDir;
use tokio::net::UnixStream;
use tokio::sync::OnceCell;

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
    process: Arc<PgBouncer>,
    name: String,
}

/// A process of PgBouncer, in front of all databases of a server. It ends with this value, and with this process.
#[derive(Debug)]
struct PgBouncer {
    guard: Child,
    folder: PathBuf,
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
        let settings = format!("listen_addr =\ndefault_pool_size = {connections}\n");
        Self::start(&database.server.options, &database.name, PORT, &settings).await
    }

    /// As [`before`](Self::before), in a process that all its callers share: one that a test does not disturb.
    pub async fn shared(database: &TestDatabase) -> Option<Self> {
        static SHARED: OnceCell<Option<Arc<PgBouncer>>> = OnceCell::const_new();
        let settings = format!("listen_addr =\ndefault_pool_size = {FEW}\n");
        let start = async || PgBouncer::start(&database.server.options, PORT, &settings).await;
        let process = SHARED.get_or_init(start).await.as_ref()?;
        Some(Self {
            process: Arc::clone(process),
            name: database.name.clone(),
        })
    }

    /// Starts PgBouncer in front of a server, on a socket of this port with these settings besides the usual ones.
    pub(super) async fn start(
        server: &PgConnectOptions,
        database: &str,
        port: u16,
        besides: &str,
    ) -> Option<Self> {
        Some(Self {
            process: PgBouncer::start(server, port, besides).await?,
            name: database.to_owned(),
        })
    }

    /// Returns the URL of the database through the pooler.
    pub fn url(&self) -> String {
        let folder = self.process.folder.display();
        let name = &self.name;
        format!("postgres://postgres@localhost/{name}?host={folder}&port={PORT}")
    }

    /// Returns the URL of the database on another port of this machine, to which its traffic is led.
    pub fn url_at(&self, port: u16) -> String {
        format!("postgres://postgres@127.0.0.1:{port}/{}", self.name)
    }

    /// Opens a connection that speaks no protocol yet.
    pub async fn dial(&self) -> std::io::Result<Box<dyn Bytes>> {
        let socket = self.process.socket(PORT);
        Ok(Box::new(UnixStream::connect(socket).await?))
    }

    /// Returns what it has logged.
    pub fn log(&self) -> String {
        self.process.log()
    }
}

impl PgBouncer {
    async fn start(server: &PgConnectOptions, port: u16, besides: &str) -> Option<Arc<Self>> {
        let Some(program) = program() else {
            assert!(
                std::env::var("UCP_REQUIRE_PGBOUNCER").is_err(),
                "UCP_REQUIRE_PGBOUNCER is set, but pgbouncer was not found"
            );
            eprintln!("skipped: no PgBouncer (install pgbouncer)");
            return None;
        };
        // The guard removes it.
        let folder = TempDir::with_prefix("ucp-pgbouncer-").unwrap().keep();
        let host = server
            .get_socket()
            .map(|socket| socket.display().to_string());
        let host = host.unwrap_or_else(|| server.get_host().to_owned());
        let settings = format!(
            "[databases]\n* = host={host} port={} user={}\n[pgbouncer]\nunix_socket_dir = {}\nlisten_port = {port}\n\
             {besides}{SETTINGS}",
            server.get_port(),
            server.get_username(),
            folder.display(),
        );
        std::fs::write(folder.join("pgbouncer.ini"), settings).unwrap();
        if let Some(account) = Account::unprivileged() {
            account.give(&folder);
        }
        // It ends however this process does: the pipe is closed then.
        let run = format!(
            "cd '{}' && {{ '{program}' pgbouncer.ini >/dev/null 2>log & }} && read -r _; kill -9 $!; rm -rf '{}'",
            folder.display(),
            folder.display()
        );
        let mut guard = command_of_account("sh");
        guard.arg("-c").arg(run).process_group(0);
        guard.stdin(Stdio::piped()).stdout(Stdio::null());
        let process = Self {
            guard: guard.spawn().unwrap(),
            folder,
        };
        for _ in 0..1000 {
            if std::os::unix::net::UnixStream::connect(process.socket(port)).is_ok() {
                return Some(Arc::new(process));
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("PgBouncer does not listen: {}", process.log());
    }

    fn socket(&self, port: u16) -> PathBuf {
        self.folder.join(format!(".s.PGSQL.{port}"))
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        // It ends once PgBouncer has.
        let _ = self.guard.wait();
    }
}

/// Returns how to start PgBouncer, if it is installed. Debian puts it into a folder that is not on everybody's path.
fn program() -> Option<&'static str> {
    let works = |program: &&str| {
        let mut command = Command::new(program);
        let command = command.arg("--version").stdout(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    ["pgbouncer", "/usr/sbin/pgbouncer"].into_iter().find(works)
}
