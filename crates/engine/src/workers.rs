use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::task::{Id, JoinSet};
use tracing::{error, info, warn};
use ucp_store::Lease;

use crate::Engine;
use crate::Pulse;
use crate::abandoned::Abandoned;

/// How long a claim that is under way may go on after a shutdown request. A claim that is given up may have leased
/// operations, which then wait for the lease to expire.
const CLAIM_GRACE: Duration = Duration::from_secs(1);
/// How long the leases of unfinished steps may take to be released.
const RELEASE_GRACE: Duration = Duration::from_secs(1);
/// The least pause after a claim that failed.
const PAUSE: Duration = Duration::from_secs(1);

/// Notifications from request handlers to workers of this process. A nudge only means "look again". A lost nudge adds
/// latency, since the workers also poll.
#[derive(Clone, Debug, Default)]
pub struct Nudges {
    due: Arc<Notify>,
}

impl Nudges {
    /// Signals that an operation may have become due.
    pub fn due(&self) {
        self.due.notify_one();
    }
}

/// A pool of workers in this process.
pub struct Workers {
    /// The engine that steps the operations.
    pub engine: Arc<Engine>,
    /// The notifications that wake the pool.
    pub nudges: Nudges,
    /// Tells that the pool turns.
    pub pulse: Pulse,
    /// The maximum number of concurrent steps.
    pub concurrency: usize,
    /// The interval at which it polls for due operations.
    pub poll_interval: Duration,
    /// The time that running steps have to finish after a shutdown request.
    pub grace: Duration,
}

impl Workers {
    /// Works until `shutdown` turns true. Then finishes running steps, and releases their leases if `grace` expires
    /// first.
    pub async fn run(self, mut shutdown: watch::Receiver<bool>) {
        let mut steps: JoinSet<Result<(), Abandoned>> = JoinSet::new();
        let mut leases: BTreeMap<Id, Lease> = BTreeMap::new();
        self.pulse.beat(self.poll_interval);
        while !*shutdown.borrow() {
            let idle_for = tokio::select! {
                idle_for = self.claim_into(&mut steps, &mut leases) => idle_for,
                () = given_up(shutdown.clone()) => break,
            };
            tokio::select! {
                Some(ended) = steps.join_next_with_id() => self.ended(ended, &mut leases),
                () = self.nudges.due.notified() => {}
                () = self.engine.store().nudged() => {}
                () = tokio::time::sleep(idle_for) => {}
                _ = shutdown.changed() => {}
            }
        }
        let finished = tokio::time::timeout(self.grace, async {
            while let Some(ended) = steps.join_next_with_id().await {
                self.ended(ended, &mut leases);
            }
        });
        if finished.await.is_err() {
            info!(
                operations = leases.len(),
                "releasing the leases of unfinished steps"
            );
            steps.shutdown().await;
            let released = tokio::time::timeout(RELEASE_GRACE, self.release(leases)).await;
            if released.is_err() {
                warn!("could not release all leases in time; they will expire");
            }
        }
    }

    async fn release(&self, leases: BTreeMap<Id, Lease>) {
        for lease in leases.values() {
            if let Err(error) = self.engine.store().release_lease(lease).await {
                warn!(
                    error = %ucp_model::chain(&error),
                    "could not release a lease"
                );
            }
        }
    }

    /// Claims as many operations as there is capacity for. Returns how long to sleep if nothing else happens.
    async fn claim_into(
        &self,
        steps: &mut JoinSet<Result<(), Abandoned>>,
        leases: &mut BTreeMap<Id, Lease>,
    ) -> Duration {
        let room = self.concurrency.saturating_sub(steps.len());
        if room == 0 {
            self.pulse.beat(self.poll_interval);
            return self.poll_interval;
        }
        match self.engine.claim(room).await {
            Ok(claimed) => {
                self.pulse.beat(self.poll_interval);
                for claimed in claimed {
                    let engine = Arc::clone(&self.engine);
                    let lease = claimed.lease.clone();
                    let step = steps.spawn(async move { engine.step(claimed).await });
                    leases.insert(step.id(), lease);
                }
                self.until_next_due().await
            }
            Err(abandoned) => {
                report(&abandoned);
                self.poll_interval.max(PAUSE)
            }
        }
    }

    async fn until_next_due(&self) -> Duration {
        match self.engine.store().next_claimable_at().await {
            Ok(Some(next)) => next.since(self.engine.now()).min(self.poll_interval),
            Ok(None) => self.poll_interval,
            Err(error) => {
                report(&error.into());
                self.poll_interval
            }
        }
    }

    fn ended(
        &self,
        ended: Result<(Id, Result<(), Abandoned>), tokio::task::JoinError>,
        leases: &mut BTreeMap<Id, Lease>,
    ) {
        match ended {
            Ok((id, outcome)) => {
                leases.remove(&id);
                if let Err(abandoned) = outcome {
                    report(&abandoned);
                }
            }
            Err(join_error) => {
                leases.remove(&join_error.id());
                error!(
                    error = %ucp_model::chain(&join_error),
                    "a step panicked; its lease will expire"
                );
            }
        }
    }
}

/// Resolves when a claim has to be given up.
async fn given_up(mut shutdown: watch::Receiver<bool>) {
    // An error means that the sender is gone, which counts as a shutdown.
    let _ = shutdown.wait_for(|requested| *requested).await;
    tokio::time::sleep(CLAIM_GRACE).await;
}

fn report(abandoned: &Abandoned) {
    warn!(
        error = %ucp_model::chain(abandoned),
        "step not finished; it will be retried"
    );
}
