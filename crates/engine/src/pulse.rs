use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How late the next turn of the workers may be. A single statement that hangs is given up sooner.
const SLACK: Duration = Duration::from_secs(15);

/// Whether the workers of this process turn: whether they claim, or are at work on all that they can.
#[derive(Clone, Debug, Default)]
pub struct Pulse {
    /// Before when they turn again; `None` if this process has no workers.
    expected: Arc<Mutex<Option<Instant>>>,
}

impl Pulse {
    /// Records a turn, of which there is one per `interval` as a rule.
    pub(crate) fn beat(&self, interval: Duration) {
        let expected = Instant::now().checked_add(interval.saturating_add(SLACK));
        *self.lock() = expected;
    }

    /// Returns whether the workers turn. It is true of a process without workers.
    pub fn is_regular(&self) -> bool {
        self.lock().is_none_or(|expected| Instant::now() < expected)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.expected.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
