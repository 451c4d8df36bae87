//! The accept loop of `ucp` and of the simulator, with or without TLS. It limits the number of connections, of all clients
//! and of each, the size and time of request heads, and the time that a client takes to receive a reply. It shuts down
//! gracefully. Bodies are limited where they are read. [`AllowedHosts`] tells requests of web pages.
//!
//! Over TLS, clients may choose HTTP/2. The same limits hold then, and a few of its own.
//!
//! `axum::serve` supports neither these limits nor closing a connection without a reply, which a service triggers here
//! by returning an error.

mod authorities;
mod certificate;
mod client;
mod conversation;
mod guard;
mod http1;
mod http2;
mod limits;
mod peers;
mod pieces;
mod places;
mod refusal;
mod replying;
mod streams;
mod tls;
mod unserved;
mod visit;

use std::error::Error;
use std::io::Write;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::{Body, Bytes, Incoming};
use hyper::service::Service;
use hyper::{Request, Response};
use socket2::SockRef;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

pub use crate::certificate::{Authority, ClientCertificate};
pub use crate::conversation::OverTls;
pub use crate::guard::{AllowedHosts, Stranger, of_no_host};
pub use crate::limits::{HEADERS, Http2Limits, Limits, WriteLimit};
pub use crate::peers::{Peer, network};
pub use crate::places::Place;
pub use crate::refusal::Refusal;
pub use crate::tls::{Tls, TlsError, TlsFiles};
pub use crate::unserved::{Unserved, Witness};

use crate::conversation::converse;
use crate::peers::{Admitted, Peers};
use crate::places::Places;
use crate::replying::Traffic;
use crate::visit::Visit;

/// The pause after a failure to accept a connection, for example for lack of file descriptors.
const RESPITE: Duration = Duration::from_secs(1);
/// The part of a reply that the operating system may keep for a client that does not read, in bytes. Linux doubles it.
const UNREAD_BYTES: usize = 128 << 10;

/// Serves `service` until `shutdown` resolves, then waits for open requests, and for those that go on without their clients.
/// If the service returns an error, the connection is closed without a reply. With `tls`, clients must speak it. What is
/// refused before it is a request of the service is told to `witness`.
pub async fn serve<S, B>(
    listener: TcpListener,
    service: S,
    limits: Limits,
    tls: Option<Tls>,
    witness: Arc<dyn Witness>,
    shutdown: impl Future<Output = ()>,
) where
    S: Service<Request<Incoming>, Response = Response<B>> + Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static,
{
    let (closing, closed) = watch::channel(());
    let peers = Peers::new(limits.connections, limits.peer);
    let mut connections = JoinSet::new();
    {
        let mut shutdown = pin!(shutdown);
        let mut accepting = pin!(accept(&listener, &peers));
        loop {
            tokio::select! {
                () = &mut shutdown => break,
                Some(_) = connections.join_next() => {}
                accepted = accepting.as_mut() => {
                    match accepted {
                        Ok((stream, peer, Some(admitted))) => {
                            bound(&stream, limits.write);
                            let (service, closed) = (service.clone(), closed.clone());
                            let visit = Visit {
                                peer,
                                places: Places::new(admitted),
                                traffic: Traffic::new(),
                                witness: Arc::clone(&witness),
                            };
                            let conversation =
                                converse(stream, visit, service, limits, tls.clone(), closed);
                            connections.spawn(conversation);
                        }
                        // Over TLS there is no reply before the handshake, which would cost what the limit saves.
                        Ok((stream, peer, None)) => {
                            witness.refused(peer, Unserved::TooManyConnections);
                            refuse(stream, peer, tls.is_none().then_some(limits.refusal));
                        }
                        Err(error) => {
                            tracing::warn!(%error, "a connection could not be accepted");
                            tokio::time::sleep(RESPITE).await;
                        }
                    }
                    accepting.set(accept(&listener, &peers));
                }
            }
        }
    }
    drop(listener);
    drop(closing);
    let Some(grace) = limits.grace else {
        return peers.emptied().await;
    };
    if tokio::time::timeout(grace, peers.emptied()).await.is_err() {
        tracing::warn!("requests were still open at shutdown");
    }
}

/// Accepts a connection, and waits until there is room for it. There is none if its peer has as many as it may.
async fn accept(
    listener: &TcpListener,
    peers: &Peers,
) -> std::io::Result<(TcpStream, Peer, Option<Admitted>)> {
    let (stream, from) = listener.accept().await?;
    let admitted = peers.admit(from.ip()).await;
    Ok((stream, Peer(from), admitted))
}

/// Closes a connection too many. The client may not get to read the reason, since it has sent what nobody reads.
fn refuse(stream: TcpStream, Peer(from): Peer, refusal: Option<Refusal>) {
    let refusal = refusal.map_or_else(String::new, Refusal::text);
    // Not through the runtime, which would have to wait first to learn that the new socket takes bytes.
    let told = stream
        .into_std()
        .and_then(|mut stream| stream.write_all(refusal.as_bytes()));
    let error = told.err().map(|error| error.to_string());
    tracing::debug!(peer.address = %from.ip(), error, "a peer has too many connections");
}

/// Bounds what the operating system keeps of a reply, and for how long, also after the connection has been closed.
fn bound(stream: &TcpStream, limit: Option<WriteLimit>) {
    let Some(write) = limit else {
        return;
    };
    let socket = SockRef::from(stream);
    let bounded = socket.set_send_buffer_size(UNREAD_BYTES);
    #[cfg(target_os = "linux")]
    let bounded = bounded.and_then(|()| socket.set_tcp_user_timeout(Some(write.stall)));
    if let Err(error) = bounded {
        tracing::debug!(%error, "the buffer of a connection could not be bounded");
    }
}
