//! The plans that operations carry out. Each is opened and read once, since each look of each member of a set needs its own
//! part. A plan never changes.

use std::sync::{Arc, Mutex, PoisonError};

use hashlink::LruCache;
use tokio::sync::OnceCell;
use ucp_look::PlannedMember;
use ucp_model::PlanId;

use crate::abandoned::Abandoned;

/// How many plans are remembered, and how many bytes of them. One is remembered however large it is.
const PLANS_MAX: usize = 1_000;
const BYTES_MAX: usize = 32 << 20;

/// The plans that were needed last.
pub(crate) struct KnownPlans(Mutex<LruCache<PlanId, Arc<OnceCell<Known>>>>);

/// What is remembered of a plan.
#[derive(Default)]
pub(crate) struct Known {
    /// Its members; none if it is gone or cannot be read.
    pub(crate) members: Arc<[PlannedMember]>,
    pub(crate) bytes: usize,
}

impl KnownPlans {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(LruCache::new(PLANS_MAX)))
    }

    /// Returns the members of a plan. Of several who ask for one that is not remembered, one loads it.
    pub(crate) async fn members(
        &self,
        plan: PlanId,
        load: impl AsyncFnOnce() -> Result<Known, Abandoned>,
    ) -> Result<Arc<[PlannedMember]>, Abandoned> {
        let cell = {
            let mut plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let cell = plans.entry(plan).or_insert_with(Arc::default);
            Arc::clone(cell)
        };
        let mut is_new = false;
        let known = cell.get_or_try_init(async || {
            is_new = true;
            load().await
        });
        let members = Arc::clone(&known.await?.members);
        if is_new {
            self.make_room();
        }
        Ok(members)
    }

    fn make_room(&self) {
        let mut plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = |cell: &Arc<OnceCell<Known>>| cell.get().map_or(0, |known| known.bytes);
        let mut left: usize = plans.iter().map(|(_, cell)| bytes(cell)).sum();
        while left > BYTES_MAX
            && plans.len() > 1
            && let Some((_, gone)) = plans.remove_lru()
        {
            left -= bytes(&gone);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(number: u128) -> PlanId {
        format!("{number:032x}").parse().unwrap()
    }

    /// Asks for a plan of so many bytes. Returns whether it was loaded.
    async fn ask(plans: &KnownPlans, number: u128, bytes: usize) -> bool {
        let mut is_loaded = false;
        let load = async || {
            is_loaded = true;
            Ok(Known {
                bytes,
                ..Known::default()
            })
        };
        plans.members(plan(number), load).await.unwrap();
        is_loaded
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
        assert!(ask(&plans, 4, 2 * BYTES_MAX).await);
        assert!(!ask(&plans, 4, 2 * BYTES_MAX).await);
        assert!(ask(&plans, 1, 1).await);
    }

    #[tokio::test]
    async fn what_could_not_be_loaded_is_loaded_again() {
        let plans = KnownPlans::new();
        let failing = plans.members(plan(1), async || Err(Abandoned::NoTurn));
        assert!(failing.await.is_err());
        assert!(ask(&plans, 1, 1).await);
    }
}
