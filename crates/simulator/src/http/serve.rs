use std::future::Future;
use std::sync::Arc;

use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::Response;
use hyper::body::Incoming;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use ucp_listen::{Http2Limits, Limits, Refusal};

use super::Dropped;
use crate::simulator::Simulator;

/// Clients are tests and demos, so there are no time-outs.
const LIMITS: Limits = Limits {
    connections: 1000,
    peer: None,
    refusal: Refusal {
        status: StatusCode::SERVICE_UNAVAILABLE,
        body: "",
    },
    head_bytes: 64 << 10,
    head_timeout: None,
    write: None,
    http2: Http2Limits::USUAL,
    grace: None,
};

/// The error that closes a connection without a reply, as a fault demands.
#[derive(Debug)]
struct ReplyDropped;

impl std::fmt::Display for ReplyDropped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a fault drops the reply")
    }
}

impl std::error::Error for ReplyDropped {}

impl Simulator {
    /// Serves calls on `listener` until `shutdown`, then finishes the calls in progress.
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
        let stopping = async {
            shutdown.await;
            self.stop();
        };
        let witness = Arc::new(());
        ucp_listen::serve(listener, service, LIMITS, None, witness, stopping).await;
    }
}
