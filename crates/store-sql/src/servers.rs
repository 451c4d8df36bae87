//! The servers of a Postgres database, of which one takes writes at a time.

use std::io;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{Connection as _, Error, Row as _, raw_sql};
use tokio::task::JoinSet;
use tokio::time::{Instant, interval_at, sleep, sleep_until, timeout};
use ucp_model::chain;

use crate::addresses::Addresses;

/// How long a process that starts waits for its database.
pub(crate) const START: Duration = Duration::from_secs(30);
/// How long an attempt to connect may take meanwhile.
const ATTEMPT: Duration = Duration::from_secs(10);
/// How long it may take until somebody who watches is told of it.
const UNANSWERED: Duration = Duration::from_millis(500);
/// The pause after the first attempt to connect. Each further one is twice as long.
const PAUSE: Duration = Duration::from_millis(100);
/// The longest pause between two attempts to connect.
const PAUSE_MAX: Duration = Duration::from_secs(2);
/// How long the server that was used last is tried alone.
const HEAD_START: Duration = Duration::from_millis(500);
/// A database that has answered nothing for this time may be away.
const SILENCE: Duration = Duration::from_millis(750);
/// How often the silence is measured while something waits.
const TICK: Duration = Duration::from_millis(250);
/// How long a database that may be away has to take a new connection.
const PROBE: Duration = Duration::from_secs(1);

/// The limits of a session, which the server keeps. They end what a lost client has left behind. The limit of a
/// statement is below [`STATEMENT`](crate::connections), so that the server's error arrives.
const LIMITS: [(&str, &str); 3] = [
    ("statement_timeout", "5s"),
    ("lock_timeout", "4s"),
    ("idle_in_transaction_session_timeout", "10s"),
];
/// How the server notices that a client is gone.
const KEEPALIVE: [(&str, &str); 4] = [
    ("tcp_keepalives_idle", "10"),
    ("tcp_keepalives_interval", "5"),
    ("tcp_keepalives_count", "3"),
    ("tcp_user_timeout", "15s"),
];
/// Begins a transaction through a pooler, where a session has no settings.
pub(crate) const BEGIN_POOLED: &str = "BEGIN; SET LOCAL statement_timeout = '5s'; \
    SET LOCAL lock_timeout = '4s'; SET LOCAL idle_in_transaction_session_timeout = '10s'";
/// Asks a new connection whether it takes writes, and whether the server got the settings of the session.
const ASK: &str = "SELECT current_setting('transaction_read_only') AS read_only, \
    current_setting('ucp.session', true) AS session";
/// A setting that nobody but `ucp` makes.
const MARK: (&str, &str) = ("ucp.session", "own");

/// Errors that the driver has no variant for.
#[derive(Clone, Copy, Debug, thiserror::Error)]
pub(crate) enum Unusable {
    #[error("the database server only takes reads")]
    ReadOnly,
    #[error("the database did not answer in time")]
    Late,
    #[error("the database does not answer")]
    Away,
    #[error(
        "a pooler keeps the settings of the session from the database; say pgbouncer=true in the URL"
    )]
    Pooled,
}

/// The error of a process that could not start.
#[derive(Debug, thiserror::Error)]
#[error("the database at {servers} could not be reached within {} seconds", START.as_secs())]
struct Unreached {
    servers: String,
    #[source]
    last: Error,
}

impl From<Unusable> for Error {
    fn from(unusable: Unusable) -> Self {
        Error::Io(io::Error::other(unusable))
    }
}

impl Unusable {
    fn of(error: &Error) -> Option<Self> {
        match error {
            Error::Io(error) => error.get_ref()?.downcast_ref().copied(),
            _ => None,
        }
    }
}

/// The servers of a database.
#[derive(Debug)]
pub(crate) struct Servers {
    servers: Vec<PgConnectOptions>,
    pooled: bool,
    /// The index of the one that took the last connection.
    last: AtomicUsize,
    /// Increases when the connections of before must not be used any more.
    epoch: AtomicU64,
    /// When the database answered last.
    answered: Mutex<Instant>,
    /// When the database was last asked in vain whether it is there. Locked while it is asked.
    probing: tokio::sync::Mutex<Option<Instant>>,
}

impl Servers {
    /// Finds a server that takes writes, and finds out whether there is a pooler, if `url` does not say so.
    pub(crate) async fn find(url: &str) -> Result<Self, Error> {
        let Addresses { servers, pooler } = Addresses::from_str(url)?;
        let asked = Instant::now();
        let mut found = Self::of(&servers, pooler.unwrap_or(false));
        let mut pause = PAUSE;
        loop {
            match found.attempt().await {
                Ok(()) => return Ok(found),
                Err(error) if pooler.is_none() && !found.pooled && is_of_pooler(&error) => {
                    tracing::info!("the database is behind a pooler");
                    found = Self::of(&servers, true);
                }
                Err(error) if !is_passing(&error) => return Err(error),
                Err(last) if asked.elapsed() >= START => {
                    let servers = found.names();
                    return Err(Error::Io(io::Error::other(Unreached { servers, last })));
                }
                Err(error) => {
                    let left = START.saturating_sub(asked.elapsed());
                    tracing::warn!(
                        database.servers = found.names(),
                        error = %chain(&error),
                        wait.left_s = left.as_secs(),
                        "waiting for the database"
                    );
                    sleep(pause).await;
                    pause = PAUSE_MAX.min(pause * 2);
                }
            }
        }
    }

    /// Tries to connect, and tells if there is no answer for a while.
    async fn attempt(&self) -> Result<(), Error> {
        let mut opening = std::pin::pin!(timeout(ATTEMPT, self.open()));
        let opened = tokio::select! {
            biased;
            opened = &mut opening => opened,
            () = sleep(UNANSWERED) => {
                tracing::warn!(
                    database.servers = self.names(),
                    "the database has not answered yet"
                );
                opening.await
            }
        };
        opened
            .unwrap_or_else(|_| Err(Unusable::Late.into()))
            .map(drop)
    }

    /// Returns the hosts and ports, for people. The URL also has the password.
    fn names(&self) -> String {
        let names = self.servers.iter().map(|server| match server.get_socket() {
            Some(socket) => socket.display().to_string(),
            None if server.get_host().contains(':') => {
                format!("[{}]:{}", server.get_host(), server.get_port())
            }
            None => format!("{}:{}", server.get_host(), server.get_port()),
        });
        names.collect::<Vec<_>>().join(", ")
    }

    fn of(servers: &[PgConnectOptions], pooled: bool) -> Self {
        let servers = servers.iter().map(|server| {
            let server = server.clone().application_name("ucp");
            if pooled {
                // Poolers refuse settings that they do not know.
                server.extra_float_digits(None)
            } else {
                server.options(LIMITS).options(KEEPALIVE).options([MARK])
            }
        });
        Self {
            servers: servers.collect(),
            pooled,
            last: AtomicUsize::new(0),
            epoch: AtomicU64::new(0),
            answered: Mutex::new(Instant::now()),
            probing: tokio::sync::Mutex::default(),
        }
    }

    /// Returns whether a pooler hands out connections by transaction. Then there are no named statements, no settings
    /// and no locks of a session, and nobody can listen.
    pub(crate) fn are_pooled(&self) -> bool {
        self.pooled
    }

    /// Returns the current epoch. Connections of earlier ones must not be used any more.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Relaxed)
    }

    /// Ends the epoch, since a server of it has turned out to take no writes.
    pub(crate) fn end_epoch(&self, epoch: u64) {
        if self.next_epoch(epoch) {
            tracing::warn!(
                "the database server only takes reads; looking for one that takes writes"
            );
        }
    }

    /// Returns whether the epoch was not over yet.
    fn next_epoch(&self, epoch: u64) -> bool {
        let order = Ordering::Relaxed;
        let ended = self.epoch.compare_exchange(epoch, epoch + 1, order, order);
        ended.is_ok()
    }

    /// Connects to a server that takes writes, and returns the epoch too. The one that took the last connection is asked
    /// first, and soon the others beside it. If another one takes this connection, the epoch ends: the server of before may
    /// live on, and does not show any more what is written.
    pub(crate) async fn open(&self) -> Result<(PgConnection, u64), Error> {
        let epoch = self.epoch();
        let (server, connection) = self.find_writable().await?;
        self.has_answered();
        if self.last.swap(server, Ordering::Relaxed) == server {
            return Ok((connection, epoch));
        }
        self.next_epoch(epoch);
        Ok((connection, self.epoch()))
    }

    /// Returns how to connect to a server that takes writes, without the limits of a statement.
    pub(crate) async fn unlimited(&self) -> Result<PgConnectOptions, Error> {
        let (server, _) = self.find_writable().await?;
        let server = self.servers[server].clone();
        if self.pooled {
            return Ok(server);
        }
        Ok(server.options(LIMITS.map(|(name, _)| (name, "0"))))
    }

    async fn find_writable(&self) -> Result<(usize, PgConnection), Error> {
        let first = self.last.load(Ordering::Relaxed);
        let mut others = (0..self.servers.len()).filter(|at| *at != first).peekable();
        let mut attempts = JoinSet::new();
        let attempt = |at: usize| connect(at, self.servers[at].clone(), !self.pooled);
        attempts.spawn(attempt(first));
        let head_start = Instant::now() + HEAD_START;
        loop {
            let failed = tokio::select! {
                Some(attempt) = attempts.join_next() => match attempt {
                    Ok(Ok(found)) => return Ok(found),
                    Ok(Err(error)) => Some(error),
                    Err(_) => Some(Error::WorkerCrashed),
                },
                () = sleep_until(head_start), if others.peek().is_some() => None,
            };
            for other in others.by_ref() {
                attempts.spawn(attempt(other));
            }
            if let Some(error) = failed
                && attempts.is_empty()
            {
                return Err(error);
            }
        }
    }

    /// Waits for `work`, which needs the database: up to `limit` while the database is slow, and two seconds if it is
    /// away.
    pub(crate) async fn bounded<W: Future>(
        &self,
        limit: Duration,
        work: W,
    ) -> Result<W::Output, Error> {
        let began = Instant::now();
        let mut work = std::pin::pin!(work);
        let mut ticks = interval_at(began + TICK, TICK);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return Ok(done),
                _ = ticks.tick() => {}
            }
            if began.elapsed() >= limit {
                return Err(Unusable::Late.into());
            }
            tokio::select! {
                biased;
                done = &mut work => return Ok(done),
                is_there = self.is_there() => {
                    if !is_there {
                        return Err(Unusable::Away.into());
                    }
                }
                () = sleep_until(began + limit) => return Err(Unusable::Late.into()),
            }
        }
    }

    /// Returns whether the database has answered lately, or answers now.
    async fn is_there(&self) -> bool {
        let began = Instant::now();
        // One asks for all.
        let mut in_vain = self.probing.lock().await;
        if self.lock_answered().elapsed() < SILENCE {
            return true;
        }
        if in_vain.is_some_and(|at| at >= began) {
            return false;
        }
        let is_there = matches!(timeout(PROBE, self.open()).await, Ok(Ok(_)));
        if !is_there {
            *in_vain = Some(Instant::now());
        }
        is_there
    }

    /// Records that the database has answered.
    pub(crate) fn has_answered(&self) {
        *self.lock_answered() = Instant::now();
    }

    fn lock_answered(&self) -> std::sync::MutexGuard<'_, Instant> {
        self.answered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Connects to a server, and fails if it takes no writes, or if `has_session` and it did not get the session's settings.
async fn connect(
    at: usize,
    server: PgConnectOptions,
    has_session: bool,
) -> Result<(usize, PgConnection), Error> {
    let mut connection = PgConnection::connect_with(&server).await?;
    let answer = raw_sql(ASK).fetch_one(&mut connection).await?;
    if has_session && answer.try_get::<Option<&str>, _>("session")? != Some(MARK.1) {
        return Err(Unusable::Pooled.into());
    }
    if answer.try_get::<&str, _>("read_only")? == "on" {
        return Err(Unusable::ReadOnly.into());
    }
    Ok((at, connection))
}

/// Returns whether a pooler has refused or dropped the settings of a session.
fn is_of_pooler(error: &Error) -> bool {
    if let Some(Unusable::Pooled) = Unusable::of(error) {
        return true;
    }
    error.as_database_error().is_some_and(|error| {
        // PgBouncer, and RDS Proxy.
        let message = error.message();
        message.contains("unsupported startup parameter")
            || message.contains("doesn't support command-line options")
    })
}

/// Returns whether a pooler has refused a connection in clear. PgBouncer has one code for all of its refusals.
fn demands_tls(message: &str) -> bool {
    message.contains("SSL required")
}

/// Returns whether another attempt to connect may succeed.
pub(crate) fn is_passing(error: &Error) -> bool {
    match Unusable::of(error) {
        Some(Unusable::ReadOnly | Unusable::Late | Unusable::Away) => return true,
        Some(Unusable::Pooled) => return false,
        None => {}
    }
    match error {
        Error::Io(error) => matches!(
            error.kind(),
            io::ErrorKind::BrokenPipe
                | io::ErrorKind::ConnectionAborted
                | io::ErrorKind::ConnectionRefused
                | io::ErrorKind::ConnectionReset
                | io::ErrorKind::HostUnreachable
                | io::ErrorKind::TimedOut
                | io::ErrorKind::UnexpectedEof
        ),
        // The server starts or stops, has no connection left, or is lost to the pooler.
        Error::Database(refused) => {
            let code = refused.code().unwrap_or_default();
            let passes = code.starts_with("57P") || code == "53300" || code.starts_with("08");
            passes && !is_of_pooler(error) && !demands_tls(refused.message())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(100);

    /// Returns the URL of a database whose server takes connections, and says nothing. It does so while the listener
    /// lives.
    async fn silent() -> (TcpListener, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        (listener, format!("postgres://ucp@{address}/ucp"))
    }

    /// The servers of a database that was there when they were found.
    fn servers(url: &str) -> Servers {
        Servers::of(&Addresses::from_str(url).unwrap().servers, false)
    }

    #[tokio::test(start_paused = true)]
    async fn all_who_wait_are_told_at_once_that_the_database_is_away() {
        let (_listener, url) = silent().await;
        let servers = std::sync::Arc::new(servers(&url));
        let mut requests = JoinSet::new();
        for _ in 0..50 {
            let servers = std::sync::Arc::clone(&servers);
            requests.spawn(async move {
                let asked = Instant::now();
                let work = std::future::pending::<()>();
                let told = servers.bounded(LIMIT, work).await.unwrap_err();
                (Unusable::of(&told), asked.elapsed())
            });
        }
        for (told, took) in requests.join_all().await {
            assert!(matches!(told, Some(Unusable::Away)), "{told:?}");
            assert!(took <= Duration::from_secs(2), "{took:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_limit_holds_while_another_one_asks_for_all() {
        let (_listener, url) = silent().await;
        let servers = servers(&url);
        let _asks = servers.probing.lock().await;
        let limit = TICK * 2;
        let told = timeout(LIMIT, servers.bounded(limit, std::future::pending::<()>())).await;
        let told = told.expect("it is told in time").unwrap_err();
        assert!(
            matches!(Unusable::of(&told), Some(Unusable::Late)),
            "{told:?}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_says_nothing_does_not_hang_the_start() {
        let (_listener, url) = silent().await;
        let found = timeout(LIMIT, Servers::find(&url)).await;
        let error = chain(&found.expect("it gives up").unwrap_err());
        for part in [
            "at 127.0.0.1:",
            "within 30 seconds",
            "did not answer in time",
        ] {
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn a_host_that_does_not_answer_may_answer_later() {
        for kind in [io::ErrorKind::TimedOut, io::ErrorKind::HostUnreachable] {
            assert!(is_passing(&Error::Io(kind.into())), "{kind}");
        }
        assert!(!is_passing(&Error::Io(io::ErrorKind::NotFound.into())));
    }
}
