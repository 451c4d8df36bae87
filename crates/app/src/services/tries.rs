//! Orders of one instance that are placed at the same time.

use std::time::Duration;

use tokio::time::sleep;

use crate::App;

/// How often an order is judged anew because its instance has changed meanwhile.
const MOST: u32 = 30;
/// The longest pause before the first of these.
const FIRST: Duration = Duration::from_millis(5);
/// The longest pause.
const LONGEST: Duration = Duration::from_millis(200);

/// Counts how often an order was judged. A change of a binding is a change of its instance, so that several bindings that are
/// made at once are judged one after the other.
#[derive(Default)]
pub(super) struct Tries(u32);

impl Tries {
    /// Pauses, and returns whether the order is judged anew.
    pub(super) async fn again(&mut self, app: &App) -> bool {
        self.0 += 1;
        let longest = FIRST.saturating_mul(1 << self.0.min(10)).min(LONGEST);
        sleep(longest.mul_f64(app.parts.entropy.fraction("service-retry"))).await;
        self.0 < MOST
    }
}
