//! Plans that are kept.

use async_trait::async_trait;
use ucp_model::{KeptPlan, NotReviewed, PlanId, Review, Timestamp};

use crate::{Error, Sealed};

/// A plan with what it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPlan {
    /// The plan.
    pub plan: KeptPlan,
    /// What it shows and what it was made for, sealed.
    pub content: Sealed,
    /// What was declared, sealed. Erased when the plan is over.
    pub declared: Option<Sealed>,
    /// How many plans it counts as, by its size when it was kept.
    pub units: usize,
}

impl StoredPlan {
    /// Returns whether the plan counts for this caller: he has asked for it, and nobody has relied on it.
    pub(crate) fn counts_for(&self, caller: &str) -> bool {
        self.plan.created_by == caller && !self.plan.is_relied_on()
    }
}

/// The result of a review.
#[derive(Clone, Debug, PartialEq)]
pub enum Reviewed {
    /// There is no such plan.
    Absent,
    /// The plan after the review.
    Done(Box<KeptPlan>),
    /// The review was refused, and nothing was written.
    Refused(NotReviewed),
}

/// Storage of plans. [`accept_operation`](crate::Operations::accept_operation) uses one, and
/// [`finish_operation`](crate::Operations::finish_operation) says what has come of that.
#[async_trait]
pub trait KeptPlans: Send + Sync {
    /// Stores a new plan. One that is there already stays as it is. If the database crashes or fails over shortly
    /// afterwards, the plan may be gone, unless it was reviewed or used by then.
    async fn keep_plan(&self, plan: StoredPlan) -> Result<(), Error>;

    /// Returns the plan, if it was kept and has not been removed yet.
    async fn get_plan(&self, id: PlanId) -> Result<Option<StoredPlan>, Error>;

    /// Reviews a plan, as [`KeptPlan::reviewed`] says.
    async fn review_plan(&self, id: PlanId, review: &Review) -> Result<Reviewed, Error>;

    /// Counts the [units](StoredPlan::units) of the plans of a caller that nobody has [relied on](KeptPlan::is_relied_on), up
    /// to `limit`. Those that are over count as long as they are there.
    async fn count_plans(&self, created_by: &str, limit: usize) -> Result<usize, Error>;

    /// Removes plans of a caller that have expired by `now` and that nobody has [relied on](KeptPlan::is_relied_on), until
    /// those that nobody has relied on have `most` units, or none of them has expired. Those that expired first go first.
    /// Returns how many.
    async fn remove_plans_of(
        &self,
        created_by: &str,
        now: Timestamp,
        most: usize,
    ) -> Result<u64, Error>;

    /// Erases what was declared of up to `limit` plans that have expired, and returns of how many.
    async fn erase_expired_plans(&self, now: Timestamp, limit: usize) -> Result<u64, Error>;

    /// Removes up to `limit` plans that were over before `before`, and returns how many. One that an operation carries out
    /// stays.
    async fn remove_plans(&self, before: Timestamp, limit: usize) -> Result<u64, Error>;
}
