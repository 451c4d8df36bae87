use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tracing::{info, warn};
use ucp_model::Clock;
use ucp_store::Operations;

/// How many operations are removed in one transaction.
const BATCH: usize = 500;

/// Removes operations that ended long ago; the history stays. Several processes may sweep at once.
pub struct Sweeper {
    /// What holds the operations.
    pub store: Arc<dyn Operations>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// How long an ended operation is kept.
    pub retention: Duration,
    /// How often it looks.
    pub interval: Duration,
}

impl Sweeper {
    /// Sweeps until `shutdown` turns true.
    pub async fn run(self, mut shutdown: watch::Receiver<bool>) {
        while !*shutdown.borrow() {
            match self.sweep().await {
                Ok(0) => {}
                Ok(count) => info!(operations = count, "removed what ended long ago"),
                Err(error) => warn!(
                    error = %ucp_model::chain(&error),
                    "old operations could not be removed"
                ),
            }
            tokio::select! {
                () = tokio::time::sleep(self.interval) => {}
                _ = shutdown.changed() => {}
            }
        }
    }

    /// Removes everything that is old enough, batch by batch. How much there was.
    pub async fn sweep(&self) -> Result<u64, ucp_store::Error> {
        let before = self.clock.now().before(self.retention);
        let mut count = 0;
        loop {
            match self.store.remove_ended_operations(before, BATCH).await? {
                0 => return Ok(count),
                removed => count += removed,
            }
        }
    }
}
