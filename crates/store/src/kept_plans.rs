//! Plans that are kept.

use async_trait::async_trait;
use ucp_model::{GroupId, KeptPlan, NotReviewed, PlanId, Review, Timestamp};

use crate::{Error, Sealed};

/// The unit by which plans are counted, in bytes.
pub const PLAN_UNIT: usize = 4 << 10;

/// A plan with what it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPlan {
    /// The plan.
    pub plan: KeptPlan,
    /// What it shows and what it was made for, sealed.
    pub content: Sealed,
    /// What was declared, sealed. Erased when the plan is over.
    pub declared: Option<Sealed>,
    /// How much it counts, by the size that it had before it was compressed.
    pub units: usize,
}

impl StoredPlan {
    /// Returns how many bytes it has at most, once it is opened.
    pub fn opened_bytes(&self) -> usize {
        self.units.saturating_mul(PLAN_UNIT)
    }
}

/// Plans that one caller has asked for, and that nobody has [relied on](KeptPlan::is_relied_on).
#[derive(Clone, Copy, Debug)]
pub struct PlansOf<'a> {
    /// Who has asked for them.
    pub caller: &'a str,
    /// The group that they are about; `None` for all plans.
    pub group: Option<&'a GroupId>,
}

impl PlansOf<'_> {
    /// Returns whether a plan is one of them.
    pub(crate) fn has(&self, plan: &KeptPlan) -> bool {
        let key = self.group.map(GroupId::key);
        plan.created_by == self.caller
            && !plan.is_relied_on()
            && key.is_none_or(|key| plan.group.as_ref().map(GroupId::key) == Some(key))
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

    /// Counts the [units](StoredPlan::units) of plans, up to `limit`. Those that are over count as long as they are there.
    async fn count_plans(&self, of: PlansOf<'_>, limit: usize) -> Result<usize, Error>;

    /// Removes plans until they have `most` units, or none is left that expires by `until`. The oldest go first. Returns how
    /// many.
    async fn remove_plans_of(
        &self,
        of: PlansOf<'_>,
        until: Timestamp,
        most: usize,
    ) -> Result<u64, Error>;

    /// Erases what was declared of up to `limit` plans that have expired, and returns of how many.
    async fn erase_expired_plans(&self, now: Timestamp, limit: usize) -> Result<u64, Error>;

    /// Removes up to `limit` plans that were over before `before`, and returns how many. One that an operation carries out
    /// stays.
    async fn remove_plans(&self, before: Timestamp, limit: usize) -> Result<u64, Error>;
}
