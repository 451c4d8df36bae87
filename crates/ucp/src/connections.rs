//! The connections of clients: bounded in number, in headers and in the time that headers may take, and closed gently at
//! shutdown. Bodies are bounded where they are read.

use std::pin::pin;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::shutdown;

/// How many connections are open at once; further ones wait to be accepted.
const CONNECTIONS_MAX: usize = 1000;
/// How large the head of a request may be, in bytes; a larger one, or one with more than 100 headers, is answered with 431.
const HEAD_MAX_BYTES: usize = 64 << 10;
/// How long a client may take to send the head of a request, and how long a connection may be idle.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// How long no connection is accepted after that has failed, for want of file descriptors perhaps.
const RESPITE: Duration = Duration::from_secs(1);

/// Serves `router` until `shutdown` turns true, then lets open requests go on for a while.
pub(crate) async fn serve(listener: TcpListener, router: Router, shutdown: watch::Receiver<bool>) {
    let mut connections = JoinSet::new();
    let mut stopping = pin!(shutdown::requested(shutdown.clone()));
    loop {
        tokio::select! {
            () = &mut stopping => break,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept(), if connections.len() < CONNECTIONS_MAX => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(converse(stream, router.clone(), shutdown.clone()));
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(RESPITE).await;
                }
            },
        }
    }
    drop(listener);
    let ending = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(shutdown::REQUEST_GRACE, ending)
        .await
        .is_err()
    {
        tracing::warn!("requests were still open at shutdown");
    }
}

/// Answers the requests of one connection.
async fn converse(stream: TcpStream, router: Router, shutdown: watch::Receiver<bool>) {
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_header_size(HEAD_MAX_BYTES)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let mut connection = pin!(connection);
    let outcome = tokio::select! {
        outcome = connection.as_mut() => outcome,
        () = shutdown::requested(shutdown) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = outcome {
        tracing::debug!(error = %ucp_model::chain(&error), "a connection broke off");
    }
}
