use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use ucp_model::{Clock, Timestamp};

/// A clock that is moved by hand.
#[derive(Debug)]
pub struct ManualClock {
    now: AtomicI64,
    skew_ms: AtomicU64,
}

impl ManualClock {
    /// A clock at the beginning of 2026.
    pub fn new() -> Self {
        Self {
            now: AtomicI64::new(1_767_225_600_000),
            skew_ms: AtomicU64::new(0),
        }
    }

    /// Advances by `duration`.
    pub fn advance(&self, duration: Duration) {
        self.move_to(self.now().after(duration));
    }

    /// Advances to `moment`, unless it is in the past.
    pub fn move_to(&self, moment: Timestamp) {
        self.now.fetch_max(moment.as_millis(), Ordering::SeqCst);
    }

    /// Lets the machine's own clock differ by this much.
    pub fn set_skew(&self, skew: Duration) {
        let skew_ms = u64::try_from(skew.as_millis()).unwrap_or(u64::MAX);
        self.skew_ms.store(skew_ms, Ordering::SeqCst);
    }
}

/// The clock of a process that is ahead of the others, or behind them.
#[derive(Debug)]
pub(crate) struct Skewed {
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) ahead_ms: i64,
}

impl Clock for Skewed {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.clock.now().as_millis() + self.ahead_ms)
    }
}

impl Default for ManualClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.now.load(Ordering::SeqCst))
    }

    fn skew(&self) -> Duration {
        Duration::from_millis(self.skew_ms.load(Ordering::SeqCst))
    }
}
