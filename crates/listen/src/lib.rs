//! The accept loop of `ucp` and of the simulator. It limits the number of connections and the size and time of request
//! heads, and shuts down gracefully. Bodies are limited where they are read.
//!
//! `axum::serve` supports neither these limits nor closing a connection without a reply, which a service triggers here
//! by returning an error.

use std::error::Error;
use std::pin::pin;
use std::time::Duration;

use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// The pause after a failure to accept a connection, for example for lack of file descriptors.
const RESPITE: Duration = Duration::from_secs(1);

/// The limits of a server.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The maximum number of open connections. Further ones wait to be accepted.
    pub connections: usize,
    /// The maximum size of a request head, in bytes. A larger one, or one with more than 100 headers, gets the reply
    /// 431.
    pub head_bytes: usize,
    /// The time that a client has to send a request head, and that a connection may be idle. Unlimited if `None`.
    pub head_timeout: Option<Duration>,
    /// The time that open requests have to complete after shutdown. Unlimited if `None`.
    pub grace: Option<Duration>,
}

/// Serves `service` until `shutdown` resolves, then waits for open requests. If the service returns an error, the
/// connection is closed without a reply.
pub async fn serve<S, B>(
    listener: TcpListener,
    service: S,
    limits: Limits,
    shutdown: impl Future<Output = ()>,
) where
    S: Service<Request<Incoming>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    let (closing, closed) = watch::channel(());
    let mut connections = JoinSet::new();
    let mut shutdown = pin!(shutdown);
    loop {
        tokio::select! {
            () = &mut shutdown => break,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept(), if connections.len() < limits.connections => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(converse(stream, service.clone(), limits, closed.clone()));
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(RESPITE).await;
                }
            },
        }
    }
    drop(listener);
    drop(closing);
    let ending = async { while connections.join_next().await.is_some() {} };
    match limits.grace {
        None => ending.await,
        Some(grace) => {
            if tokio::time::timeout(grace, ending).await.is_err() {
                tracing::warn!("requests were still open at shutdown");
            }
        }
    }
}

/// Serves the requests of one connection.
async fn converse<S, B>(
    stream: TcpStream,
    service: S,
    limits: Limits,
    mut closing: watch::Receiver<()>,
) where
    S: Service<Request<Incoming>, Response = Response<B>>,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: Body<Error: Into<Box<dyn Error + Send + Sync>>> + 'static,
{
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_timeout)
        .max_header_size(limits.head_bytes)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    let outcome = tokio::select! {
        outcome = connection.as_mut() => outcome,
        // Always an error: the sender never sends and is dropped at shutdown.
        _ = closing.changed() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = outcome {
        let cause = error.source().map(ToString::to_string);
        tracing::debug!(%error, cause, "a connection broke off");
    }
}
