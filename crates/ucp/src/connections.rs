//! Client connections.

use std::time::Duration;

use axum::Router;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::watch;
use ucp_listen::{Limits, PeerLimit, Tls, WriteLimit};

use crate::cli::Clients;
use crate::shutdown;

/// The maximum size of a request head, in bytes.
pub(crate) const HEAD_BYTES: usize = 64 << 10;
/// The maximum number of headers of a request. It is hyper's own, which costs less than any other.
pub(crate) const HEADERS: usize = 100;
/// The time that a client has to send a request head, and that a connection may be idle.
pub(crate) const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// The time in which a client must take the whole of a reply.
pub(crate) const REPLY_TIMEOUT: Duration = Duration::from_secs(300);
/// The maximum number of open connections to the probes.
pub(crate) const PROBE_CONNECTIONS: usize = 64;
/// The time that a probe has to send its request and to take some bytes of the reply.
pub(crate) const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// What a client with too many connections gets, on each further one. It is an error of ARM's shape.
const TOO_MANY_CONNECTIONS: &str = concat!(
    "HTTP/1.1 503 Service Unavailable\r\n",
    "Content-Type: application/json\r\n",
    "Cache-Control: no-store\r\n",
    "Retry-After: 1\r\n",
    "Connection: close\r\n",
    "\r\n",
    r#"{"error":{"code":"ServiceUnavailable","message":"This address has too many open connections. "#,
    r#"Close some, or send several requests over one connection. "#,
    r#"Behind a proxy, start ucp with a higher --max-connections-per-peer."}}"#,
);

/// Serves `router` until `shutdown` turns true, then gives open requests some time to finish.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    given: Clients,
    tls: Option<Tls>,
    shutdown: watch::Receiver<bool>,
) {
    let limits = Limits {
        connections: given.max_connections,
        peer: given.per_peer().map(|connections| PeerLimit {
            connections,
            refusal: TOO_MANY_CONNECTIONS,
        }),
        head_bytes: HEAD_BYTES,
        head_timeout: Some(HEAD_TIMEOUT),
        write: Some(WriteLimit {
            stall: given.write_timeout,
            whole: REPLY_TIMEOUT,
        }),
        grace: Some(shutdown::REQUEST_GRACE),
    };
    serve_within(limits, listener, router, tls, shutdown).await;
}

/// Serves the probes, in clear, until `shutdown` turns true. Connections to the API do not count here.
pub(crate) async fn serve_probes(
    listener: TcpListener,
    router: Router,
    shutdown: watch::Receiver<bool>,
) {
    let limits = Limits {
        connections: PROBE_CONNECTIONS,
        peer: None,
        head_bytes: HEAD_BYTES,
        head_timeout: Some(PROBE_TIMEOUT),
        write: Some(WriteLimit {
            stall: PROBE_TIMEOUT,
            whole: PROBE_TIMEOUT,
        }),
        grace: Some(shutdown::REQUEST_GRACE),
    };
    serve_within(limits, listener, router, None, shutdown).await;
}

async fn serve_within(
    limits: Limits,
    listener: TcpListener,
    router: Router,
    tls: Option<Tls>,
    shutdown: watch::Receiver<bool>,
) {
    let service = TowerToHyperService::new(router);
    let stopping = shutdown::requested(shutdown);
    ucp_listen::serve(listener, service, limits, tls, stopping).await;
}
