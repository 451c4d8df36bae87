//! The accept loop of `ucp` and of the simulator: connections bounded in number, in heads and in the time that heads may
//! take, and closed gently at shutdown. Bodies are bounded where they are read.
//!
//! `axum::serve` can neither bound these nor close a connection without an answer, which a service does here by failing.

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

/// How long no connection is accepted after that has failed, for want of file descriptors perhaps.
const RESPITE: Duration = Duration::from_secs(1);

/// What a server grants its clients.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many connections are open at once; further ones wait to be accepted.
    pub connections: usize,
    /// How large the head of a request may be, in bytes; a larger one, or one with more than 100 headers, is answered
    /// with 431.
    pub head_bytes: usize,
    /// How long a client may take to send the head of a request, and how long a connection may be idle. Unlimited when
    /// absent.
    pub head_timeout: Option<Duration>,
    /// How long open requests may go on after shutdown. Unlimited when absent.
    pub grace: Option<Duration>,
}

/// Serves `service` until `shutdown` resolves, then lets open requests end. A request that the service fails closes its
/// connection without an answer.
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

/// Answers the requests of one connection.
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
        // An error: the sender is dropped at shutdown, and never sends.
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
