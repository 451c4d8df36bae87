//! Nudges: how a process learns that another one has accepted an operation. Losing one costs latency alone, since every
//! worker also looks of its own accord.

use std::sync::Arc;
use std::time::Duration;

use sqlx::PgPool;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use tokio::sync::Notify;
use tokio::task::JoinSet;

/// Between two tries to listen again.
const PAUSE: Duration = Duration::from_secs(1);

/// Nudges through Postgres. Dropping it ends its tasks.
#[derive(Debug)]
pub(crate) struct Nudges {
    outgoing: Arc<Notify>,
    incoming: Arc<Notify>,
    _tasks: JoinSet<()>,
}

impl Nudges {
    /// Listens from now on. Sending and listening have a connection each: a NOTIFY inside another transaction would
    /// make commits queue for one lock of the whole database.
    pub(crate) async fn connect(options: PgConnectOptions) -> Result<Self, sqlx::Error> {
        let alone = || {
            PgPoolOptions::new()
                .max_connections(1)
                .max_lifetime(None)
                .idle_timeout(None)
        };
        let mut listener =
            PgListener::connect_with(&alone().connect_with(options.clone()).await?).await?;
        listener.listen("ucp_operations").await?;

        let outgoing = Arc::new(Notify::new());
        let incoming = Arc::new(Notify::new());
        let mut tasks = JoinSet::new();
        tasks.spawn(send(alone().connect_lazy_with(options), outgoing.clone()));
        tasks.spawn(listen(listener, incoming.clone()));
        Ok(Self {
            outgoing,
            incoming,
            _tasks: tasks,
        })
    }

    /// Nudges every process soon. Many calls while one nudge is on its way make one more.
    pub(crate) fn send(&self) {
        self.outgoing.notify_one();
    }

    /// Resolves after a nudge since the last time, or after nudges may have been missed.
    pub(crate) async fn received(&self) {
        self.incoming.notified().await;
    }
}

async fn send(pool: PgPool, outgoing: Arc<Notify>) {
    loop {
        outgoing.notified().await;
        if let Err(error) = sqlx::query("NOTIFY ucp_operations").execute(&pool).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "could not nudge other processes"
            );
        }
    }
}

async fn listen(mut listener: PgListener, incoming: Arc<Notify>) {
    loop {
        match listener.try_recv().await {
            // Without a notification, the connection was lost and is there again: some may have been missed.
            Ok(_) => incoming.notify_one(),
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "cannot listen for nudges"
                );
                incoming.notify_one();
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}
