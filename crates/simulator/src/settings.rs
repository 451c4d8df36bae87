use std::ops::RangeInclusive;
use std::time::Duration;

/// What can be chosen about a simulated AWS, besides its [`faults`](crate::faults).
#[derive(Clone, Debug)]
pub struct Settings {
    /// How long a change takes from its acceptance to its end, evenly distributed.
    pub latency: RangeInclusive<Duration>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            latency: Duration::from_millis(300)..=Duration::from_millis(800),
        }
    }
}
