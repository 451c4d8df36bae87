//! The connections that read outside transactions.
//!
//! The pool of sqlx tests each connection when it is released, because the statement on it may have been abandoned. That
//! is a round trip for each statement. Here the future of a statement owns its connection, so an abandoned one is closed.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sqlx::postgres::{PgArguments, PgConnectOptions, PgConnection, PgRow, Postgres};
use sqlx::query::Query;
use sqlx::{Connection as _, Error};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

/// A connection to Postgres that was used within this time is used again without a test, which is a round trip.
pub(crate) const TRUSTED_FOR: Duration = Duration::from_secs(1);
/// The number of connections.
const READERS: usize = 10;
/// How long a statement waits for a connection.
const PATIENCE: Duration = Duration::from_secs(30);

/// Connections to Postgres, opened when they are needed.
#[derive(Debug)]
pub(crate) struct Readers {
    options: PgConnectOptions,
    free: Semaphore,
    /// Those that are open and not in use, with the time of their last use. The last one was used last.
    idle: Mutex<Vec<(PgConnection, Instant)>>,
}

impl Readers {
    pub(crate) fn new(options: PgConnectOptions) -> Self {
        Self {
            options,
            free: Semaphore::new(READERS),
            idle: Mutex::default(),
        }
    }

    /// Runs a statement and returns its rows.
    pub(crate) async fn fetch(
        &self,
        query: Query<'static, Postgres, PgArguments>,
    ) -> Result<Vec<PgRow>, Error> {
        let opening = async {
            let free = self.free.acquire().await.map_err(|_| Error::PoolClosed)?;
            Ok::<_, Error>((free, self.open().await?))
        };
        let opened = timeout(PATIENCE, opening).await;
        let (_free, mut connection) = opened.map_err(|_| Error::PoolTimedOut)??;
        let rows = query.fetch_all(&mut connection).await;
        // After any other error the connection is closed.
        if let Ok(_) | Err(Error::Database(_)) = &rows {
            self.idle().push((connection, Instant::now()));
        }
        rows
    }

    async fn open(&self) -> Result<PgConnection, Error> {
        let idle = self.idle().pop();
        if let Some((mut connection, used)) = idle {
            // One that has been idle may have been lost.
            if used.elapsed() < TRUSTED_FOR || connection.ping().await.is_ok() {
                return Ok(connection);
            }
        }
        PgConnection::connect_with(&self.options).await
    }

    fn idle(&self) -> MutexGuard<'_, Vec<(PgConnection, Instant)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
