use std::ops::RangeInclusive;
use std::time::Duration;

use ucp_listen::AllowedHosts;

/// The settings of a simulated AWS, apart from [`faults`](crate::faults).
#[derive(Clone, Debug)]
pub struct Settings {
    /// The duration of a change from acceptance to end, uniformly distributed.
    pub latency: RangeInclusive<Duration>,
    /// The accepted values of `Host` of the control API.
    pub allowed_hosts: AllowedHosts,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            latency: Duration::from_millis(300)..=Duration::from_millis(800),
            allowed_hosts: AllowedHosts::loopback_and([]),
        }
    }
}
