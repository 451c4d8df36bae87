//! Nudges: notifications that another process has accepted an operation, or changed a credential. One that cannot be
//! sent is sent again. A lost nudge only adds latency, since every worker also polls, and cached credentials grow old.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::{PgListener, PgPoolOptions};
use sqlx::{Error, Executor as _, Row as _};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::connections::Connections;
use crate::servers::{START, Servers, Unusable};

/// The pause between two attempts to listen, or to send.
const PAUSE: Duration = Duration::from_secs(1);
/// How long nothing may be heard before the listener tests its connection.
const SILENCE: Duration = Duration::from_secs(5);
/// How long this test may take, and how long it may take to begin to listen again.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a nudge is about. Each has a channel of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Topic {
    /// An operation has become due.
    Operations,
    /// A credential has been written or removed.
    Credentials,
}

impl Topic {
    const ALL: [Self; 2] = [Self::Operations, Self::Credentials];

    fn channel(self) -> &'static str {
        match self {
            Topic::Operations => "ucp_operations",
            Topic::Credentials => "ucp_credentials",
        }
    }

    fn notify(self) -> &'static str {
        match self {
            Topic::Operations => "NOTIFY ucp_operations",
            Topic::Credentials => "NOTIFY ucp_credentials",
        }
    }
}

/// Nudges over Postgres. Dropping the value ends its tasks.
#[derive(Debug)]
pub(crate) struct Nudges {
    outgoing: Arc<Pending>,
    incoming: Arc<Pending>,
    _tasks: JoinSet<()>,
}

/// The nudges in one direction that nobody has taken yet, at most one of each topic.
#[derive(Debug, Default)]
struct Pending {
    operations: Notify,
    credentials: Notify,
}

impl Pending {
    fn of(&self, topic: Topic) -> &Notify {
        match topic {
            Topic::Operations => &self.operations,
            Topic::Credentials => &self.credentials,
        }
    }
}

impl Nudges {
    /// Starts to listen, if there are servers to listen to. Sending and listening have a connection each: a NOTIFY
    /// inside another transaction would serialize commits on a lock of the whole database.
    pub(crate) async fn connect(
        sending: Connections,
        listened: Option<Arc<Servers>>,
    ) -> Result<Self, Error> {
        let outgoing = Arc::<Pending>::default();
        let incoming = Arc::<Pending>::default();
        let mut tasks = JoinSet::new();
        let notify = move |topic: Topic| {
            let sending = sending.clone();
            async move { sending.run(topic.notify()).await }
        };
        tasks.spawn(send(outgoing.clone(), notify));
        if let Some(servers) = listened {
            let listener = start_listening(&servers, START).await?;
            tasks.spawn(listen(listener, servers, incoming.clone()));
        }
        Ok(Self {
            outgoing,
            incoming,
            _tasks: tasks,
        })
    }

    /// Nudges every process, asynchronously. Calls while a nudge is being sent are combined into one more.
    pub(crate) fn send(&self, topic: Topic) {
        self.outgoing.of(topic).notify_one();
    }

    /// Resolves once a nudge has arrived since the last call resolved, or nudges may have been missed.
    pub(crate) async fn received(&self, topic: Topic) {
        self.incoming.of(topic).notified().await;
    }
}

/// Sends what is pending. What cannot be sent stays pending, combined with what is added meanwhile.
async fn send<F>(outgoing: Arc<Pending>, notify: impl Fn(Topic) -> F)
where
    F: Future<Output = Result<(), sqlx::Error>>,
{
    loop {
        let topic = tokio::select! {
            () = outgoing.operations.notified() => Topic::Operations,
            () = outgoing.credentials.notified() => Topic::Credentials,
        };
        if let Err(error) = notify(topic).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "could not nudge other processes; trying again"
            );
            outgoing.of(topic).notify_one();
            tokio::time::sleep(PAUSE).await;
        }
    }
}

async fn start_listening(servers: &Servers, patience: Duration) -> Result<PgListener, Error> {
    let starting = async {
        // The listener has a pool, and loses it with its connection.
        let pool = PgPoolOptions::new()
            .max_connections(1)
            .max_lifetime(None)
            .idle_timeout(None);
        let pool = pool.connect_with(servers.unlimited().await?).await?;
        let mut listener = PgListener::connect_with(&pool).await?;
        listener.eager_reconnect(false);
        listener.listen_all(Topic::ALL.map(Topic::channel)).await?;
        Ok(listener)
    };
    let started = timeout(patience, starting).await;
    started.unwrap_or_else(|_| Err(Unusable::Late.into()))
}

/// Listens, and begins again when the connection is lost.
async fn listen(mut listener: PgListener, servers: Arc<Servers>, incoming: Arc<Pending>) {
    loop {
        let lost = hear(&mut listener, &incoming).await;
        tracing::info!(
            error = &lost as &dyn std::error::Error,
            "lost the connection that listens for nudges"
        );
        listener = loop {
            match start_listening(&servers, PATIENCE).await {
                Ok(listener) => break listener,
                Err(error) => tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "cannot listen for nudges"
                ),
            }
            sleep(PAUSE).await;
        };
        // Nudges may have been missed.
        for topic in Topic::ALL {
            incoming.of(topic).notify_one();
        }
    }
}

/// Hands on what it hears until the connection is lost, and returns why. A connection that is lost without a word is
/// found by a question, and so is a server that takes no writes any more, to which nobody sends.
async fn hear(listener: &mut PgListener, incoming: &Pending) -> Error {
    loop {
        match timeout(SILENCE, listener.try_recv()).await {
            Ok(Ok(Some(nudge))) => {
                let mut topics = Topic::ALL.into_iter();
                if let Some(topic) = topics.find(|topic| topic.channel() == nudge.channel()) {
                    incoming.of(topic).notify_one();
                }
            }
            Ok(Ok(None)) => return Error::Io(ErrorKind::UnexpectedEof.into()),
            Ok(Err(error)) => return error,
            Err(_) => {
                let asked = listener.fetch_one("SHOW transaction_read_only");
                match timeout(PATIENCE, asked).await {
                    Ok(Ok(row)) if row.try_get::<&str, _>(0).is_ok_and(|on| on == "off") => {}
                    Ok(Ok(_)) => return Error::Io(ErrorKind::ReadOnlyFilesystem.into()),
                    Ok(Err(error)) => return error,
                    Err(_) => return Error::Io(ErrorKind::TimedOut.into()),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_nudge_that_cannot_be_sent_is_sent_later_and_once() {
        let (outgoing, began) = (Arc::<Pending>::default(), Instant::now());
        let attempts = Arc::new(AtomicUsize::new(0));
        let notify = {
            let attempts = Arc::clone(&attempts);
            move |topic| {
                assert_eq!(topic, Topic::Credentials);
                let attempt = attempts.fetch_add(1, Ordering::SeqCst);
                async move {
                    if attempt < 2 {
                        Err(sqlx::Error::PoolClosed)
                    } else {
                        Ok(())
                    }
                }
            }
        };
        tokio::spawn(send(Arc::clone(&outgoing), notify));
        outgoing.credentials.notify_one();
        while attempts.load(Ordering::SeqCst) < 3 {
            assert!(began.elapsed() < PAUSE * 60, "it is given up");
            tokio::time::sleep(PAUSE / 10).await;
            if began.elapsed() < PAUSE {
                outgoing.credentials.notify_one();
            }
        }
        assert_eq!(began.elapsed().as_secs(), 2 * PAUSE.as_secs());
        tokio::time::sleep(PAUSE * 60).await;
        assert_eq!(attempts.load(Ordering::SeqCst), 3);
    }
}
