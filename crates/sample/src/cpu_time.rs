use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Returns the CPU time that this thread has taken so far. Unlike the time of day, it does not pass while others run, so a
/// busy machine makes no difference.
pub fn cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        now.tv_sec.try_into().unwrap_or_default(),
        now.tv_nsec.try_into().unwrap_or_default(),
    )
}
