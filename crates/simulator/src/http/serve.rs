use std::future::Future;
use std::io;
use std::pin::pin;

use axum::extract::Request;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::Dropped;
use crate::simulator::Simulator;

/// Why a connection closes without an answer: a fault wants it so.
#[derive(Debug)]
struct ReplyDropped;

impl std::fmt::Display for ReplyDropped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the reply is dropped by order")
    }
}

impl std::error::Error for ReplyDropped {}

impl Simulator {
    /// Answers on `listener` until `shutdown`, then finishes the calls that have begun.
    ///
    /// A server of its own rather than axum's, which has no way to close a connection without an answer.
    pub async fn serve(
        self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()>,
    ) -> io::Result<()> {
        let (closing, closed) = watch::channel(());
        let mut connections = JoinSet::new();
        let mut shutdown = pin!(shutdown);
        loop {
            tokio::select! {
                () = &mut shutdown => break,
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        connections.spawn(self.clone().converse(stream, closed.clone()));
                    }
                    // A client that is gone again, or too many open files: neither is a reason to stop.
                    Err(error) => {
                        tracing::warn!(error = %error, "a connection could not be accepted");
                        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
                    }
                },
                Some(_) = connections.join_next() => {}
            }
        }
        drop(closing);
        while connections.join_next().await.is_some() {}
        Ok(())
    }

    /// Answers the calls of one connection.
    async fn converse(self, stream: TcpStream, mut closing: watch::Receiver<()>) {
        let router = TowerToHyperService::new(self.router());
        let service = hyper::service::service_fn(move |request: Request<Incoming>| {
            let reply = hyper::service::Service::call(&router, request);
            async move {
                let Ok(response): Result<Response, _> = reply.await;
                match response.extensions().get::<Dropped>() {
                    Some(Dropped) => Err(ReplyDropped),
                    None => Ok(response),
                }
            }
        });
        let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        let mut connection = pin!(connection);
        let ended = tokio::select! {
            ended = &mut connection => ended,
            _ = closing.changed() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(error = %error, "a connection ended early");
        }
    }
}
