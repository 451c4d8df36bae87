//! Client connections.

use std::time::Duration;

use axum::Router;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::watch;
use ucp_listen::Limits;

use crate::shutdown;

const LIMITS: Limits = Limits {
    connections: 1000,
    head_bytes: 64 << 10,
    head_timeout: Some(Duration::from_secs(10)),
    grace: Some(shutdown::REQUEST_GRACE),
};

/// Serves `router` until `shutdown` turns true, then gives open requests some time to finish.
pub(crate) async fn serve(listener: TcpListener, router: Router, shutdown: watch::Receiver<bool>) {
    let service = TowerToHyperService::new(router);
    ucp_listen::serve(listener, service, LIMITS, shutdown::requested(shutdown)).await;
}
