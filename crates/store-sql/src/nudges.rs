//! Nudges: notifications that another process has accepted an operation. A lost nudge only adds latency, since every
//! worker also polls.

use std::sync::Arc;
use std::time::Duration;

use sqlx::PgPool;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use tokio::sync::Notify;
use tokio::task::JoinSet;

/// The pause between two attempts to listen again.
const PAUSE: Duration = Duration::from_secs(1);

/// Nudges over Postgres. Dropping the value ends its tasks.
#[derive(Debug)]
pub(crate) struct Nudges {
    outgoing: Arc<Notify>,
    incoming: Arc<Notify>,
    _tasks: JoinSet<()>,
}

impl Nudges {
    /// Starts to listen. Sending and listening have a connection each: a NOTIFY inside another transaction would
    /// serialize commits on a lock of the whole database.
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

    /// Nudges every process, asynchronously. Calls while a nudge is being sent are combined into one more.
    pub(crate) fn send(&self) {
        self.outgoing.notify_one();
    }

    /// Resolves once a nudge has arrived since the last call resolved, or nudges may have been missed.
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
            // `None` means that the connection was lost and restored: nudges may have been missed.
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
