//! A PgBouncer that hands out connections by transaction.

use std::io::ErrorKind;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;
use tokio::net::UnixStream;

use super::server::{Account, command_of_account};
use super::{Bytes, TestDatabase};

/// Settings of PgBouncer: few connections, so that clients share them all the time.
const SETTINGS: &str = "pool_mode = transaction
auth_type = any
listen_addr =
listen_port = 6432
default_pool_size = 5
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
    /// Starts PgBouncer in front of `database`. Returns `None` if it is not installed; then `UCP_REQUIRE_PGBOUNCER` makes
    /// this fail.
    pub async fn before(database: &TestDatabase) -> Option<Self> {
        let folder = TempDir::with_prefix("ucp-pgbouncer-").unwrap();
        let options = &database.server.options;
        let host = options
            .get_socket()
            .map(|socket| socket.display().to_string());
        let host = host.unwrap_or_else(|| options.get_host().to_owned());
        let settings = format!(
            "[databases]\n* = host={host} port={} user={}\n[pgbouncer]\nunix_socket_dir = {}\n{SETTINGS}",
            options.get_port(),
            options.get_username(),
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
            name: database.name.clone(),
        };
        let socket = pooler.folder.path().join(".s.PGSQL.6432");
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
        format!("postgres://postgres@localhost/{name}?host={folder}&port=6432")
    }

    /// Returns the URL of the database on another port of this machine, to which its traffic is led.
    pub fn url_at(&self, port: u16) -> String {
        format!("postgres://postgres@127.0.0.1:{port}/{}", self.name)
    }

    /// Opens a connection that speaks no protocol yet.
    pub async fn dial(&self) -> std::io::Result<Box<dyn Bytes>> {
        let socket = self.folder.path().join(".s.PGSQL.6432");
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
