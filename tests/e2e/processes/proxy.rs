//! A proxy between a process and its database, as a network that fails.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, split};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use ucp_store_sql::testing::{Bytes, Pooler, TestDatabase};

/// What a proxy leads to.
pub(super) trait Upstream: Send + Sync + 'static {
    /// The URL of the same database on another port of this machine.
    fn url_at(&self, port: u16) -> String;

    /// Opens a connection.
    fn dial(&self) -> impl Future<Output = io::Result<Box<dyn Bytes>>> + Send;
}

impl Upstream for TestDatabase {
    fn url_at(&self, port: u16) -> String {
        Self::url_at(self, port)
    }

    async fn dial(&self) -> io::Result<Box<dyn Bytes>> {
        Self::dial(self).await
    }
}

impl Upstream for Pooler {
    fn url_at(&self, port: u16) -> String {
        Self::url_at(self, port)
    }

    async fn dial(&self) -> io::Result<Box<dyn Bytes>> {
        Self::dial(self).await
    }
}

/// Leads connections to a database.
pub(super) struct Proxy<T> {
    database: Arc<T>,
    address: SocketAddr,
    /// The number of the first connection whose bytes go on.
    flowing: watch::Sender<u64>,
    opened: Arc<AtomicU64>,
    accepting: JoinHandle<()>,
}

impl<T: Upstream> Proxy<T> {
    pub(super) async fn before(database: Arc<T>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let opened = Arc::default();
        let flowing = watch::Sender::new(0);
        let accepting = accept(listener, &database, &opened, &flowing);
        Self {
            database,
            address,
            flowing,
            opened,
            accepting,
        }
    }

    /// The URL of the database through the proxy.
    pub(super) fn url(&self) -> String {
        self.database.url_at(self.address.port())
    }

    pub(super) fn database(&self) -> &T {
        &self.database
    }

    /// From now on no byte arrives, on any connection, and nobody is told.
    pub(super) fn stall(&self) {
        self.flowing.send_replace(u64::MAX);
    }

    /// The same for the connections that are open.
    pub(super) fn stall_open(&self) {
        self.flowing
            .send_replace(self.opened.load(Ordering::SeqCst));
    }

    /// Closes all connections and refuses new ones.
    pub(super) async fn refuse(&mut self) {
        self.accepting.abort();
        // It ends as it was told to.
        let _ = (&mut self.accepting).await;
    }

    /// Lets everything go on.
    pub(super) async fn resume(&mut self) {
        self.flowing.send_replace(0);
        if self.accepting.is_finished() {
            let listener = TcpListener::bind(self.address)
                .await
                .expect("the same port");
            self.accepting = accept(listener, &self.database, &self.opened, &self.flowing);
        }
    }
}

fn accept<T: Upstream>(
    listener: TcpListener,
    database: &Arc<T>,
    opened: &Arc<AtomicU64>,
    flowing: &watch::Sender<u64>,
) -> JoinHandle<()> {
    let (database, opened) = (Arc::clone(database), Arc::clone(opened));
    let flowing = flowing.subscribe();
    tokio::spawn(async move {
        // They end with this task.
        let mut connections = JoinSet::new();
        while let Ok((client, _)) = listener.accept().await {
            let number = opened.fetch_add(1, Ordering::SeqCst);
            let (database, flowing) = (Arc::clone(&database), flowing.clone());
            connections.spawn(lead(client, database, flowing, number));
        }
    })
}

async fn lead<T: Upstream>(
    client: TcpStream,
    database: Arc<T>,
    flowing: watch::Receiver<u64>,
    number: u64,
) {
    let Ok(server) = database.dial().await else {
        return;
    };
    let (from_client, to_client) = split(client);
    let (from_server, to_server) = split(server);
    tokio::select! {
        () = copy(from_client, to_server, flowing.clone(), number) => {}
        () = copy(from_server, to_client, flowing, number) => {}
    }
}

/// Hands bytes on while they flow, until one side closes.
async fn copy(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut flowing: watch::Receiver<u64>,
    number: u64,
) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(count) = from.read(&mut bytes).await {
        let flows = flowing.wait_for(|first| *first <= number).await.is_ok();
        if !flows || count == 0 || to.write_all(&bytes[..count]).await.is_err() {
            return;
        }
    }
}
