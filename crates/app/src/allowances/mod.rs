//! How much there may be.

pub(crate) mod estimates;
pub(crate) mod quotas;

use std::sync::Arc;

pub(crate) use self::estimates::Estimates;
pub use self::estimates::Quotas;
use crate::Ground;

/// How much there may be of everything.
pub struct Allowances {
    pub(crate) ground: Arc<Ground>,
    pub(crate) quotas: Quotas,
    pub(crate) estimates: Estimates,
}
