//! The plans that operations carry out. Each is opened once, since each look of each member of a set needs its own part, and
//! kept as text, a tenth of what its values take. A plan never changes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hashlink::LruCache;
use serde_json::value::RawValue;
use tokio::sync::OnceCell;
use ucp_model::{PlanId, Timestamp};

use crate::abandoned::Abandoned;

/// How many plans are remembered, and how much memory they take. One is remembered however large it is.
const PLANS_MAX: usize = 1_000;
const BYTES_MAX: usize = 64 << 20;
/// How long a plan is remembered after somebody has asked for it. One that is carried out is asked for more often.
const IDLE: Duration = Duration::from_secs(60);

/// The plans that were needed last.
pub(crate) struct KnownPlans(Mutex<LruCache<PlanId, Entry>>);

struct Entry {
    asked_at: Timestamp,
    known: Arc<OnceCell<Known>>,
}

/// What is remembered of a plan.
#[derive(Default)]
pub(crate) struct Known {
    /// The texts of its members; none if it is gone or cannot be read.
    members: Arc<[Box<RawValue>]>,
    /// How much memory they take.
    bytes: usize,
}

impl Known {
    pub(crate) fn new(members: Vec<Box<RawValue>>) -> Self {
        Self {
            bytes: members.iter().map(|member| member.get().len()).sum(),
            members: members.into(),
        }
    }
}

impl KnownPlans {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(LruCache::new(PLANS_MAX)))
    }

    /// Returns the members of a plan that is remembered.
    pub(crate) fn known(&self, plan: PlanId, now: Timestamp) -> Option<Arc<[Box<RawValue>]>> {
        let mut plans = self.plans();
        let entry = plans.get_mut(&plan)?;
        entry.asked_at = now;
        Some(Arc::clone(&entry.known.get()?.members))
    }

    /// Returns the members of a plan. Of several who ask for one that is not remembered, one loads it.
    pub(crate) async fn members(
        &self,
        plan: PlanId,
        now: Timestamp,
        load: impl AsyncFnOnce() -> Result<Known, Abandoned>,
    ) -> Result<Arc<[Box<RawValue>]>, Abandoned> {
        let known = {
            let mut plans = self.plans();
            let known = plans.remove(&plan).map(|entry| entry.known);
            let known = known.unwrap_or_default();
            let entry = Entry {
                asked_at: now,
                known: Arc::clone(&known),
            };
            plans.insert(plan, entry);
            known
        };
        let mut is_new = false;
        let known = known.get_or_try_init(async || {
            is_new = true;
            load().await
        });
        let members = Arc::clone(&known.await?.members);
        if is_new {
            self.make_room_for(plan);
        }
        Ok(members)
    }

    /// Forgets the plans that nobody has asked for in a while.
    pub(crate) fn forget_idle(&self, now: Timestamp) {
        let mut plans = self.plans();
        let is_idle = |(_, entry): (&PlanId, &Entry)| entry.asked_at.after(IDLE) <= now;
        while plans.iter().next().is_some_and(is_idle) {
            plans.remove_lru();
        }
    }

    /// Forgets what was asked for longest ago, but neither this plan nor one that is being loaded.
    fn make_room_for(&self, plan: PlanId) {
        let mut plans = self.plans();
        let bytes = |entry: &Entry| entry.known.get().map_or(0, |known| known.bytes);
        let mut held: usize = plans.iter().map(|(_, entry)| bytes(entry)).sum();
        while held > BYTES_MAX {
            let oldest = plans
                .iter()
                .find(|(id, entry)| **id != plan && bytes(entry) > 0);
            let Some((id, entry)) = oldest else {
                break;
            };
            let (id, freed) = (*id, bytes(entry));
            plans.remove(&id);
            held -= freed;
        }
    }

    fn plans(&self) -> MutexGuard<'_, LruCache<PlanId, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(number: u128) -> PlanId {
        format!("{number:032x}").parse().unwrap()
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_millis(second * 1_000)
    }

    /// Asks at a second for a plan of so many bytes. Returns whether it was loaded.
    async fn ask_at(plans: &KnownPlans, second: i64, number: u128, bytes: usize) -> bool {
        if plans.known(plan(number), at(second)).is_some() {
            return false;
        }
        let mut is_loaded = false;
        let load = async || {
            is_loaded = true;
            Ok(Known {
                bytes,
                ..Known::default()
            })
        };
        plans.members(plan(number), at(second), load).await.unwrap();
        is_loaded
    }

    async fn ask(plans: &KnownPlans, number: u128, bytes: usize) -> bool {
        ask_at(plans, 0, number, bytes).await
    }

    #[tokio::test]
    async fn a_plan_is_loaded_once_as_long_as_there_is_room() {
        let plans = KnownPlans::new();
        assert!(ask(&plans, 1, BYTES_MAX / 2).await);
        assert!(!ask(&plans, 1, BYTES_MAX / 2).await);
        assert!(ask(&plans, 2, BYTES_MAX / 2).await);
        assert!(!ask(&plans, 1, BYTES_MAX / 2).await);
        assert!(ask(&plans, 3, 1).await, "the second makes room");
        assert!(!ask(&plans, 1, BYTES_MAX / 2).await);
        assert!(ask(&plans, 2, BYTES_MAX / 2).await);
        assert!(ask(&plans, 4, 2 * BYTES_MAX).await);
        assert!(!ask(&plans, 4, 2 * BYTES_MAX).await);
        assert!(ask(&plans, 1, 1).await);
    }

    #[tokio::test]
    async fn a_plan_that_nobody_asks_for_is_forgotten() {
        let plans = KnownPlans::new();
        for number in [1, 2] {
            assert!(ask_at(&plans, 0, number, 1).await);
        }
        assert!(!ask_at(&plans, 30, 1, 1).await);
        plans.forget_idle(at(59));
        assert_eq!(plans.plans().len(), 2);
        plans.forget_idle(at(60));
        assert_eq!(plans.plans().len(), 1);
        assert!(!ask_at(&plans, 60, 1, 1).await);
        plans.forget_idle(at(120));
        assert_eq!(plans.plans().len(), 0);
    }

    /// Whoever asks for what another loads waits for them.
    #[tokio::test]
    async fn a_plan_is_loaded_by_one_of_those_who_ask() {
        let plans = KnownPlans::new();
        let (release, released) = tokio::sync::oneshot::channel::<()>();
        let first = plans.members(plan(1), at(0), async || {
            released.await.unwrap();
            Ok(Known::default())
        });
        let second = async {
            assert!(plans.known(plan(1), at(0)).is_none());
            let waiting = plans.members(plan(1), at(0), async || panic!("it is loaded twice"));
            release.send(()).unwrap();
            waiting.await
        };
        let (first, second) = tokio::join!(first, second);
        assert!(first.is_ok() && second.is_ok());
    }

    #[tokio::test]
    async fn what_could_not_be_loaded_is_loaded_again() {
        let plans = KnownPlans::new();
        let failing = plans.members(plan(1), at(0), async || Err(Abandoned::NoTurn));
        assert!(failing.await.is_err());
        assert!(ask(&plans, 1, 1).await);
    }
}
