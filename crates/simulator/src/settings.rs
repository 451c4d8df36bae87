use std::ops::RangeInclusive;
use std::time::Duration;

/// The settings of a simulated AWS, apart from [`faults`](crate::faults).
#[derive(Clone, Debug)]
pub struct Settings {
    /// The duration of a change from acceptance to end, uniformly distributed.
    pub latency: RangeInclusive<Duration>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            latency: Duration::from_millis(300)..=Duration::from_millis(800),
        }
    }
}
