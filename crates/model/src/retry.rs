//! Retry arithmetic: how long to wait before trying again.

use std::time::Duration;

/// Returns the delay of an exponential back-off with jitter: between half and all of `first · 2^attempt` (`attempt`
/// counts from 0), capped at `longest`. `jitter` is a draw from `[0, 1)`.
pub fn backoff(attempt: u32, first: Duration, longest: Duration, jitter: f64) -> Duration {
    let whole = first
        .saturating_mul(2u32.saturating_pow(attempt.min(30)))
        .min(longest);
    whole.mul_f64(0.5 + 0.5 * jitter.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Duration = Duration::from_millis(200);
    const LONGEST: Duration = Duration::from_secs(30);

    #[test]
    fn doubles_until_the_cap() {
        let waits: Vec<u128> = (0..10)
            .map(|attempt| backoff(attempt, FIRST, LONGEST, 1.0).as_millis())
            .collect();
        assert_eq!(
            waits,
            [
                200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000
            ]
        );
    }

    #[test]
    fn jitter_takes_at_most_half() {
        assert_eq!(backoff(1, FIRST, LONGEST, 0.0), Duration::from_millis(200));
        assert_eq!(backoff(u32::MAX, FIRST, LONGEST, 0.0), LONGEST / 2);
    }
}
