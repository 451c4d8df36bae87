//! A Postgres for benchmarks: as durable as in production, with statements counted.

use std::sync::OnceLock;

use sqlx::Row as _;
use sqlx::postgres::{PgConnection, PgRow};

use super::server::{EMPTY, Place, Server};

/// Counts statements. Everything else has its default, which is durable.
const FOR_BENCHMARKS: &str = "-c shared_preload_libraries=pg_stat_statements";

/// A new, empty database on a cluster of this process, whatever `UCP_TEST_POSTGRES_URL` is.
#[derive(Debug)]
pub struct MeasuredDatabase {
    url: String,
    /// Its own statements are not counted.
    connection: PgConnection,
}

/// How many statements a database has run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Statements {
    /// `SELECT`.
    pub reads: i64,
    /// `INSERT`, `UPDATE` and `DELETE`, also those that affected no row.
    pub writes: i64,
    /// The rest: `BEGIN`, `COMMIT`, `NOTIFY` and so on.
    pub others: i64,
}

/// Creates a database; `None` if there is no Postgres.
pub async fn measured_database() -> Option<MeasuredDatabase> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    let server = tokio::task::spawn_blocking(|| {
        SERVER.get_or_init(|| Server::start(FOR_BENCHMARKS, Place::Disk))
    });
    let server = server.await.unwrap().as_ref()?;
    let name = server.create_database(EMPTY).await;
    let mut connection = server.connect_to(&name).await;
    let prepare = "CREATE EXTENSION pg_stat_statements; SET pg_stat_statements.track = 'none'";
    sqlx::raw_sql(prepare)
        .execute(&mut connection)
        .await
        .unwrap();
    Some(MeasuredDatabase {
        url: server.url(&name),
        connection,
    })
}

impl MeasuredDatabase {
    /// Returns the URL of the database.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the version of Postgres, and the settings that make it durable.
    pub async fn version(&mut self) -> String {
        let version = "SELECT format('Postgres %s, fsync %s, synchronous_commit %s', current_setting('server_version'),
                current_setting('fsync'), current_setting('synchronous_commit'))";
        self.one(version).await.get(0)
    }

    /// Returns how many statements have been run.
    pub async fn statements(&mut self) -> Statements {
        let count = r"WITH counted AS (
                SELECT calls, CASE
                    WHEN query ~* '^\s*(INSERT|UPDATE|DELETE)\M' THEN 'write'
                    WHEN query ~* '^\s*WITH\M' AND query ~* '\m(INSERT\s+INTO|DELETE\s+FROM|UPDATE\s+\w+\s+SET)\M' THEN 'write'
                    WHEN query ~* '^\s*(SELECT|WITH)\M' THEN 'read'
                    ELSE 'other' END AS kind
                FROM pg_stat_statements JOIN pg_database ON oid = dbid WHERE datname = current_database())
            SELECT COALESCE(sum(calls) FILTER (WHERE kind = 'read'), 0)::bigint,
                COALESCE(sum(calls) FILTER (WHERE kind = 'write'), 0)::bigint,
                COALESCE(sum(calls) FILTER (WHERE kind = 'other'), 0)::bigint
            FROM counted";
        let row = self.one(count).await;
        Statements {
            reads: row.get(0),
            writes: row.get(1),
            others: row.get(2),
        }
    }

    /// Returns whether all operations have ended.
    pub async fn is_idle(&mut self) -> bool {
        let idle = "SELECT NOT EXISTS (SELECT 1 FROM operations WHERE ended_at IS NULL)";
        self.one(idle).await.get(0)
    }

    /// Returns the ids of the server's processes that work for this database, alone or also for others.
    pub async fn processes(&mut self) -> Vec<u32> {
        let processes = "SELECT COALESCE(array_agg(pid), '{}') FROM pg_stat_activity
            WHERE pid <> pg_backend_pid() AND (datname = current_database() OR datname IS NULL)";
        let ids: Vec<i32> = self.one(processes).await.get(0);
        ids.into_iter().map(i32::unsigned_abs).collect()
    }

    async fn one(&mut self, statement: &'static str) -> PgRow {
        let query = sqlx::query(statement);
        query.fetch_one(&mut self.connection).await.unwrap()
    }
}
