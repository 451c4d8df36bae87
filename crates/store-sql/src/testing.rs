//! A Postgres for tests.
//!
//! `UCP_TEST_POSTGRES_URL` names a server to use. Without it, each test process starts a temporary cluster, which is
//! stopped however the process ends. If Postgres is not installed, tests that need it are skipped with a message,
//! unless `UCP_REQUIRE_POSTGRES=1`.

#![expect(clippy::unwrap_used, reason = "a test without its database panics")]

use std::env;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::OnceLock;

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Row as _};
use tempfile::TempDir;

/// A new, empty database. On a server that outlives the test it is dropped with this value.
#[derive(Debug)]
pub struct TestDatabase {
    server: &'static Server,
    name: String,
}

/// Creates a database; `None` if there is no Postgres.
pub async fn database() -> Option<TestDatabase> {
    // One cluster per process: the first test starts it, the others wait.
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    let server = tokio::task::spawn_blocking(|| SERVER.get_or_init(Server::find));
    let server = server.await.unwrap().as_ref()?;

    let mut connection = server.connect().await;
    let fresh =
        "SELECT 'ucp_test_' || md5(random()::text || clock_timestamp() || pg_backend_pid())";
    let name = sqlx::query(fresh).fetch_one(&mut connection).await.unwrap();
    let name: String = name.get(0);
    // No other connection can be open to `template0`.
    let create = format!("CREATE DATABASE {name} TEMPLATE template0");
    let create = sqlx::query(AssertSqlSafe(create)).execute(&mut connection);
    create.await.unwrap();
    Some(TestDatabase { server, name })
}

impl TestDatabase {
    /// Returns the URL of the database.
    pub fn url(&self) -> String {
        let options = self.server.options.clone().database(&self.name);
        let mut url = options.to_url_lossy();
        // The Postgres programs reject parameters that only this driver knows.
        let others = url
            .query_pairs()
            .filter(|(name, _)| name != "statement-cache-capacity");
        let others: Vec<_> = others
            .map(|(name, value)| (name.into_owned(), value.into_owned()))
            .collect();
        url.query_pairs_mut().clear().extend_pairs(others);
        url.to_string()
    }

    /// Returns whether a transaction on the database waits for another one.
    pub async fn is_anyone_waiting(&self) -> bool {
        let mut connection = self.server.connect().await;
        let waiting = "SELECT EXISTS (SELECT 1 FROM pg_stat_activity
            WHERE datname = $1 AND cardinality(pg_blocking_pids(pid)) > 0)";
        let waiting = sqlx::query(waiting).bind(&self.name);
        waiting.fetch_one(&mut connection).await.unwrap().get(0)
    }

    /// Runs the statements of a dump.
    pub async fn restore(&self, dump: &str) {
        let options = self.server.options.clone().database(&self.name);
        let mut connection = PgConnection::connect_with(&options).await.unwrap();
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
        if self.server.cluster.is_some() {
            return;
        }
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

#[derive(Debug)]
struct Server {
    options: PgConnectOptions,
    /// Set if this process started the cluster. Its end closes the pipe that the cluster's guard waits on.
    cluster: Option<ChildStdin>,
}

impl Server {
    fn find() -> Option<Self> {
        if let Ok(url) = env::var("UCP_TEST_POSTGRES_URL") {
            let options = url.parse().unwrap();
            return Some(Self {
                options,
                cluster: None,
            });
        }
        if let Some(programs) = programs() {
            return Some(Self::start(&programs));
        }
        assert!(
            env::var("UCP_REQUIRE_POSTGRES").is_err(),
            "UCP_REQUIRE_POSTGRES is set, but UCP_TEST_POSTGRES_URL is not, and initdb and pg_ctl were not found"
        );
        eprintln!("skipped: no Postgres (set UCP_TEST_POSTGRES_URL, or install initdb and pg_ctl)");
        None
    }

    /// Starts a cluster that listens on a Unix socket only.
    fn start(programs: &Path) -> Self {
        let home = TempDir::with_prefix("ucp-postgres-").unwrap().keep();
        let data = home.join("data");
        let account = Account::unprivileged();
        if let Some(account) = &account {
            std::os::unix::fs::chown(&home, Some(account.user), Some(account.group)).unwrap();
        }
        let command = |program: &str| {
            let mut command = Command::new(programs.join(program));
            command.current_dir(&home).arg("-D").arg(&data);
            if let Some(account) = &account {
                command.uid(account.user).gid(account.group);
            }
            command
        };
        run(command("initdb").args([
            "--username=postgres",
            "--auth=trust",
            "--encoding=UTF8",
            "--no-locale",
            "--no-sync",
        ]));

        // Started before the server, so that the server is never without a guard.
        let stop = format!(
            "read -r _; '{}' -D '{}' -m immediate stop; rm -rf '{}'",
            programs.join("pg_ctl").display(),
            data.display(),
            home.display()
        );
        let mut guard = Command::new("sh");
        guard.arg("-c").arg(stop).process_group(0);
        guard
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if let Some(account) = &account {
            guard.uid(account.user).gid(account.group);
        }
        let cluster = guard.spawn().unwrap().stdin;

        let settings = format!(
            "-c listen_addresses='' -c unix_socket_directories='{}' -c max_connections=300 \
             -c fsync=off -c full_page_writes=off -c deadlock_timeout=50ms",
            home.display()
        );
        let log = home.join("log");
        run(command("pg_ctl")
            .arg("-l")
            .arg(log)
            .args(["-w", "-o", &settings, "start"]));
        Self {
            options: PgConnectOptions::new_without_pgpass()
                .socket(&home)
                .username("postgres")
                .database("postgres"),
            cluster,
        }
    }

    async fn connect(&self) -> PgConnection {
        PgConnection::connect_with(&self.options).await.unwrap()
    }
}

fn run(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{command:?}: {output:?}");
}

/// The account that Postgres runs as if the tests run as root, which Postgres refuses.
struct Account {
    user: u32,
    group: u32,
}

impl Account {
    fn unprivileged() -> Option<Self> {
        let id = |arguments: &[&str]| {
            let output = Command::new("id").args(arguments).output().unwrap();
            let number = String::from_utf8_lossy(&output.stdout)
                .trim()
                .parse::<u32>();
            number.ok().filter(|_| output.status.success())
        };
        if id(&["-u"]) != Some(0) {
            return None;
        }
        let account = ["postgres", "nobody"].into_iter().find_map(|name| {
            let (user, group) = (id(&["-u", name])?, id(&["-g", name])?);
            Some(Self { user, group })
        });
        Some(account.expect("an account other than root to run Postgres as"))
    }
}

/// The folder of `initdb` and `pg_ctl`.
fn programs() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let configured = Command::new("pg_config").arg("--bindir").output().ok();
    let configured = configured.and_then(|output| String::from_utf8(output.stdout).ok());
    let packaged = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten();
    let mut packaged: Vec<(u32, PathBuf)> = packaged
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let version = entry.file_name().to_str()?.parse().ok()?;
            Some((version, entry.path().join("bin")))
        })
        .collect();
    packaged.sort_unstable();
    let newest_first = packaged.into_iter().rev().map(|(_, folder)| folder);
    env::split_paths(&path)
        .chain(configured.map(|folder| PathBuf::from(folder.trim())))
        .chain(newest_first)
        .find(|folder| {
            ["initdb", "pg_ctl"]
                .iter()
                .all(|name| folder.join(name).is_file())
        })
}
