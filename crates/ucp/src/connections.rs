//! Client connections.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::runtime;
use tokio::sync::watch;
use ucp_listen::{Http2Limits, Limits, Refusal, Tls, Witness, WriteLimit};

use crate::cli::Clients;
use crate::shutdown;

/// The maximum size of a request head, in bytes.
pub(crate) const HEAD_BYTES: usize = 64 << 10;
/// The time that a client has to send a request head, and that a connection may be idle.
pub(crate) const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// The time in which a client must take the whole of a reply.
pub(crate) const REPLY_TIMEOUT: Duration = Duration::from_secs(300);
/// The maximum number of open connections to the probes.
pub(crate) const PROBE_CONNECTIONS: usize = 64;
/// The time that a probe has to send its request and to take some bytes of the reply.
pub(crate) const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// The limits of a connection over HTTP/2.
pub(crate) const HTTP2: Http2Limits = Http2Limits::USUAL;

/// What a client with too many connections gets, on each further one, or for each further request over HTTP/2. It is an error
/// of ARM's shape.
const TOO_MANY_CONNECTIONS: Refusal = Refusal {
    status: StatusCode::SERVICE_UNAVAILABLE,
    body: concat!(
        r#"{"error":{"code":"ServiceUnavailable","message":"This address has too many open connections, or requests over "#,
        r#"HTTP/2 under way. Close some connections, or send requests one after the other. "#,
        r#"Behind a proxy, start ucp with a higher --max-connections-per-peer."}}"#,
    ),
};

/// Serves `router` until `shutdown` turns true, then gives open requests some time to finish.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    given: Clients,
    tls: Option<Tls>,
    witness: Arc<dyn Witness>,
    shutdown: watch::Receiver<bool>,
) {
    let limits = Limits {
        connections: given.max_connections,
        peer: given.per_peer(),
        refusal: TOO_MANY_CONNECTIONS,
        head_bytes: HEAD_BYTES,
        head_timeout: Some(HEAD_TIMEOUT),
        write: Some(WriteLimit {
            stall: given.write_timeout,
            whole: REPLY_TIMEOUT,
        }),
        http2: HTTP2,
        grace: Some(shutdown::REQUEST_GRACE),
    };
    serve_within(limits, listener, router, tls, witness, shutdown).await;
}

/// Serves the probes, in clear, until `shutdown` turns true. Connections to the API do not count here. They have a thread and a
/// runtime of their own: however busy those of the API are, the process is seen to live.
pub(crate) async fn serve_probes(
    listener: TcpListener,
    router: Router,
    witness: Arc<dyn Witness>,
    shutdown: watch::Receiver<bool>,
) {
    let limits = Limits {
        connections: PROBE_CONNECTIONS,
        peer: None,
        refusal: TOO_MANY_CONNECTIONS,
        head_bytes: HEAD_BYTES,
        head_timeout: Some(PROBE_TIMEOUT),
        write: Some(WriteLimit {
            stall: PROBE_TIMEOUT,
            whole: PROBE_TIMEOUT,
        }),
        http2: HTTP2,
        grace: Some(shutdown::REQUEST_GRACE),
    };
    let serve = move || -> std::io::Result<()> {
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        runtime.block_on(async {
            // It is of the other runtime until now.
            let listener = TcpListener::from_std(listener.into_std()?)?;
            serve_within(limits, listener, router, None, witness, shutdown).await;
            Ok(())
        })
    };
    match tokio::task::spawn_blocking(serve).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::error!(%error, "the probes are not served"),
        Err(error) => tracing::error!(%error, "the probes are not served any more"),
    }
}

async fn serve_within(
    limits: Limits,
    listener: TcpListener,
    router: Router,
    tls: Option<Tls>,
    witness: Arc<dyn Witness>,
    shutdown: watch::Receiver<bool>,
) {
    let service = TowerToHyperService::new(router);
    let stopping = shutdown::requested(shutdown);
    ucp_listen::serve(listener, service, limits, tls, witness, stopping).await;
}
