//! How often a caller may change what is in a scope, and read it from AWS.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use governor::clock::Clock as _;
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};
use ucp_model::Clock;

use crate::action::Effect;

/// The number of callers and scopes whose requests are counted at once, of each kind of request.
const COUNTED: usize = 10_000;

/// How many requests a second there may be of a caller in a scope; twice as many at once. `None` for any number.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rates {
    /// Those that change something.
    pub writes: Option<NonZeroU32>,
    /// Those that read from AWS.
    pub aws_reads: Option<NonZeroU32>,
}

/// Counts the requests of callers.
pub(crate) struct Limits {
    writes: Option<Limit>,
    aws_reads: Option<Limit>,
}

/// Who asks, and where.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    caller: String,
    scope: String,
}

type Limiter = RateLimiter<Key, HashMapStateStore<Key>, Now, NoOpMiddleware<Duration>>;

struct Limit {
    limiter: Limiter,
    now: Now,
}

/// The time since 1970.
#[derive(Clone)]
struct Now(Arc<dyn Clock>);

impl governor::clock::Clock for Now {
    type Instant = Duration;

    fn now(&self) -> Duration {
        let millis = self.0.now().as_millis();
        Duration::from_millis(u64::try_from(millis).unwrap_or_default())
    }
}

impl Limits {
    pub(crate) fn new(rates: Rates, clock: &Arc<dyn Clock>) -> Self {
        let limit = |rate| Limit::new(rate, Now(Arc::clone(clock)));
        Self {
            writes: rates.writes.map(limit),
            aws_reads: rates.aws_reads.map(limit),
        }
    }

    /// Counts a request. Returns how long to wait, if there are too many.
    pub(crate) fn count(&self, effect: Effect, caller: &str, path: &str) -> Result<(), Duration> {
        let limit = match effect {
            Effect::Write => &self.writes,
            Effect::AwsRead => &self.aws_reads,
            Effect::Read => &None,
        };
        let Some(limit) = limit else {
            return Ok(());
        };
        limit.count(Key {
            caller: caller.to_owned(),
            scope: scope(path),
        })
    }
}

impl Limit {
    fn new(rate: NonZeroU32, now: Now) -> Self {
        let quota = Quota::per_second(rate).allow_burst(rate.saturating_mul(TWICE));
        Self {
            limiter: RateLimiter::hashmap_with_clock(quota, now.clone()),
            now,
        }
    }

    fn count(&self, key: Key) -> Result<(), Duration> {
        if self.limiter.len() >= COUNTED {
            self.limiter.retain_recent();
        }
        // Then all scopes of a caller are one, so that nobody gets around the rate by naming many, or counts for others.
        let key = match self.limiter.len() < COUNTED {
            true => key,
            false => Key {
                scope: String::new(),
                ..key
            },
        };
        let counted = self.limiter.check_key(&key);
        counted.map_err(|refused| refused.wait_time_from(self.now.now()))
    }
}

const TWICE: NonZeroU32 = NonZeroU32::MIN.saturating_add(1);

/// Returns the resource group of a canonical path, its account and region, or its plane.
pub(crate) fn scope(path: &str) -> String {
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    let depth = match &segments[..] {
        ["planes", _, _, "accounts", _, "regions", ..] => 7,
        ["planes", _, _, "resourcegroups", ..] => 5,
        _ => 3,
    };
    let scope: Vec<&str> = segments.into_iter().take(depth).collect();
    scope.join("/").to_lowercase()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use ucp_model::Timestamp;

    use super::*;

    #[derive(Default)]
    struct Manual(AtomicI64);

    impl Clock for Manual {
        fn now(&self) -> Timestamp {
            Timestamp::from_millis(1_767_225_600_000 + self.0.load(Ordering::Relaxed))
        }
    }

    fn limits(writes: u32) -> (Limits, Arc<Manual>) {
        let manual = Arc::new(Manual::default());
        let clock: Arc<dyn Clock> = manual.clone();
        let rates = Rates {
            writes: NonZeroU32::new(writes),
            aws_reads: None,
        };
        (Limits::new(rates, &clock), manual)
    }

    const GROUP: &str = "/planes/radius/local/resourcegroups/Demo/leftovers/1";

    #[test]
    fn a_burst_is_twice_the_rate_and_fills_up_again() {
        let (limits, clock) = limits(5);
        let count = || limits.count(Effect::Write, "ada", GROUP);
        for _ in 0..10 {
            count().unwrap();
        }
        assert_eq!(count(), Err(Duration::from_millis(200)));
        clock.0.store(200, Ordering::Relaxed);
        count().unwrap();
        count().unwrap_err();
        clock.0.store(60_000, Ordering::Relaxed);
        let allowed = (0..20).filter(|_| count().is_ok()).count();
        assert_eq!(allowed, 10);
    }

    #[test]
    fn each_caller_and_scope_has_its_own() {
        let (limits, _) = limits(1);
        let count = |caller, path| limits.count(Effect::Write, caller, path).is_ok();
        assert!(count("ada", GROUP) && count("ada", GROUP) && !count("ada", GROUP));
        assert!(count("bob", GROUP));
        assert!(!count("ada", "/planes/radius/local/resourcegroups/demo"));
        assert!(count("ada", "/planes/radius/local/resourcegroups/demo2"));
        for effect in [Effect::Read, Effect::AwsRead] {
            limits.count(effect, "ada", GROUP).unwrap();
        }
        let vpcs = "/planes/aws/aws/accounts/1/regions/us-west-2/providers/AWS.EC2/VPC";
        assert_eq!(scope(vpcs), "planes/aws/aws/accounts/1/regions/us-west-2");
        assert_eq!(
            scope("/planes/aws/aws/providers/System.AWS/credentials/a"),
            "planes/aws/aws"
        );
    }

    /// While the table is full, all scopes of a caller share a count.
    #[test]
    fn only_so_many_scopes_are_counted() {
        let (limits, clock) = limits(1);
        let count = |caller, number: usize| {
            let group = format!("/planes/radius/local/resourcegroups/{number}");
            limits.count(Effect::Write, caller, &group).is_ok()
        };
        assert!((0..COUNTED).all(|number| count("ada", number)));
        let allowed = (0..100).filter(|number| count("ada", *number)).count();
        assert_eq!(allowed, 2);
        assert!(count("bob", 0) && count("bob", 1) && !count("bob", 2));
        let of_writes = limits.writes.as_ref().unwrap();
        assert!(of_writes.limiter.len() <= COUNTED + 2);
        // What is as good as new makes room.
        clock.0.store(10_000, Ordering::Relaxed);
        assert!((0..COUNTED).all(|number| count("ada", number)));
    }
}
