//! Postgres servers for tests and benchmarks.

use std::env;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Row as _};
use tempfile::TempDir;

use super::memory;

/// How tests run Postgres: fast, for many connections, with early errors, and without work of its own.
const FOR_TESTS: &str = "-c max_connections=300 -c fsync=off -c full_page_writes=off -c deadlock_timeout=50ms \
     -c autovacuum=off";

/// The template of an empty database. No other connection can be open to it.
pub(super) const EMPTY: &str = "template0";

#[derive(Debug)]
pub(super) struct Server {
    pub(super) options: PgConnectOptions,
    /// Set if this process started the cluster.
    cluster: Option<Cluster>,
}

/// A cluster that ends with this process, or with this value.
#[derive(Debug)]
pub(super) struct Cluster {
    /// The folder of everything, and of the socket.
    pub(super) home: PathBuf,
    /// Its end closes the pipe that the cluster's guard waits on.
    _guard: ChildStdin,
}

/// The name of the folder of a cluster's data, within its home.
const DATA: &str = "data";

impl Server {
    /// The server for tests: the configured one, or a new cluster.
    pub(super) fn for_tests() -> Option<Self> {
        if let Ok(url) = env::var("UCP_TEST_POSTGRES_URL") {
            let options = url.parse().unwrap();
            return Some(Self {
                options,
                cluster: None,
            });
        }
        if let Some(started) = Self::start(FOR_TESTS, Place::Memory) {
            return Some(started);
        }
        assert!(
            env::var("UCP_REQUIRE_POSTGRES").is_err(),
            "UCP_REQUIRE_POSTGRES is set, but UCP_TEST_POSTGRES_URL is not, and initdb and pg_ctl were not found"
        );
        eprintln!("skipped: no Postgres (set UCP_TEST_POSTGRES_URL, or install initdb and pg_ctl)");
        None
    }

    /// Starts a cluster that listens on a Unix socket only. `settings` are options of `postgres`. Returns `None` if
    /// Postgres is not installed.
    pub(super) fn start(settings: &str, place: Place) -> Option<Self> {
        let cluster = Self::initialized(place)?;
        cluster.start(settings);
        Some(Self {
            options: cluster.options(),
            cluster: Some(cluster),
        })
    }

    /// Prepares a cluster that trusts everybody. Returns `None` if Postgres is not installed.
    pub(super) fn initialized(place: Place) -> Option<Cluster> {
        let cluster = Cluster::prepare(place)?;
        run(cluster
            .command("initdb")
            .arg("-D")
            .arg(cluster.data())
            .args([
                "--username=postgres",
                "--auth=trust",
                "--encoding=UTF8",
                "--no-locale",
                "--no-sync",
            ]));
        Some(cluster)
    }

    /// Returns the cluster, if this process started it.
    pub(super) fn into_cluster(self) -> Option<Cluster> {
        self.cluster
    }

    /// Returns whether it outlives this process.
    pub(super) fn outlives_us(&self) -> bool {
        self.cluster.is_none()
    }

    /// Connects to the database that is always there.
    pub(super) async fn connect(&self) -> PgConnection {
        PgConnection::connect_with(&self.options).await.unwrap()
    }

    /// Connects to a database.
    pub(super) async fn connect_to(&self, database: &str) -> PgConnection {
        let options = self.options.clone().database(database);
        PgConnection::connect_with(&options).await.unwrap()
    }

    /// Creates a copy of a database to which nobody is connected, and returns its name.
    pub(super) async fn create_database(&self, template: &str) -> String {
        let mut connection = self.connect().await;
        let name = fresh_name(&mut connection).await;
        let create = format!("CREATE DATABASE {name} TEMPLATE {template}");
        let create = sqlx::query(AssertSqlSafe(create)).execute(&mut connection);
        create.await.unwrap();
        name
    }

    /// Ends all connections to a database, and gives it another name, which is returned.
    pub(super) async fn rename_database(&self, database: &str) -> String {
        let mut connection = self.connect().await;
        let name = fresh_name(&mut connection).await;
        // How long a server may take to end a connection, in milliseconds.
        let end =
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = $1";
        let rename = format!("ALTER DATABASE {database} RENAME TO {name}");
        const TRIES: usize = 10;
        for _ in 0..TRIES {
            let end = sqlx::query(end).bind(database);
            end.execute(&mut connection).await.unwrap();
            let rename = sqlx::query(AssertSqlSafe(rename.clone()));
            match rename.execute(&mut connection).await {
                Ok(_) => return name,
                // Somebody has connected meanwhile.
                Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some("55006") => {}
                Err(error) => panic!("{error}"),
            }
        }
        panic!("somebody connects to {database} again and again");
    }

    /// Returns the URL of a database.
    pub(super) fn url(&self, database: &str) -> String {
        let options = self.options.clone().database(database);
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
}

/// Returns a name that no database has.
async fn fresh_name(connection: &mut PgConnection) -> String {
    let fresh =
        "SELECT 'ucp_test_' || md5(random()::text || clock_timestamp() || pg_backend_pid())";
    let name = sqlx::query(fresh).fetch_one(connection).await.unwrap();
    name.get(0)
}

/// Removes all rows of a migrated database, and counts from one again.
pub(super) async fn clear(connection: &mut PgConnection) {
    // There are few rows. To truncate a table takes as long as to create one.
    let clear = "DO $$ DECLARE name text; BEGIN
        FOR name IN SELECT quote_ident(relname) FROM pg_class
            WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> '_sqlx_migrations'
            ORDER BY EXISTS (SELECT FROM pg_constraint WHERE conrelid = pg_class.oid AND contype = 'f') DESC
        LOOP EXECUTE 'DELETE FROM ' || name; END LOOP;
        FOR name IN SELECT quote_ident(relname) FROM pg_class
            WHERE relnamespace = 'public'::regnamespace AND relkind = 'S'
        LOOP EXECUTE 'ALTER SEQUENCE ' || name || ' RESTART'; END LOOP;
    END $$";
    sqlx::raw_sql(clear).execute(connection).await.unwrap();
}

/// Where a cluster has its files.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// In memory, if there is room.
    Memory,
    /// Where they are as durable as in production.
    Disk,
}

impl Cluster {
    /// Makes a home for a cluster, with a guard that stops it at the end. Returns `None` if Postgres is not installed.
    pub(super) fn prepare(place: Place) -> Option<Self> {
        const PREFIX: &str = "ucp-postgres-";
        let programs = programs()?;
        let home = match place {
            Place::Memory => memory::folder(PREFIX),
            Place::Disk => TempDir::with_prefix(PREFIX).unwrap(),
        };
        let home = home.keep();
        if let Some(account) = Account::unprivileged() {
            account.give(&home);
        }
        // Started before the server, so that the server is never without a guard.
        let stop = format!(
            "read -r _; '{}' -D '{}' -m immediate stop; rm -rf '{}'",
            programs.join("pg_ctl").display(),
            home.join(DATA).display(),
            home.display()
        );
        let mut guard = command_of_account("sh");
        guard.arg("-c").arg(stop).process_group(0);
        guard
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let guard = guard.spawn().unwrap().stdin.unwrap();
        Some(Self {
            home,
            _guard: guard,
        })
    }

    /// Starts the server with options of `postgres`.
    pub(super) fn start(&self, settings: &str) {
        let settings = format!(
            "-c listen_addresses='' -c unix_socket_directories='{}' {settings}",
            self.home.display()
        );
        self.control(&["-w", "-o", &settings, "start"]);
    }

    /// Runs `pg_ctl`.
    pub(super) fn control(&self, arguments: &[&str]) {
        let mut command = self.command("pg_ctl");
        command.arg("-D").arg(self.data());
        run(command.arg("-l").arg(self.home.join("log")).args(arguments));
    }

    /// Returns a command that runs a program of Postgres in the home of the cluster.
    pub(super) fn command(&self, program: &str) -> Command {
        let ours = programs().map(|folder| folder.join(program));
        // The clients may be elsewhere.
        let ours = ours.filter(|path| path.is_file());
        let mut command = command_of_account(ours.unwrap_or_else(|| program.into()));
        command.current_dir(&self.home);
        command
    }

    /// Returns the folder of its data.
    pub(super) fn data(&self) -> PathBuf {
        self.home.join(DATA)
    }

    /// Returns how to connect to it.
    pub(super) fn options(&self) -> PgConnectOptions {
        PgConnectOptions::new_without_pgpass()
            .socket(&self.home)
            .username("postgres")
            .database("postgres")
    }
}

/// Returns a command that runs a program as the account that Postgres runs as.
pub(super) fn command_of_account(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    if let Some(account) = Account::unprivileged() {
        command.uid(account.user).gid(account.group);
    }
    command
}

pub(super) fn run(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{command:?}: {output:?}");
}

/// The account that Postgres runs as if the tests run as root, which Postgres refuses.
pub(super) struct Account {
    user: u32,
    group: u32,
}

impl Account {
    pub(super) fn unprivileged() -> Option<Self> {
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

    /// Makes a folder its own.
    pub(super) fn give(&self, folder: &Path) {
        std::os::unix::fs::chown(folder, Some(self.user), Some(self.group)).unwrap();
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
