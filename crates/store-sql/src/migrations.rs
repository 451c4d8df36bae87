//! The embedded migrations of both engines.
//!
//! `sqlx::migrate!` can embed a folder too, but its proc-macro crate compiles both database drivers and SQLite a second
//! time.

use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::postgres::PgConnection;
use sqlx::{Connection as _, Executor as _, Row as _, SqlStr, raw_sql};

use crate::servers::Servers;

/// The files of one engine, in order. The file names of both engines are the same.
macro_rules! files {
    ($engine:literal) => {
        files!($engine:
            "0001_initial",
            "0002_planes_and_groups",
            "0003_credentials",
            "0004_replacement_and_cancel",
            "0005_groups_with_content",
            "0006_type_schemas",
            "0007_arm_resources",
            "0008_one_operation",
            "0009_references",
            "0010_live_operations",
            "0011_looks",
            "0012_lost_resources",
            "0013_scopes",
            "0014_told_to_own",
            "0015_leftovers",
            "0016_unknown_creates",
            "0017_marked",
            "0018_takeovers",
            "0019_ambient_credentials",
            "0020_abandoned_creates",
            "0021_tokens",
            "0023_audit_events",
            "0024_callers",
            "0025_role_assignments",
            "0027_one_apply",
            "0028_audit_changes",
            "0029_plans",
            "0030_predictions",
            "0031_plan_units",
            "0032_plans_relied_on",
            "0033_lineage",
            "0034_lineage_of_leftovers",
            "0035_one_lineage",
            "0036_refactors",
            "0037_refactor_events",
            "0038_held_groups",
            "0039_planned_refactors",
            "0040_tried_leftovers",
            "0041_moves",
            "0042_audit_paths",
            "0043_service_broker",
            "0044_aliases_of_services",
            "0045_watches",
            "0046_rates",
            "0047_asks_by",
            "0048_global_services",
            "0049_plans_by_bytes",
        )
    };
    ($engine:literal: $($name:literal),+ $(,)?) => {
        [$(($name, include_str!(concat!("../../../migrations/", $engine, "/", $name, ".sql")))),+]
    };
}

const SQLITE: &[(&str, &str)] = &files!("sqlite");
const POSTGRES: &[(&str, &str)] = &files!("postgres");

/// Returns the migrations of the SQLite database.
pub(crate) fn sqlite() -> Migrator {
    migrator(SQLITE)
}

/// Returns the migrations of the Postgres database.
pub(crate) fn postgres() -> Migrator {
    migrator(POSTGRES)
}

/// Migrates a Postgres database.
pub(crate) async fn migrate_postgres(servers: &Servers) -> Result<(), MigrateError> {
    let options = servers.unlimited().await?;
    let mut connection = PgConnection::connect_with(&options).await?;
    if servers.are_pooled() {
        migrate_pooled(&mut connection).await
    } else {
        postgres().run_direct(None, &mut connection, false).await
    }
}

/// Migrates through a pooler, which hands out connections by transaction. So there is one transaction, with a lock that
/// ends with it. It excludes those who migrate without a pooler, too. The names of statements outlive it, and are taken
/// back before and after.
async fn migrate_pooled(connection: &mut PgConnection) -> Result<(), MigrateError> {
    let mut transaction = connection.begin().await?;
    transaction.execute("DEALLOCATE ALL").await?;
    let name = raw_sql("SELECT current_database()");
    let name: String = name.fetch_one(&mut *transaction).await?.try_get(0)?;
    let lock = sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(lock_id(&name));
    lock.execute(&mut *transaction).await?;
    let mut migrator = postgres();
    migrator.set_locking(false);
    let migrated = migrator.run_direct(None, &mut *transaction, false);
    migrated.await?;
    transaction.clear_cached_statements().await?;
    Ok(transaction.commit().await?)
}

/// Returns the key of the lock that sqlx migrates a database under.
fn lock_id(database: &str) -> i64 {
    let crc = database.bytes().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            (crc >> 1) ^ (0xedb8_8320 & 0_u32.wrapping_sub(crc & 1))
        })
    });
    0x3d32_ad9e * i64::from(!crc)
}

fn migrator(files: &[(&str, &'static str)]) -> Migrator {
    let migrations = files.iter().filter_map(|(name, sql)| {
        let (version, description) = name.split_once('_')?;
        let (version, description) = (version.parse().ok()?, description.replace('_', " "));
        let no_transaction = sql.starts_with("-- no-transaction");
        let sql = SqlStr::from_static(sql);
        let kind = MigrationType::Simple;
        Some(Migration::new(
            version,
            description.into(),
            kind,
            sql,
            no_transaction,
        ))
    });
    let mut migrator = Migrator::with_migrations(migrations.collect());
    // Beside a later release, whose migrations leave the database usable, see migrations/README.md.
    migrator.set_ignore_missing(true);
    migrator
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use sqlx::migrate::Migrate as _;

    use super::*;
    use crate::testing;

    /// Those who migrate through a pooler and those who do not keep each other off.
    #[tokio::test]
    async fn the_lock_is_that_of_the_driver() {
        let Some(database) = testing::database().await else {
            return;
        };
        let mut connection = PgConnection::connect(&database.url()).await.unwrap();
        connection.lock().await.unwrap();
        let held =
            "SELECT current_database() AS name, (classid::bigint << 32) | objid::bigint AS id
            FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()";
        let held = connection.fetch_one(held).await.unwrap();
        assert_eq!(lock_id(held.get("name")), held.get::<i64, _>("id"));
    }

    /// Every file of the folder is embedded and parsed as sqlx itself would parse it.
    #[tokio::test]
    async fn every_file_is_embedded() {
        for (engine, embedded) in [("sqlite", sqlite()), ("postgres", postgres())] {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("../../migrations")
                .join(engine);
            let read = Migrator::new(folder).await.unwrap();
            let parts = |one: &Migration| {
                let Migration {
                    version,
                    description,
                    checksum,
                    no_tx,
                    ..
                } = one.clone();
                (version, description, checksum, no_tx)
            };
            let embedded: Vec<_> = embedded.iter().map(parts).collect();
            let read: Vec<_> = read.iter().map(parts).collect();
            assert_eq!(embedded, read, "{engine}");
        }
    }
}
