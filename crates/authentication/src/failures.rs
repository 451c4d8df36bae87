//! Failed logins, counted for each peer. Who tries many secrets waits longer and longer.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep};
use ucp_listen::network;

/// How long a failure counts.
const WINDOW: Duration = Duration::from_secs(60);
/// How many failures of a peer are answered at once.
const FREE: u32 = 5;
/// How many failures of a peer are answered at all.
pub(crate) const MOST: u32 = 100;
/// How long the first reply waits that is not sent at once. Each further one waits twice as long.
const WAIT: Duration = Duration::from_millis(100);
/// The longest wait.
const WAIT_MAX: Duration = Duration::from_secs(2);
/// How many peers are counted at a time. Those beyond count together.
const PEERS_MAX: usize = 4_096;
/// How many replies wait at a time.
const WAITING_MAX: usize = 256;

/// Counts failed logins.
#[derive(Debug)]
pub struct Failures {
    of: Mutex<HashMap<IpAddr, Counted>>,
    waiting: Semaphore,
}

#[derive(Debug)]
struct Counted {
    since: Instant,
    failures: u32,
}

/// What a peer gets for a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    /// The reply, after this time.
    After(Duration),
    /// That there were too many. It can try again after this time.
    TooMany(Duration),
}

/// The time for which the answer to a failed login is kept back.
#[derive(Debug)]
pub struct Delay<'a> {
    time: Duration,
    /// `None` if there is nothing to wait for.
    _turn: Option<SemaphorePermit<'a>>,
}

impl Delay<'_> {
    /// Waits until it is over.
    pub async fn pass(self) {
        if !self.time.is_zero() {
            sleep(self.time).await;
        }
    }
}

impl Default for Failures {
    fn default() -> Self {
        Self {
            of: Mutex::default(),
            waiting: Semaphore::new(WAITING_MAX),
        }
    }
}

impl Failures {
    /// Counts a failure, and tells when it may be answered. An error says when the peer can try again.
    pub fn failed(&self, peer: Option<IpAddr>) -> Result<Delay<'_>, Duration> {
        let time = match self.count(peer, Instant::now()) {
            Answer::After(time) => time,
            Answer::TooMany(again) => return Err(again),
        };
        let turn = if time.is_zero() {
            None
        } else {
            Some(self.waiting.try_acquire().map_err(|_| WAIT_MAX)?)
        };
        Ok(Delay { time, _turn: turn })
    }

    /// Returns when a peer can try again that has failed too often. Until then nothing that it sends need be looked at.
    pub fn too_many(&self, peer: Option<IpAddr>) -> Option<Duration> {
        self.too_many_at(peer, Instant::now())
    }

    fn too_many_at(&self, peer: Option<IpAddr>, now: Instant) -> Option<Duration> {
        let of = self.of.lock().unwrap_or_else(PoisonError::into_inner);
        let peer = peer.map_or(TOGETHER, network);
        let counted = match of.get(&peer) {
            None if of.len() >= PEERS_MAX => of.get(&TOGETHER)?,
            counted => counted?,
        };
        let left = WINDOW.checked_sub(now - counted.since)?;
        (counted.failures >= MOST && !left.is_zero()).then_some(left)
    }

    fn count(&self, peer: Option<IpAddr>, now: Instant) -> Answer {
        let mut of = self.of.lock().unwrap_or_else(PoisonError::into_inner);
        let mut peer = peer.map_or(TOGETHER, network);
        if of.len() >= PEERS_MAX && !of.contains_key(&peer) {
            of.retain(|_, counted| now - counted.since < WINDOW);
            if of.len() >= PEERS_MAX {
                peer = TOGETHER;
            }
        }
        let counted = of.entry(peer).or_insert(Counted {
            since: now,
            failures: 0,
        });
        if now - counted.since >= WINDOW {
            *counted = Counted {
                since: now,
                failures: 0,
            };
        }
        counted.failures = counted.failures.saturating_add(1);
        if counted.failures == FREE + 1 {
            tracing::warn!(
                peer.address = %peer,
                "many logins from this address fail; the replies are slowed"
            );
        }
        if counted.failures > MOST {
            return Answer::TooMany(WINDOW.saturating_sub(now - counted.since));
        }
        let Some(slowed) = counted.failures.checked_sub(FREE + 1) else {
            return Answer::After(Duration::ZERO);
        };
        Answer::After(WAIT.saturating_mul(1 << slowed.min(16)).min(WAIT_MAX))
    }
}

/// Those who are not counted for themselves.
const TOGETHER: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> Option<IpAddr> {
        Some(text.parse().unwrap())
    }

    #[tokio::test]
    async fn each_further_failure_waits_longer() {
        let (failures, now) = (Failures::default(), Instant::now());
        let wait = || failures.count(ip("10.0.0.1"), now);
        let expected = [0, 0, 0, 0, 0, 100, 200, 400, 800, 1_600, 2_000, 2_000];
        for millis in expected {
            assert_eq!(wait(), Answer::After(Duration::from_millis(millis)));
        }
        for _ in expected.len()..100 {
            assert_eq!(failures.too_many_at(ip("10.0.0.1"), now), None);
            assert_eq!(wait(), Answer::After(WAIT_MAX));
        }
        assert_eq!(failures.too_many_at(ip("10.0.0.1"), now), Some(WINDOW));
        assert_eq!(failures.too_many_at(ip("10.0.0.2"), now), None);
        assert_eq!(wait(), Answer::TooMany(WINDOW));
        let later = now + Duration::from_secs(59);
        let left = failures.too_many_at(ip("10.0.0.1"), later);
        assert_eq!(left, Some(Duration::from_secs(1)));
        assert_eq!(failures.too_many_at(ip("10.0.0.1"), now + WINDOW), None);
        let again = failures.count(ip("10.0.0.1"), later);
        assert_eq!(again, Answer::TooMany(Duration::from_secs(1)));
        let free = Answer::After(Duration::ZERO);
        assert_eq!(failures.count(ip("10.0.0.2"), now), free);
        assert_eq!(failures.count(ip("10.0.0.1"), now + WINDOW), free);
    }

    #[tokio::test]
    async fn a_peer_does_not_get_away_by_another_address_of_its_network() {
        let (failures, now) = (Failures::default(), Instant::now());
        for last in 0..FREE {
            failures.count(ip(&format!("2001:db8::{last}")), now);
        }
        let slowed = Answer::After(WAIT);
        assert_eq!(failures.count(ip("2001:db8::ffff"), now), slowed);
        let other = failures.count(ip("2001:db8:0:1::1"), now);
        assert_eq!(other, Answer::After(Duration::ZERO));
        for _ in 0..FREE {
            failures.count(ip("10.0.0.1"), now);
        }
        assert_eq!(failures.count(ip("::ffff:10.0.0.1"), now), slowed);
    }

    #[tokio::test]
    async fn peers_beyond_the_limit_count_together() {
        let (failures, now) = (Failures::default(), Instant::now());
        let number = |number: u32| Some(IpAddr::V4(number.into()));
        let peers = u32::try_from(PEERS_MAX).unwrap();
        for peer in 1..=2 * peers {
            failures.count(number(peer), now);
        }
        let others = failures.count(number(3 * peers), now);
        assert_eq!(others, Answer::TooMany(WINDOW));
        let known = failures.count(number(1), now);
        assert_eq!(known, Answer::After(Duration::ZERO));
        assert!(failures.of.lock().unwrap().len() <= PEERS_MAX + 1);
        let later = now + WINDOW;
        let fresh = failures.count(number(3 * peers), later);
        assert_eq!(fresh, Answer::After(Duration::ZERO));
        assert_eq!(failures.of.lock().unwrap().len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn only_so_many_wait_at_a_time() {
        let failures = Failures::default();
        let turns = u32::try_from(WAITING_MAX).unwrap();
        let held = failures.waiting.acquire_many(turns - 1).await.unwrap();
        for _ in 0..FREE {
            failures.failed(None).unwrap().pass().await;
        }
        let began = Instant::now();
        let only = failures.failed(None).unwrap();
        assert_eq!(failures.failed(None).unwrap_err(), WAIT_MAX);
        only.pass().await;
        assert_eq!(began.elapsed(), WAIT);
        let next = failures.failed(None).unwrap();
        assert!(failures.failed(None).is_err());
        // Whoever gives up makes room, too.
        drop(next);
        assert!(failures.failed(None).is_ok());
        drop(held);
    }
}
