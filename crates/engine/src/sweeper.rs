use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tracing::{info, warn};
use ucp_model::Clock;
use ucp_store::Store;

/// The number of operations or events removed in one statement.
const BATCH: usize = 500;

/// How long the rate of an account and region is remembered that nobody calls.
const IDLE_RATE: Duration = Duration::from_secs(60 * 60);

/// Removes operations, plans, records of refactors and of services, and events whose retention is over, erases what was declared for
/// plans that have expired, and adds predictions up. Several processes may sweep concurrently.
pub struct Sweeper {
    /// The operations, the plans, the refactors and the history.
    pub store: Arc<dyn Store>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The time for which an operation that has ended is kept, a plan that is over, a refactor that is no history, or a service
    /// that is gone.
    pub operation_retention: Duration,
    /// The time for which an event is kept.
    pub history_retention: Duration,
    /// The time for which an event of the audit is kept.
    pub audit_retention: Duration,
    /// The interval between sweeps.
    pub interval: Duration,
}

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// The number of operations.
    pub operations: u64,
    /// The number of plans whose declarations were erased, since they have expired.
    pub expired_plans: u64,
    /// The number of plans.
    pub plans: u64,
    /// The number of records of refactors.
    pub refactors: u64,
    /// The number of service instances and bindings that are gone.
    pub services: u64,
    /// The number of events.
    pub events: u64,
    /// The number of events of the audit.
    pub audit_events: u64,
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
                Ok(swept) if swept == Swept::default() => {}
                Ok(Swept {
                    operations,
                    expired_plans,
                    plans,
                    refactors,
                    services,
                    events,
                    audit_events,
                }) => info!(
                    operations,
                    expired_plans,
                    plans,
                    refactors,
                    services,
                    events,
                    audit_events,
                    "removed what is kept no longer"
                ),
                Err(error) => warn!(
                    error = %ucp_model::chain(&error),
                    "could not remove what is kept no longer"
                ),
            }
            tokio::select! {
                () = tokio::time::sleep(self.interval) => {}
                _ = shutdown.changed() => {}
            }
        }
    }

    /// Removes all operations, plans and events that are old enough, in batches, and returns how many there were. Adds what
    /// was predicted to the track records.
    pub async fn sweep(&self) -> Result<Swept, ucp_store::Error> {
        while self.store.count_predictions(BATCH).await? > 0 {}
        let now = self.clock.now();
        let mut swept = Swept::default();
        let idle = now.before(IDLE_RATE);
        while self.store.remove_idle_rates(idle, BATCH).await? > 0 {}
        let before = now.before(self.operation_retention);
        loop {
            match self.store.remove_ended_operations(before, BATCH).await? {
                0 => break,
                removed => swept.operations += removed,
            }
        }
        loop {
            match self.store.erase_expired_plans(now, BATCH).await? {
                0 => break,
                erased => swept.expired_plans += erased,
            }
        }
        loop {
            match self.store.remove_plans(before, BATCH).await? {
                0 => break,
                removed => swept.plans += removed,
            }
        }
        loop {
            match self.store.remove_refactors(before, BATCH).await? {
                0 => break,
                removed => swept.refactors += removed,
            }
        }
        loop {
            match self.store.remove_gone_services(before, BATCH).await? {
                0 => break,
                removed => swept.services += removed,
            }
        }
        let before = now.before(self.history_retention);
        loop {
            match self.store.remove_events(before, BATCH).await? {
                0 => break,
                removed => swept.events += removed,
            }
        }
        let before = now.before(self.audit_retention);
        loop {
            match self.store.remove_audit_events(before, BATCH).await? {
                0 => return Ok(swept),
                removed => swept.audit_events += removed,
            }
        }
    }
}
