//! Shutdown on SIGTERM and SIGINT: stop claiming, finish steps or release leases, and exit within ten seconds.

use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use ucp_audit::Auditor;
use ucp_store_sql::Sql;

/// How long running steps may continue.
pub(crate) const STEP_GRACE: Duration = Duration::from_secs(6);
/// How long open requests may continue.
pub(crate) const REQUEST_GRACE: Duration = Duration::from_secs(8);

/// How long the last events of the audit may take to be written.
const DRAINING: Duration = Duration::from_millis(500);
/// How long the database may take to close.
const CLOSING: Duration = Duration::from_secs(1);
/// How long the process may take to stop. Then it ends, whatever hangs.
const LIMIT: Duration = Duration::from_millis(9500);

/// Returns a receiver that turns true at the first SIGTERM or SIGINT.
pub(crate) fn on_signal() -> anyhow::Result<watch::Receiver<bool>> {
    let (sender, receiver) = watch::channel(false);
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("shutting down");
        // The sender stays alive, since a dropped sender also reads as a shutdown.
        sender.send_replace(true);
        tokio::time::sleep(LIMIT).await;
        tracing::error!("could not stop in time");
        std::process::exit(1);
    });
    Ok(receiver)
}

/// Resolves once `shutdown` is true.
pub(crate) async fn requested(mut shutdown: watch::Receiver<bool>) {
    // An error means that the sender is gone, which counts as a shutdown.
    let _ = shutdown.wait_for(|requested| *requested).await;
}

/// Writes the events of the last requests.
pub(crate) async fn drain(auditor: &Auditor) {
    let drained = tokio::time::timeout(DRAINING, auditor.flush()).await;
    if drained.is_err() || auditor.trouble().is_some() {
        tracing::error!("audit events were lost at shutdown");
    }
}

/// Closes the database, so that nothing deleted stays in its log. Whatever still uses it is not waited for.
pub(crate) async fn close(store: &Sql) {
    if tokio::time::timeout(CLOSING, store.close()).await.is_err() {
        tracing::warn!("the database was still in use at shutdown");
    }
}
