use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tracing::{info, warn};
use ucp_model::Clock;
use ucp_store::Operations;

/// The number of operations removed in one transaction.
const BATCH: usize = 500;

/// Removes operations whose retention is over; the history stays. Several processes may sweep concurrently.
pub struct Sweeper {
    /// The operations.
    pub store: Arc<dyn Operations>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The time for which an ended operation is kept.
    pub retention: Duration,
    /// The interval between sweeps.
    pub interval: Duration,
}

impl Sweeper {
    /// Sweeps until `shutdown` turns true.
    pub async fn run(self, mut shutdown: watch::Receiver<bool>) {
        while !*shutdown.borrow() {
            let swept = tokio::select! {
                swept = self.sweep() => swept,
                _ = shutdown.changed() => continue,
            };
            match swept {
                Ok(0) => {}
                Ok(count) => info!(operations = count, "removed ended operations"),
                Err(error) => warn!(
                    error = %ucp_model::chain(&error),
                    "could not remove ended operations"
                ),
            }
            tokio::select! {
                () = tokio::time::sleep(self.interval) => {}
                _ = shutdown.changed() => {}
            }
        }
    }

    /// Removes all operations that are old enough, in batches, and returns how many there were.
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
