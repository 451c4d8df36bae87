//! Connections to Postgres.
//!
//! The pool of sqlx waits without a limit for a connection that is lost without a word, also when it is given back, and
//! tests each connection then, which is a round trip. Here each statement has a time limit, and owns its connection: one
//! that was abandoned, or that may be lost, is closed.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sqlx::postgres::{PgArguments, PgConnection, PgRow, Postgres};
use sqlx::query::Query;
use sqlx::{Connection as _, Error, Executor as _};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep, timeout};

use crate::servers::{BEGIN_POOLED, Servers, Unusable, is_passing};

/// A connection that was used within this time is used again without a test, which is a round trip.
const TRUSTED_FOR: Duration = Duration::from_secs(1);
/// How long such a test may take.
const TEST: Duration = Duration::from_millis(500);
/// How long it is tried to open a connection while the servers refuse it.
const OPENING: Duration = Duration::from_secs(1);
/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(100);
/// How long a statement may take, how long it may wait for a connection, and how long opening one may take, while the
/// database answers others.
const STATEMENT: Duration = Duration::from_secs(6);
/// A connection that was opened longer ago is not used again.
const AGE_MAX: Duration = Duration::from_secs(30 * 60);

/// A number of connections, which are opened when they are needed.
#[derive(Clone, Debug)]
pub(crate) struct Connections {
    servers: Arc<Servers>,
    free: Arc<Semaphore>,
    /// Those that are open and not in use. The last one was used last.
    idle: Arc<Mutex<Vec<Idle>>>,
}

#[derive(Debug)]
struct Idle {
    session: Session,
    used: Instant,
}

/// An open connection.
#[derive(Debug)]
struct Session {
    connection: PgConnection,
    opened: Instant,
    /// The epoch of the servers in which it was opened.
    epoch: u64,
}

impl Connections {
    pub(crate) fn new(servers: Arc<Servers>, size: usize) -> Self {
        Self {
            servers,
            free: Arc::new(Semaphore::new(size)),
            idle: Arc::default(),
        }
    }

    /// Runs a statement that reads, outside a transaction, and returns its rows.
    pub(crate) async fn fetch(
        &self,
        query: Query<'static, Postgres, PgArguments>,
    ) -> Result<Vec<PgRow>, Error> {
        if !self.servers.are_pooled() {
            return self.hold().await?.fetch(query).await;
        }
        let mut held = self.begin().await?;
        let rows = held.fetch(query).await;
        held.end(rows.is_ok()).await?;
        rows
    }

    /// Runs a statement that writes, without another one in its transaction, and returns the number of rows it wrote.
    pub(crate) async fn execute(
        &self,
        query: Query<'static, Postgres, PgArguments>,
    ) -> Result<u64, Error> {
        if !self.servers.are_pooled() {
            return self.hold().await?.execute(query).await;
        }
        let mut held = self.begin().await?;
        let written = held.execute(query).await;
        held.end(written.is_ok()).await?;
        written
    }

    /// Runs a statement without values, which takes one round trip and leaves nothing in the session.
    pub(crate) async fn run(&self, sql: &'static str) -> Result<(), Error> {
        self.hold().await?.run(sql).await
    }

    /// Leaves the server, since it only takes reads. Returns the error that says so.
    pub(crate) fn leave(&self) -> Error {
        self.servers.end_epoch(self.servers.epoch());
        Unusable::ReadOnly.into()
    }

    /// Begins a transaction.
    pub(crate) async fn begin(&self) -> Result<Held, Error> {
        let mut held = self.hold().await?;
        held.is_in_transaction = true;
        let begin = if self.servers.are_pooled() {
            BEGIN_POOLED
        } else {
            "BEGIN"
        };
        held.run(begin).await?;
        Ok(held)
    }

    async fn hold(&self) -> Result<Held, Error> {
        let free = Arc::clone(&self.free).acquire_owned();
        let free = self.servers.bounded(STATEMENT, free).await?;
        let free = free.map_err(|_| Error::PoolClosed)?;
        let session = match self.reuse().await {
            Some(session) => session,
            None => {
                let opened = self.servers.bounded(STATEMENT, self.open());
                opened.await.flatten()?
            }
        };
        Ok(Held {
            connections: self.clone(),
            session: Some(session),
            is_usable: true,
            is_in_transaction: false,
            _free: free,
        })
    }

    /// Returns an idle connection, after a test if it may have been lost.
    async fn reuse(&self) -> Option<Session> {
        let Idle { mut session, used } = self.lock_idle().pop()?;
        let is_outdated =
            session.epoch != self.servers.epoch() || session.opened.elapsed() > AGE_MAX;
        let is_there = if is_outdated || used.elapsed() < TRUSTED_FOR {
            !is_outdated
        } else {
            matches!(timeout(TEST, session.connection.ping()).await, Ok(Ok(())))
        };
        if is_there {
            return Some(session);
        }
        // The others have been idle for longer.
        self.lock_idle().clear();
        None
    }

    /// Opens a connection. A server that is just starting or being promoted is waited for.
    async fn open(&self) -> Result<Session, Error> {
        let began = Instant::now();
        loop {
            match self.servers.open().await {
                Ok((connection, epoch)) => {
                    return Ok(Session {
                        connection,
                        opened: Instant::now(),
                        epoch,
                    });
                }
                Err(error) if is_passing(&error) && began.elapsed() < OPENING => {}
                Err(error) => return Err(error),
            }
            sleep(PAUSE).await;
        }
    }

    fn lock_idle(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection in use. Dropping it gives it back, or closes it if it is lost, in doubt or inside a transaction.
#[derive(Debug)]
pub(crate) struct Held {
    connections: Connections,
    /// Only taken when this is dropped.
    session: Option<Session>,
    is_usable: bool,
    is_in_transaction: bool,
    _free: OwnedSemaphorePermit,
}

type Answer<'c, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'c>>;

impl Held {
    /// Runs a statement and returns its rows.
    pub(crate) async fn fetch(
        &mut self,
        query: Query<'static, Postgres, PgArguments>,
    ) -> Result<Vec<PgRow>, Error> {
        let query = self.prepared(query);
        self.ask(|connection| Box::pin(query.fetch_all(connection)))
            .await
    }

    /// Runs a statement and returns the number of rows it wrote.
    pub(crate) async fn execute(
        &mut self,
        query: Query<'static, Postgres, PgArguments>,
    ) -> Result<u64, Error> {
        let query = self.prepared(query);
        let done = self.ask(|connection| Box::pin(query.execute(connection)));
        Ok(done.await?.rows_affected())
    }

    /// Runs a statement without values.
    pub(crate) async fn run(&mut self, sql: &'static str) -> Result<(), Error> {
        self.ask(|connection| Box::pin(connection.execute(sql)))
            .await
            .map(drop)
    }

    /// Ends the transaction, and keeps what it wrote if `commits`.
    pub(crate) async fn end(&mut self, commits: bool) -> Result<(), Error> {
        self.run(if commits { "COMMIT" } else { "ROLLBACK" })
            .await?;
        self.is_in_transaction = false;
        Ok(())
    }

    /// Another client may have the next connection of a pooler, and would find the names of its statements taken.
    fn prepared(
        &self,
        query: Query<'static, Postgres, PgArguments>,
    ) -> Query<'static, Postgres, PgArguments> {
        query.persistent(!self.connections.servers.are_pooled())
    }

    async fn ask<'c, T>(
        &'c mut self,
        statement: impl FnOnce(&'c mut PgConnection) -> Answer<'c, T>,
    ) -> Result<T, Error> {
        let Self {
            connections,
            session,
            is_usable,
            ..
        } = self;
        let session = session.as_mut().ok_or(Error::PoolClosed)?;
        let (servers, epoch) = (&connections.servers, session.epoch);
        // Unless there is an answer.
        *is_usable = false;
        let answer = servers.bounded(STATEMENT, statement(&mut session.connection));
        let answer = answer.await.flatten();
        let refused = match &answer {
            Ok(_) => None,
            Err(Error::Database(refused)) => refused.code(),
            Err(_) => {
                // The others may be lost in the same way.
                connections.lock_idle().clear();
                return answer;
            }
        };
        servers.has_answered();
        *is_usable = match refused.as_deref() {
            None => true,
            Some("25006") => {
                servers.end_epoch(epoch);
                false
            }
            // The session has ended, or its connection has failed.
            Some(code) => !code.starts_with("57P") && !code.starts_with("08"),
        };
        answer
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(session) = self.session.take()
            && self.is_usable
            && !self.is_in_transaction
        {
            let used = Instant::now();
            self.connections.lock_idle().push(Idle { session, used });
        }
    }
}

#[cfg(test)]
mod tests {
    use sqlx::Row as _;

    use super::*;
    use crate::testing::Failover;

    /// A process that writes is told by a write that its server takes none any more. The next write finds another.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_refused_write_leads_to_a_server_that_takes_writes() {
        let Some(database) = Failover::start().await else {
            return;
        };
        let servers = Servers::find(&database.url()).await.unwrap();
        let writers = Connections::new(Arc::new(servers), 1);
        let write = || writers.execute(sqlx::query("CREATE TABLE IF NOT EXISTS written ()"));
        write().await.unwrap();
        database.make_primary_read_only().await;
        let refused = async {
            loop {
                if let Err(refused) = write().await {
                    return refused;
                }
            }
        };
        let refused = timeout(STATEMENT, refused).await.unwrap();
        let code = refused.as_database_error().and_then(|error| error.code());
        assert_eq!(code.as_deref(), Some("25006"), "{refused}");
        database.promote_standby();
        write().await.unwrap();
    }

    /// A primary that lives on shows what it had. Whatever is read after a write elsewhere is read there.
    #[tokio::test(flavor = "multi_thread")]
    async fn nothing_is_read_from_the_server_of_before() {
        let Some(database) = Failover::start().await else {
            return;
        };
        let servers = Arc::new(Servers::find(&database.url()).await.unwrap());
        let readers = Connections::new(Arc::clone(&servers), 2);
        let writers = Connections::new(servers, 1);
        let ask = || sqlx::query("SELECT current_setting('transaction_read_only') AS read_only");
        let reading = (readers.hold().await.unwrap(), readers.hold().await.unwrap());
        drop(reading);
        database.make_primary_read_only().await;
        database.promote_standby();

        writers.fetch(ask()).await.unwrap();
        let (mut one, mut other) = (readers.hold().await.unwrap(), readers.hold().await.unwrap());
        for held in [&mut one, &mut other] {
            let rows = held.fetch(ask()).await.unwrap();
            assert_eq!(rows[0].get::<&str, _>("read_only"), "off");
        }
    }
}
