//! Plans: how they are kept, reviewed, and used by the requests that carry them out.

pub(crate) mod kept_plans;
pub(crate) mod plan_to_apply;
pub(crate) mod track_records;
pub(crate) mod withholding;

use std::sync::Arc;

pub use self::kept_plans::{PLAN_LIFETIME, PLAN_LIFETIMES, PlanReview, ShownPlan};
use crate::{Allowances, Ground};

/// Plans that are kept, and what became of earlier ones.
pub struct PlanCases {
    pub(crate) ground: Arc<Ground>,
    pub(crate) allowances: Arc<Allowances>,
}
