use std::future::Future;

use axum::extract::Request;
use axum::response::Response;
use hyper::body::Incoming;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use ucp_listen::Limits;

use super::Dropped;
use crate::simulator::Simulator;

/// Clients are tests and demonstrations, so nothing of theirs is cut short.
const LIMITS: Limits = Limits {
    connections: 1000,
    head_bytes: 64 << 10,
    head_timeout: None,
    grace: None,
};

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
    pub async fn serve(self, listener: TcpListener, shutdown: impl Future<Output = ()>) {
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
        ucp_listen::serve(listener, service, LIMITS, shutdown).await;
    }
}
