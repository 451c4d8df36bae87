use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::task::{Id, JoinSet};
use tracing::{error, info, warn};
use ucp_store::Lease;

use crate::Engine;
use crate::Pulse;
use crate::abandoned::Abandoned;
use crate::slots::Slots;
use crate::stepping::Claims;

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
        let mut leases = Held::new(self.concurrency);
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
            let released = tokio::time::timeout(RELEASE_GRACE, self.release(&leases)).await;
            if released.is_err() {
                warn!("could not release all leases in time; they will expire");
            }
        }
    }

    async fn release(&self, leases: &Held) {
        let releases = leases.leases().cloned().map(|lease| {
            let engine = Arc::clone(&self.engine);
            async move { engine.store().release_lease(&lease).await }
        });
        at_once(releases).await;
    }

    /// Claims as many operations as there is room for. Returns how long to sleep if nothing else happens.
    async fn claim_into(
        &self,
        steps: &mut JoinSet<Result<(), Abandoned>>,
        leases: &mut Held,
    ) -> Duration {
        loop {
            let room = leases.slots.room();
            if room.limit == 0 {
                self.pulse.beat(self.poll_interval);
                return self.poll_interval;
            }
            let Claims { count, admitted } = match self.engine.claim(&room).await {
                Ok(claims) => claims,
                Err(abandoned) => {
                    report(&abandoned);
                    return self.poll_interval.max(PAUSE);
                }
            };
            self.pulse.beat(self.poll_interval);
            for claimed in admitted {
                let engine = Arc::clone(&self.engine);
                let (lease, scope) = (claimed.lease.clone(), claimed.operation.work.scope_key());
                let step = steps.spawn(async move { engine.step(claimed).await });
                leases.insert(step.id(), lease, scope);
            }
            if count < room.limit {
                let until_next = self.until_next_due(&room.crowded).await;
                return leases.idle.sleep(count, until_next, self.poll_interval);
            }
        }
    }

    /// Returns how long it takes until the next operation for which there is room can be claimed.
    async fn until_next_due(&self, crowded: &BTreeSet<String>) -> Duration {
        let store = self.engine.store();
        let next = if crowded.is_empty() {
            store.next_claimable_at().await
        } else {
            store.next_claimable_elsewhere(crowded).await
        };
        match next {
            Ok(Some(next)) => next.since(self.engine.now()),
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
        leases: &mut Held,
    ) {
        match ended {
            Ok((id, outcome)) => {
                leases.remove(&id);
                if let Err(abandoned) = outcome {
                    leases.missing_keys.report(&abandoned);
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

/// Waits for all releases at once. The store bounds how many it works on.
async fn at_once<R>(releases: impl Iterator<Item = R>)
where
    R: Future<Output = Result<(), ucp_store::Error>> + Send + 'static,
{
    let mut releases: JoinSet<_> = releases.collect();
    while let Some(released) = releases.join_next().await {
        let error = match released {
            Ok(Ok(())) => continue,
            Ok(Err(error)) => ucp_model::chain(&error),
            Err(panicked) => ucp_model::chain(&panicked),
        };
        warn!(error, "could not release a lease");
    }
}

/// Resolves when a claim has to be given up.
async fn given_up(mut shutdown: watch::Receiver<bool>) {
    // An error means that the sender is gone, which counts as a shutdown.
    let _ = shutdown.wait_for(|requested| *requested).await;
    tokio::time::sleep(CLAIM_GRACE).await;
}

/// What the running steps hold.
struct Held {
    by_step: BTreeMap<Id, (Lease, String)>,
    slots: Slots,
    idle: Idle,
    missing_keys: MissingKeys,
}

impl Held {
    fn new(slots: usize) -> Self {
        Self {
            by_step: BTreeMap::new(),
            slots: Slots::new(slots),
            idle: Idle::default(),
            missing_keys: MissingKeys::default(),
        }
    }

    fn insert(&mut self, step: Id, lease: Lease, scope: String) {
        self.slots.take(scope.clone());
        self.by_step.insert(step, (lease, scope));
    }

    fn remove(&mut self, step: &Id) {
        if let Some((_, scope)) = self.by_step.remove(step) {
            self.slots.free(&scope);
        }
    }

    fn len(&self) -> usize {
        self.by_step.len()
    }

    fn leases(&self) -> impl Iterator<Item = &Lease> {
        self.by_step.values().map(|(lease, _)| lease)
    }
}

/// The sleep between claims. What is due and yet was not claimed either has just become due, or is locked for a moment by
/// a request.
#[derive(Default)]
struct Idle {
    /// How often in a row nothing was claimed, although something is due.
    in_vain: u32,
}

impl Idle {
    /// The sleep after the first claim in vain.
    const FIRST: Duration = Duration::from_millis(5);

    /// Returns how long to sleep after `claimed` operations were claimed and the next is due in `until_next`.
    fn sleep(&mut self, claimed: usize, until_next: Duration, poll_interval: Duration) -> Duration {
        if claimed > 0 || !until_next.is_zero() {
            self.in_vain = 0;
            return until_next.min(poll_interval);
        }
        let sleep = Self::FIRST.saturating_mul(1 << self.in_vain.min(16));
        self.in_vain += 1;
        sleep.min(poll_interval)
    }
}

/// The encryption keys that this process lacks, by id. Each is a warning once, however many operations it seals and
/// however often they are handed back.
#[derive(Default)]
struct MissingKeys(BTreeSet<String>);

impl MissingKeys {
    /// The maximum number of warnings.
    const MAX: usize = 64;

    fn report(&mut self, abandoned: &Abandoned) {
        let Abandoned::Keys(ucp_seal::Error::OtherKey { sealed_under, .. }) = abandoned else {
            return report(abandoned);
        };
        if self.is_new(sealed_under) {
            warn!(
                error = %ucp_model::chain(abandoned),
                "operations wait for a process that has their encryption key"
            );
        }
    }

    fn is_new(&mut self, key: &str) -> bool {
        self.0.len() < Self::MAX && self.0.insert(key.to_owned())
    }
}

fn report(abandoned: &Abandoned) {
    warn!(
        error = %ucp_model::chain(abandoned),
        "step not finished; it will be retried"
    );
}

#[cfg(test)]
mod tests {
    use tokio::sync::Barrier;

    use super::*;

    /// Those that are released one after the other would wait for the last one for ever.
    #[tokio::test]
    async fn leases_are_released_at_once() {
        const LEASES: usize = 512;
        let all = Arc::new(Barrier::new(LEASES));
        let releases = (0..LEASES).map(|_| {
            let all = Arc::clone(&all);
            async move {
                all.wait().await;
                Ok(())
            }
        });
        let released = tokio::time::timeout(Duration::from_secs(10), at_once(releases)).await;
        assert!(released.is_ok());
    }

    #[test]
    fn what_is_locked_does_not_keep_workers_busy() {
        const POLL: Duration = Duration::from_millis(500);
        let mut idle = Idle::default();
        let ten = Duration::from_secs(10);
        let (mut slept, mut claims) = (Duration::ZERO, 0);
        while slept < ten {
            slept += idle.sleep(0, Duration::ZERO, POLL);
            claims += 1;
        }
        assert!(claims < 30, "{claims} claims in ten seconds");
        // One that has just become due does not wait for long.
        assert_eq!(idle.sleep(1, Duration::ZERO, POLL), Duration::ZERO);
        assert_eq!(idle.sleep(0, Duration::ZERO, POLL), Idle::FIRST);
        assert_eq!(idle.sleep(0, ten, POLL), POLL);
    }

    #[test]
    fn a_missing_key_is_a_warning_once() {
        let mut missing = MissingKeys::default();
        let warned = ["a", "a", "b", "a", "b"].map(|key| missing.is_new(key));
        assert_eq!(warned, [true, false, true, false, false]);
        let warnings = (0..1_000).filter(|key| missing.is_new(&key.to_string()));
        assert_eq!(warnings.count(), MissingKeys::MAX - 2);
    }
}
