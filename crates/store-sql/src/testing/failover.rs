//! A Postgres with a synchronous standby, which takes over when a test says so.

use sqlx::postgres::PgConnection;
use sqlx::{ConnectOptions as _, Connection as _, Executor as _, Row as _};

use super::server::{Cluster, Place, Server, run};

/// Fast, for many connections, with a standby.
const SETTINGS: &str = "-c max_connections=100 -c fsync=off -c full_page_writes=off";

/// A primary and its synchronous standby: the primary acknowledges nothing that the standby does not have.
#[derive(Debug)]
pub struct Failover {
    primary: Cluster,
    standby: Cluster,
}

impl Failover {
    /// Starts both; `None` if Postgres is not installed.
    pub async fn start() -> Option<Self> {
        let starting = tokio::task::spawn_blocking(|| {
            let primary = Server::start(SETTINGS, Place::Memory)?.into_cluster()?;
            let standby = Cluster::prepare(Place::Memory)?;
            let mut copy = standby.command("pg_basebackup");
            copy.arg("--host").arg(&primary.home);
            copy.arg("--pgdata").arg(standby.data());
            run(copy.args([
                "--username=postgres",
                "--write-recovery-conf",
                "--checkpoint=fast",
                "--no-sync",
            ]));
            standby.start(SETTINGS);
            Some(Self { primary, standby })
        });
        let both = starting.await.unwrap()?;
        both.set("synchronous_standby_names", "*").await;
        let mut primary = connect(&both.primary).await;
        let synchronous =
            "SELECT EXISTS (SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync')";
        while !primary
            .fetch_one(synchronous)
            .await
            .unwrap()
            .get::<bool, _>(0)
        {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        Some(both)
    }

    /// Returns the URL of the database on both servers.
    pub fn url(&self) -> String {
        let folders = [&self.primary, &self.standby].map(|one| one.home.display().to_string());
        format!(
            "postgres://postgres@localhost/postgres?host={}&target_session_attrs=read-write",
            folders.join(",")
        )
    }

    /// Returns the URL of the database on the server that is the primary at first.
    pub fn primary_url(&self) -> String {
        self.primary.options().to_url_lossy().to_string()
    }

    /// Kills the primary.
    pub fn kill_primary(&self) {
        self.primary.control(&["-m", "immediate", "stop"]);
    }

    /// Lets the primary live on, with its connections, without taking writes.
    pub async fn make_primary_read_only(&self) {
        self.set("default_transaction_read_only", "on").await;
    }

    /// Lets the primary take writes again.
    pub async fn make_primary_writable(&self) {
        self.set("default_transaction_read_only", "off").await;
    }

    /// Makes the standby the primary.
    pub fn promote_standby(&self) {
        self.standby.control(&["-w", "promote"]);
    }

    async fn set(&self, name: &'static str, value: &'static str) {
        let mut primary = connect(&self.primary).await;
        let set = sqlx::AssertSqlSafe(format!("ALTER SYSTEM SET {name} = '{value}'"));
        primary
            .execute("SET default_transaction_read_only = off")
            .await
            .unwrap();
        primary.execute(set).await.unwrap();
        primary.execute("SELECT pg_reload_conf()").await.unwrap();
        // The server reads its settings a little later.
        loop {
            let mut fresh = connect(&self.primary).await;
            let shown = fresh
                .fetch_one(sqlx::AssertSqlSafe(format!("SHOW {name}")))
                .await
                .unwrap();
            if shown.get::<&str, _>(0) == value {
                return;
            }
        }
    }
}

async fn connect(cluster: &Cluster) -> PgConnection {
    PgConnection::connect_with(&cluster.options())
        .await
        .unwrap()
}
