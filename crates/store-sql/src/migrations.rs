//! The embedded migrations of both engines.
//!
//! `sqlx::migrate!` can embed a folder too, but its proc-macro crate compiles both database drivers and SQLite a second
//! time.

use sqlx::SqlStr;
use sqlx::migrate::{Migration, MigrationType, Migrator};

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
    Migrator::with_migrations(migrations.collect())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

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
