//! Runs the conformance suite on both engines.

mod sqlite {
    use std::sync::Arc;

    use tempfile::TempDir;
    use ucp_store::Store;
    use ucp_store_sql::Sql;

    async fn fresh() -> Option<(Arc<dyn Store>, TempDir)> {
        let folder = TempDir::new().expect("a folder");
        let store = Sql::open_sqlite(folder.path().join("ucp.db"))
            .await
            .expect("a fresh database");
        Some((Arc::new(store), folder))
    }

    ucp_store::conformance!(crate::sqlite::fresh);
}

mod postgres {
    use std::sync::Arc;

    use ucp_store::Store;
    use ucp_store_sql::Sql;
    use ucp_store_sql::testing::{TestDatabase, database};

    async fn fresh() -> Option<(Arc<dyn Store>, TestDatabase)> {
        let database = database().await?;
        let store = Sql::connect_postgres(&database.url())
            .await
            .expect("a fresh database");
        Some((Arc::new(store), database))
    }

    ucp_store::conformance!(crate::postgres::fresh);
}
