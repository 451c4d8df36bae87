use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use ucp_model::{Clock, Timestamp};

/// A clock that is moved by hand.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// A clock at the beginning of 2026.
    pub fn new() -> Self {
        Self(AtomicI64::new(1_767_225_600_000))
    }

    /// Advances by `duration`.
    pub fn advance(&self, duration: Duration) {
        self.move_to(self.now().after(duration));
    }

    /// Advances to `moment`, unless it is in the past.
    pub fn move_to(&self, moment: Timestamp) {
        self.0.fetch_max(moment.as_millis(), Ordering::SeqCst);
    }
}

impl Default for ManualClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}
