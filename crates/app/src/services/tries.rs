//! Orders of one instance that are placed at the same time.

use std::time::Duration;

use tokio::time::sleep;

use super::{Ordered, ServiceRejection};
use crate::ServiceCases;

/// How often an order is judged anew because its instance has changed meanwhile.
const MOST: u32 = 30;
/// The longest pause before the first of these.
const FIRST: Duration = Duration::from_millis(5);
/// The longest pause.
const LONGEST: Duration = Duration::from_millis(200);

impl ServiceCases {
    /// Places an order, and judges it anew as long as its instance has changed meanwhile. A change of a binding is a change of
    /// its instance, so that several bindings that are made at once are judged one after the other.
    pub(super) async fn judged_anew<F>(
        &self,
        order: impl Fn() -> F + Send,
    ) -> Result<Ordered, ServiceRejection>
    where
        F: Future<Output = Result<Ordered, ServiceRejection>> + Send,
    {
        let mut tries = 0;
        loop {
            let ordered = order().await;
            tries += 1;
            match ordered {
                Err(ServiceRejection::Changed) if tries < MOST => {}
                ordered => return ordered,
            }
            let longest = FIRST.saturating_mul(1 << tries.min(10)).min(LONGEST);
            sleep(longest.mul_f64(self.ground.entropy.fraction("service-retry"))).await;
        }
    }
}
