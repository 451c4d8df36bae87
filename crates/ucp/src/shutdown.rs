//! SIGTERM and SIGINT: stop claiming, finish or hand back leases, exit within ten seconds.

use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// How long running steps may go on.
pub(crate) const STEP_GRACE: Duration = Duration::from_secs(6);
/// How long open requests may go on.
pub(crate) const REQUEST_GRACE: Duration = Duration::from_secs(8);

/// Turns true at the first SIGTERM or SIGINT.
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
        sender.send_replace(true);
        // The receiver side sees the change even when this task ends.
        sender.closed().await;
    });
    Ok(receiver)
}

/// Resolves once `shutdown` is true.
pub(crate) async fn requested(mut shutdown: watch::Receiver<bool>) {
    // An error means that the sender is gone, and with it everything that could ask for a shutdown.
    let _ = shutdown.wait_for(|requested| *requested).await;
}
