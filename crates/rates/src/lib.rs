//! Rates: how often a caller may change what is in a scope, and read it from AWS.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use governor::clock::Clock as _;
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};
use hashlink::LruCache;
use ucp_model::Clock;

/// The number of callers whose requests are counted, of each kind of request. The one beyond takes the place of the caller
/// who has not asked for longest.
pub const CALLERS: usize = 2_000;
/// The number of scopes of a caller that are counted at once. Those beyond are counted together.
pub const SCOPES: usize = 500;

/// How many requests a second there may be of a caller in a scope; twice as many at once. `None` for any number.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rates {
    /// Those that change something.
    pub writes: Option<NonZeroU32>,
    /// Those that read from AWS, or validate what would be put there.
    pub aws_reads: Option<NonZeroU32>,
}

/// What is counted of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// It changes something.
    Write,
    /// It reads from AWS, or validates what would be put there.
    AwsRead,
}

/// Counts the requests of callers.
pub struct Limits {
    writes: Option<Rate>,
    aws_reads: Option<Rate>,
}

/// Counts the requests of one caller in each scope.
type Scopes = RateLimiter<String, HashMapStateStore<String>, Now, NoOpMiddleware<Duration>>;

struct Rate {
    quota: Quota,
    burst: NonZeroU32,
    now: Now,
    callers: Mutex<LruCache<String, Scopes>>,
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

impl fmt::Debug for Limits {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Limits").finish_non_exhaustive()
    }
}

impl Limits {
    /// Counts with these rates.
    pub fn new(rates: Rates, clock: &Arc<dyn Clock>) -> Self {
        let limit = |rate| Rate::new(rate, Now(Arc::clone(clock)));
        Self {
            writes: rates.writes.map(limit),
            aws_reads: rates.aws_reads.map(limit),
        }
    }

    /// Counts a request of a caller in the [scope] of a canonical path. Returns how long to wait, if there are too many.
    pub fn count(&self, counted: Counted, caller: &str, path: &str) -> Result<(), Duration> {
        self.count_more(counted, caller, path, 1)
    }

    /// Counts so many more at once, but no more than there may be at once beside the request itself.
    pub fn count_more(
        &self,
        counted: Counted,
        caller: &str,
        path: &str,
        more: usize,
    ) -> Result<(), Duration> {
        let more = u32::try_from(more).unwrap_or(u32::MAX);
        let Some(more) = NonZeroU32::new(more) else {
            return Ok(());
        };
        let limit = match counted {
            Counted::Write => &self.writes,
            Counted::AwsRead => &self.aws_reads,
        };
        let Some(limit) = limit else {
            return Ok(());
        };
        limit.count(caller, scope(path), more)
    }
}

impl Rate {
    fn new(rate: NonZeroU32, now: Now) -> Self {
        let burst = rate.saturating_mul(TWICE);
        Self {
            quota: Quota::per_second(rate).allow_burst(burst),
            burst,
            now,
            callers: Mutex::new(LruCache::new(CALLERS)),
        }
    }

    fn count(&self, caller: &str, scope: String, more: NonZeroU32) -> Result<(), Duration> {
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        if !callers.contains_key(caller) {
            let scopes = RateLimiter::hashmap_with_clock(self.quota, self.now.clone());
            callers.insert(caller.to_owned(), scopes);
        }
        let Some(scopes) = callers.get_mut(caller) else {
            return Ok(());
        };
        if scopes.len() >= SCOPES {
            scopes.retain_recent();
        }
        // Nobody gets around the rate by naming many scopes.
        let scope = if scopes.len() < SCOPES {
            scope
        } else {
            String::new()
        };
        let most = NonZeroU32::new(self.burst.get() - 1).unwrap_or(NonZeroU32::MIN);
        match scopes.check_key_n(&scope, more.min(most)) {
            Ok(counted) => counted.map_err(|refused| refused.wait_time_from(self.now.now())),
            // No more than there may be at once is asked for.
            Err(_) => Ok(()),
        }
    }
}

const TWICE: NonZeroU32 = NonZeroU32::MIN.saturating_add(1);

/// Returns a wait in whole seconds, at least one, as `Retry-After` has it.
pub fn seconds(wait: Duration) -> u64 {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    seconds.max(1)
}

/// Returns the resource group of a canonical path, its account and region, or its plane.
pub fn scope(path: &str) -> String {
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
        let count = || limits.count(Counted::Write, "ada", GROUP);
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

    /// A set counts its members. One that is larger than the burst passes when the burst is full.
    #[test]
    fn members_count() {
        let (limits, clock) = limits(5);
        let set = |members: usize| {
            limits.count(Counted::Write, "ada", GROUP)?;
            limits.count_more(Counted::Write, "ada", GROUP, members - 1)
        };
        set(9).unwrap();
        set(2).unwrap_err();
        clock.0.store(10_000, Ordering::Relaxed);
        set(500).unwrap();
        set(1).unwrap_err();
    }

    #[test]
    fn each_caller_and_scope_has_its_own() {
        let (limits, _) = limits(1);
        let count = |caller, path| limits.count(Counted::Write, caller, path).is_ok();
        assert!(count("ada", GROUP) && count("ada", GROUP) && !count("ada", GROUP));
        assert!(count("bob", GROUP));
        assert!(!count("ada", "/planes/radius/local/resourcegroups/demo"));
        assert!(count("ada", "/planes/radius/local/resourcegroups/demo2"));
        limits.count(Counted::AwsRead, "ada", GROUP).unwrap();
        let vpcs = "/planes/aws/aws/accounts/1/regions/us-west-2/providers/AWS.EC2/VPC";
        assert_eq!(scope(vpcs), "planes/aws/aws/accounts/1/regions/us-west-2");
        assert_eq!(
            scope("/planes/aws/aws/providers/System.AWS/credentials/a"),
            "planes/aws/aws"
        );
    }

    /// A caller that names too many scopes shares a count between them, and takes none of others.
    #[test]
    fn only_so_many_scopes_of_a_caller_are_counted() {
        let (limits, clock) = limits(1);
        let count = |caller, number: usize| {
            let group = format!("/planes/radius/local/resourcegroups/{number}");
            limits.count(Counted::Write, caller, &group).is_ok()
        };
        assert!((0..SCOPES).all(|number| count("ada", number)));
        let allowed = (0..100).filter(|number| count("ada", *number)).count();
        assert_eq!(allowed, 2);
        assert!((0..SCOPES).all(|number| count("bob", number)));
        // What is as good as new makes room.
        clock.0.store(10_000, Ordering::Relaxed);
        assert!((0..SCOPES).all(|number| count("ada", number)));
    }

    #[test]
    fn who_has_not_asked_for_longest_is_forgotten() {
        let (limits, _) = limits(1);
        let count = |caller: &str| limits.count(Counted::Write, caller, GROUP).is_ok();
        assert!(count("ada") && count("ada") && !count("ada"));
        for other in 1..CALLERS {
            assert!(count(&other.to_string()));
        }
        assert!(!count("ada"), "there is still room for all");
        assert!(count("one more"));
        assert!(!count("ada"), "the other one has not asked for longer");
        for other in 0..CALLERS {
            assert!(count(&format!("more {other}")));
        }
        let rate = limits.writes.as_ref().unwrap();
        assert_eq!(rate.callers.lock().unwrap().len(), CALLERS);
        assert!(count("ada"));
    }
}
