//! What was deleted or replaced leaves the files of the database.
//!
//! SQLite overwrites deleted content in the database with zeros (`secure_delete`), but the write-ahead log keeps each
//! page as it was at each commit, until the log is written from its beginning again. So the log is truncated after what
//! deletes secrets. Postgres has its log to itself; how long that keeps what was deleted is its operator's choice.

use sqlx::Row as _;
use tracing::warn;
use ucp_store::Error;

use crate::Sql;
use crate::database::{Database, unavailable};

/// The number of times that a truncation gives way to readers. Each waits as long as any statement that finds the
/// database busy.
const TRIES: u32 = 3;

impl Sql {
    /// Erases what was deleted or replaced from SQLite's write-ahead log. Returns whether nothing of it is left; readers
    /// can be in the way.
    pub async fn erase(&self) -> Result<bool, Error> {
        let Database::Sqlite { writer, .. } = &self.database else {
            return Ok(true);
        };
        for _ in 0..TRIES {
            let truncated = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)");
            let row = truncated.fetch_one(writer).await.map_err(unavailable)?;
            let is_busy: i64 = row.try_get("busy").map_err(unavailable)?;
            if is_busy == 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Erases after a change that deletes secrets. The change is made, so a failure is only logged.
    pub(crate) async fn erase_deleted(&self) {
        match self.erase().await {
            Ok(true) => {}
            Ok(false) => {
                warn!("deleted secrets are still in the write-ahead log: it is being read")
            }
            Err(error) => warn!(
                error = %ucp_model::chain(&error),
                "deleted secrets are still in the write-ahead log"
            ),
        }
    }

    /// Closes the database. SQLite removes its write-ahead log then.
    pub async fn close(&self) {
        if let Database::Sqlite {
            writer, readers, ..
        } = &self.database
        {
            readers.close().await;
            writer.close().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    use tempfile::TempDir;
    use ucp_model::{CredentialId, CredentialKind, NewCredential, Timestamp};
    use ucp_store::{Credentials as _, Precondition, Sealed};

    use crate::Sql;

    const SECRET: &[u8] = b"a secret that somebody deleted";
    const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

    async fn put(store: &Sql, secret: &[u8]) {
        let new = NewCredential {
            id: CredentialId {
                plane: "aws".to_owned(),
                name: "default".to_owned(),
            },
            location: "global".to_owned(),
            tags: Default::default(),
            body: CredentialKind::AccessKey {
                access_key_id: "AKIA".to_owned(),
            },
        };
        let secret = Some(Sealed(secret.to_vec()));
        let any = Precondition::default();
        let put = store.put_credential(new, secret, &any, NOW);
        put.await.unwrap();
    }

    /// Whether a file in `folder` has the secret.
    fn is_anywhere(folder: &Path) -> bool {
        let files = fs::read_dir(folder).unwrap();
        let mut contents = files.map(|file| fs::read(file.unwrap().path()).unwrap());
        contents.any(|bytes| bytes.windows(SECRET.len()).any(|window| window == SECRET))
    }

    #[tokio::test]
    async fn a_replaced_secret_is_in_no_file() {
        let folder = TempDir::new().unwrap();
        let store = Sql::open_sqlite(folder.path().join("ucp.db"))
            .await
            .unwrap();
        put(&store, SECRET).await;
        assert!(is_anywhere(folder.path()), "it is stored");
        put(&store, b"another").await;
        assert!(!is_anywhere(folder.path()), "replaced");
    }

    #[tokio::test]
    async fn a_deleted_secret_is_in_no_file() {
        let folder = TempDir::new().unwrap();
        let store = Sql::open_sqlite(folder.path().join("ucp.db"))
            .await
            .unwrap();
        put(&store, SECRET).await;
        let id = CredentialId {
            plane: "aws".to_owned(),
            name: "default".to_owned(),
        };
        let deleted = store.delete_credential(&id, &Precondition::default()).await;
        assert!(deleted.unwrap());
        assert!(!is_anywhere(folder.path()));
    }

    #[tokio::test]
    async fn a_closed_database_has_no_log() {
        let folder = TempDir::new().unwrap();
        let store = Sql::open_sqlite(folder.path().join("ucp.db"))
            .await
            .unwrap();
        put(&store, SECRET).await;
        store.close().await;
        let log = folder.path().join("ucp.db-wal");
        assert!(!log.exists(), "{log:?}");
    }

    #[tokio::test]
    async fn only_the_owner_can_access_the_files() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("ucp.db");
        let modes = || {
            let files = fs::read_dir(folder.path()).unwrap();
            let mode = |file: fs::DirEntry| file.metadata().unwrap().permissions().mode() & 0o777;
            let modes = files.map(|file| mode(file.unwrap()));
            modes.collect::<Vec<_>>()
        };
        let store = Sql::open_sqlite(&path).await.unwrap();
        put(&store, SECRET).await;
        assert_eq!(modes(), [0o600; 4], "new ones");
        drop(store);

        for file in fs::read_dir(folder.path()).unwrap() {
            let open = fs::Permissions::from_mode(0o644);
            fs::set_permissions(file.unwrap().path(), open).unwrap();
        }
        let store = Sql::open_sqlite(&path).await.unwrap();
        put(&store, SECRET).await;
        let open = modes().into_iter().filter(|mode| *mode != 0o600);
        // That of the lock, which is empty.
        assert_eq!(
            open.collect::<Vec<_>>(),
            [0o644],
            "those of earlier versions"
        );
    }
}
