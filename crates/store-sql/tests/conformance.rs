//! Runs the conformance suite on both engines.

mod sqlite {
    use std::sync::Arc;

    use async_trait::async_trait;
    use ucp_store::Store;
    use ucp_store_conformance::racing::Database;
    use ucp_store_sql::Sql;
    use ucp_store_sql::testing::{SqliteFolder, cipher};

    struct Folder {
        _folder: SqliteFolder,
    }

    /// SQLite runs one transaction at a time.
    #[async_trait]
    impl Database for Folder {
        async fn is_anyone_waiting(&self) -> bool {
            true
        }
    }

    async fn fresh() -> Option<(Arc<dyn Store>, Folder)> {
        let folder = SqliteFolder::create().await;
        let store = Sql::open_sqlite(folder.database())
            .await
            .expect("a fresh database")
            .sealed_with(cipher());
        Some((Arc::new(store), Folder { _folder: folder }))
    }

    ucp_store_conformance::conformance!(crate::sqlite::fresh);
    ucp_store_conformance::races!(crate::sqlite::fresh);
}

mod postgres {
    use std::sync::Arc;

    use async_trait::async_trait;
    use ucp_store::Store;
    use ucp_store_conformance::racing::Database;
    use ucp_store_sql::Sql;
    use ucp_store_sql::testing::{TestDatabase, cipher, migrated_database};

    struct Postgres(TestDatabase);

    #[async_trait]
    impl Database for Postgres {
        async fn is_anyone_waiting(&self) -> bool {
            self.0.is_anyone_waiting().await
        }
    }

    async fn fresh() -> Option<(Arc<dyn Store>, Postgres)> {
        let database = migrated_database().await?;
        let store = Sql::connect_postgres(&database.url())
            .await
            .expect("a fresh database")
            .sealed_with(cipher());
        Some((Arc::new(store), Postgres(database)))
    }

    ucp_store_conformance::conformance!(crate::postgres::fresh);
    ucp_store_conformance::races!(crate::postgres::fresh);
}

/// Through a pooler that hands out connections by transaction. The transactions are those of Postgres. That they exclude
/// each other there, too, the pairs of all writers show.
mod pooled {
    use std::sync::Arc;

    use async_trait::async_trait;
    use ucp_store::Store;
    use ucp_store_conformance::racing::Database;
    use ucp_store_sql::Sql;
    use ucp_store_sql::testing::{Pooler, TestDatabase, cipher, migrated_database};

    struct Pooled {
        _pooler: Pooler,
        database: TestDatabase,
    }

    #[async_trait]
    impl Database for Pooled {
        async fn is_anyone_waiting(&self) -> bool {
            self.database.is_anyone_waiting().await
        }
    }

    async fn fresh() -> Option<(Arc<dyn Store>, Pooled)> {
        let database = migrated_database().await?;
        let pooler = Pooler::shared(&database).await?;
        let store = Sql::connect_postgres(&pooler.url())
            .await
            .expect("a fresh database")
            .sealed_with(cipher());
        let pooled = Pooled {
            _pooler: pooler,
            database,
        };
        Some((Arc::new(store), pooled))
    }

    ucp_store_conformance::conformance!(crate::pooled::fresh);
    ucp_store_conformance::pairs!(crate::pooled::fresh);
}
