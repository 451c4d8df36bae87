use std::time::Duration;

use ucp_store::LiveOperations;

use crate::{App, Inventory, Rejection};

/// The most that is counted of a kind.
const COUNTED_MAX: usize = 10_000;
/// How long a count is shown again.
const FRESH: Duration = Duration::from_secs(10);

impl App {
    /// Counts what the store has, at most once in ten seconds.
    pub async fn inventory(&self) -> Result<Inventory, Rejection> {
        let mut counted = self.counted.lock().await;
        let now = self.ground.now();
        if let Some((at, inventory)) = *counted
            // A clock that was set back must not keep it for longer.
            && at <= now
            && now.since(at) < FRESH
        {
            return Ok(inventory);
        }
        let store = &self.ground.store;
        let inventory = Inventory {
            operations_live: store
                .count_live_operations(LiveOperations::All, COUNTED_MAX)
                .await?,
            leftovers: store.count_leftovers(COUNTED_MAX).await?,
        };
        *counted = Some((now, inventory));
        Ok(inventory)
    }
}
