use std::time::Duration;

use crate::retry;

/// What a process expects of a request that AWS has accepted, when it decides how soon to ask after it. It is not stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forecast {
    /// How long such a change has usually taken, if that is known.
    pub usual: Option<Duration>,
    /// Who sees the end of the request.
    pub watch: Watched,
}

/// Who sees the end of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Watched {
    /// The operation, which asks after it.
    #[default]
    Alone,
    /// A watch over all requests of the account and region is about to begin, if they take long enough. Until then, the
    /// operation asks.
    Soon,
    /// A watch over all requests of the account and region. The operation asks only if the watch fails.
    InBulk,
}

/// Delays between polls if AWS does not ask for one, and nothing is known of such changes.
const FIRST_POLL: Duration = Duration::from_millis(250);
const LONGEST_POLL: Duration = Duration::from_secs(20);
/// The delay before the first poll of a change that usually takes longer. What is refused is often refused at once.
const FIRST_GLANCE: Duration = Duration::from_secs(2);
/// The least delay between polls around the usual end.
const SHORTEST_POLL: Duration = Duration::from_secs(1);
/// The delay before the poll of a request that is about to be watched. By then, the watch has put the poll off, or is not kept
/// since few others wait.
const UNTIL_WATCHED: Duration = Duration::from_secs(4);
/// The delay between the polls of a request that is watched in bulk. By then, the watch has seen the request and put the poll
/// off, or does not work.
const FALLBACK: Duration = Duration::from_secs(30);

impl Forecast {
    /// Returns how long after now to ask after a request that AWS has accepted `age` ago, and that was asked after `polls`
    /// times. A change that has no usual duration is asked after at growing intervals, so that its end is seen within a quarter of
    /// its age. One that has is asked after a
    /// few times before, at the usual end, and then at an eighth of its age.
    pub(super) fn until_next_poll(self, age: Duration, polls: u32, jitter: f64) -> Duration {
        match (self.watch, self.usual) {
            (Watched::InBulk, _) => retry::backoff(0, FALLBACK, FALLBACK, jitter),
            (Watched::Soon, usual) if usual.is_none_or(|usual| usual > age + UNTIL_WATCHED) => {
                retry::backoff(0, UNTIL_WATCHED, UNTIL_WATCHED, jitter)
            }
            (Watched::Alone | Watched::Soon, None) => {
                let share = (age / 4).max(SHORTEST_POLL);
                retry::backoff(polls, FIRST_POLL, LONGEST_POLL, jitter).min(share)
            }
            (Watched::Alone | Watched::Soon, Some(usual)) => {
                let until_usual = usual.saturating_sub(age);
                let glance = FIRST_GLANCE.max(age.saturating_mul(3));
                let around_end = (age / 8).clamp(SHORTEST_POLL, LONGEST_POLL);
                match until_usual > SHORTEST_POLL {
                    true => until_usual.min(glance),
                    false if polls == 0 => until_usual.max(FIRST_POLL),
                    false => around_end.mul_f64(1.0 - jitter.clamp(0.0, 1.0) / 4.0),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The times at which a request is asked after, in milliseconds, until `end`.
    fn polls(forecast: Forecast, end: u64) -> Vec<u64> {
        let mut polls = Vec::new();
        let mut age = Duration::ZERO;
        while age < Duration::from_millis(end) {
            let count = u32::try_from(polls.len()).unwrap();
            age += forecast.until_next_poll(age, count, 0.0);
            polls.push(u64::try_from(age.as_millis()).unwrap());
        }
        polls
    }

    fn usually(seconds: f64) -> Forecast {
        Forecast {
            usual: Some(Duration::from_secs_f64(seconds)),
            watch: Watched::Alone,
        }
    }

    #[test]
    fn what_is_not_known_is_asked_after_at_growing_intervals() {
        let polls = polls(Forecast::default(), 60_000);
        assert_eq!(polls[..5], [125, 375, 875, 1_875, 2_875]);
        assert_eq!(polls.len(), 19);
        let late = polls.windows(2).filter(|it| it[0] >= 4_000);
        for poll in late {
            assert!(poll[1] <= poll[0] + poll[0] / 4 + 1, "{polls:?}");
        }
    }

    #[test]
    fn what_is_known_is_asked_after_around_its_usual_end() {
        assert_eq!(
            polls(usually(60.0), 60_001),
            [2_000, 8_000, 32_000, 60_000, 67_500]
        );
        assert_eq!(polls(usually(3.0), 3_001), [2_000, 3_000, 4_000]);
        assert_eq!(polls(usually(0.5), 501), [500, 1_500]);
        assert_eq!(polls(usually(0.0), 1), [250]);
        // However long it takes.
        assert!(polls(usually(60.0), 3_600_000).len() < 200);
    }

    #[test]
    fn what_is_about_to_be_watched_is_asked_after_until_then() {
        let soon = |usual| Forecast {
            usual,
            watch: Watched::Soon,
        };
        assert_eq!(polls(soon(None), 2_001), [2_000, 4_000]);
        assert_eq!(polls(soon(usually(60.0).usual), 2_001), [2_000, 4_000]);
        assert_eq!(polls(soon(usually(0.5).usual), 501), [500, 1_500]);
    }

    #[test]
    fn what_is_watched_in_bulk_is_hardly_asked_after() {
        for usual in [None, Some(Duration::from_secs(1))] {
            let watch = Watched::InBulk;
            let polls = polls(Forecast { usual, watch }, 60_000);
            assert_eq!(polls, [15_000, 30_000, 45_000, 60_000]);
        }
    }
}
