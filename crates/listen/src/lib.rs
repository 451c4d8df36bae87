//! The accept loop of `ucp` and of the simulator. It limits the number of connections, of all clients and of each, the
//! size and time of request heads, and the time that a client takes to receive a reply. It shuts down gracefully. Bodies
//! are limited where they are read. [`AllowedHosts`] tells requests of web pages.
//!
//! `axum::serve` supports neither these limits nor closing a connection without a reply, which a service triggers here
//! by returning an error.

mod guard;
mod limits;
mod peers;
mod replying;

use std::error::Error;
use std::io::Write;
use std::net::IpAddr;
use std::pin::pin;
use std::time::Duration;

use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use socket2::SockRef;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

pub use crate::guard::{AllowedHosts, Stranger};
pub use crate::limits::{Limits, PeerLimit, WriteLimit};

use crate::peers::Peers;
use crate::replying::Replying;

/// The pause after a failure to accept a connection, for example for lack of file descriptors.
const RESPITE: Duration = Duration::from_secs(1);
/// The part of a reply that the operating system may keep for a client that does not read, in bytes. Linux doubles it.
const UNREAD_BYTES: usize = 128 << 10;

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
    let peers = Peers::default();
    loop {
        tokio::select! {
            () = &mut shutdown => break,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept(), if connections.len() < limits.connections => match accepted {
                Ok((stream, from)) => {
                    let most = limits.peer.map_or(usize::MAX, |peer| peer.connections);
                    match peers.admit(from.ip(), most) {
                        Some(admitted) => {
                            let conversing = converse(stream, service.clone(), limits, closed.clone());
                            connections.spawn(async move {
                                conversing.await;
                                drop(admitted);
                            });
                        }
                        None => refuse(stream, from.ip(), limits.peer),
                    }
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

/// Closes a connection too many. The client may not get to read the reason, since it has sent what nobody reads.
fn refuse(stream: TcpStream, from: IpAddr, limit: Option<PeerLimit>) {
    let refusal = limit.map_or("", |limit| limit.refusal);
    // Not through the runtime, which would have to wait first to learn that the new socket takes bytes.
    let told = stream
        .into_std()
        .and_then(|mut stream| stream.write_all(refusal.as_bytes()));
    let error = told.err().map(|error| error.to_string());
    tracing::debug!(peer.address = %from, error, "a peer has too many connections");
}

/// Bounds what the operating system keeps of a reply, and for how long, also after the connection has been closed.
fn bound(stream: &TcpStream, write: WriteLimit) {
    let socket = SockRef::from(stream);
    let bounded = socket.set_send_buffer_size(UNREAD_BYTES);
    #[cfg(target_os = "linux")]
    let bounded = bounded.and_then(|()| socket.set_tcp_user_timeout(Some(write.stall)));
    if let Err(error) = bounded {
        tracing::debug!(%error, "the buffer of a connection could not be bounded");
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
    if let Some(write) = limits.write {
        bound(&stream, write);
    }
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_timeout)
        .max_header_size(limits.head_bytes)
        .serve_connection(TokioIo::new(Replying::new(stream, limits.write)), service);
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
