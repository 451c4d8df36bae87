//! What a process expects of requests in flight: how long such changes usually take, and whether a watch sees their ends.
//!
//! It is kept in memory only. A process learns the usual durations from the first changes that it sees end, and needs them for
//! nothing but how often to ask: one that has just started asks a little more often.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hashlink::LruCache;
use ucp_model::operation::{Action, Watched};
use ucp_model::{Timestamp, TypeName};

/// The types and actions whose durations are remembered.
const KINDS_MAX: usize = 2_000;
/// The latest durations that are remembered of each.
const RECENT: usize = 15;
/// From how many operations on that wait in an account and region these are watched in bulk. With fewer, it costs less to ask
/// after each.
pub(crate) const BULK: usize = 10;
/// So many changes that begin within this time are about to be watched.
const RUSH: Duration = Duration::from_secs(10);

pub(crate) struct Forecasts(Mutex<Known>);

struct Known {
    durations: LruCache<(TypeName, Action), Durations>,
    /// Until when the watches over scopes may be relied on, by their keys. `None` if this process knows of no watches, since
    /// it has no watcher.
    watches: Option<BTreeMap<String, Timestamp>>,
    /// The changes that have begun in scopes without a watch: since when, and how many.
    rushes: BTreeMap<String, (Timestamp, usize)>,
}

/// The latest durations of a kind of change.
#[derive(Debug, Default)]
struct Durations {
    recent: [Duration; RECENT],
    count: usize,
}

impl Durations {
    fn add(&mut self, took: Duration) {
        self.recent[self.count % RECENT] = took;
        self.count += 1;
    }

    /// The median.
    fn usual(&self) -> Option<Duration> {
        let mut known = self.recent;
        let known = &mut known[..self.count.min(RECENT)];
        known.sort_unstable();
        known.get(known.len() / 2).copied()
    }
}

impl Forecasts {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Known {
            durations: LruCache::new(KINDS_MAX),
            watches: None,
            rushes: BTreeMap::new(),
        }))
    }

    /// Returns how long such a change has usually taken.
    pub(crate) fn usual(&self, type_name: &TypeName, action: Action) -> Option<Duration> {
        let mut known = self.known();
        let durations = known.durations.get(&(type_name.clone(), action));
        durations.and_then(Durations::usual)
    }

    /// Learns how long a change has taken.
    pub(crate) fn took(&self, type_name: &TypeName, action: Action, took: Duration) {
        let mut known = self.known();
        let key = (type_name.clone(), action);
        let durations = known
            .durations
            .entry(key)
            .or_insert_with(Durations::default);
        durations.add(took);
    }

    /// Learns until when the watches over all scopes that have one may be relied on.
    pub(crate) fn watched(&self, watches: BTreeMap<String, Timestamp>, now: Timestamp) {
        let mut known = self.known();
        let is_rush = |began: Timestamp| now.since(began) < RUSH;
        known.rushes.retain(|_, (began, _)| is_rush(*began));
        known.watches = Some(watches);
    }

    /// Learns the same of one scope, or that it has no watch any more.
    pub(crate) fn works_until(&self, scope: &str, until: Option<Timestamp>) {
        let mut known = self.known();
        if let Some(watches) = &mut known.watches {
            match until {
                Some(until) => _ = watches.insert(scope.to_owned(), until),
                None => _ = watches.remove(scope),
            }
        }
    }

    /// Learns that AWS has accepted a change.
    pub(crate) fn began(&self, scope: String, now: Timestamp) {
        let mut known = self.known();
        if known.watches.is_some() {
            let (began, count) = known.rushes.entry(scope).or_insert((now, 0));
            if now.since(*began) >= RUSH {
                (*began, *count) = (now, 0);
            }
            *count += 1;
        }
    }

    /// Returns who sees the end of a request. Where many changes begin, a watch is about to begin too.
    pub(crate) fn who_watches(&self, scope: &str, now: Timestamp) -> Watched {
        let known = self.known();
        let works = known.watches.as_ref().and_then(|it| it.get(scope));
        let is_rush = || known.rushes.get(scope).is_some_and(|(_, n)| *n >= BULK);
        match works {
            Some(until) if *until > now => Watched::InBulk,
            None if is_rush() => Watched::Soon,
            Some(_) | None => Watched::Alone,
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_000_000);

    #[test]
    fn the_usual_duration_is_the_median_of_the_latest() {
        let (forecasts, name) = (Forecasts::new(), TypeName::from_cloudformation("AWS::A::B"));
        let name = name.unwrap();
        assert_eq!(forecasts.usual(&name, Action::Create), None);
        let add = |seconds| forecasts.took(&name, Action::Create, Duration::from_secs(seconds));
        let usual = || forecasts.usual(&name, Action::Create).unwrap().as_secs();
        [60, 1, 61, 60, 600].into_iter().for_each(add);
        assert_eq!(usual(), 60);
        [5; 8].into_iter().for_each(add);
        assert_eq!(usual(), 5);
        (0..100).for_each(add);
        assert_eq!(usual(), 92);
        assert_eq!(forecasts.usual(&name, Action::Delete), None);
    }

    #[test]
    fn a_rush_is_about_to_be_watched() {
        let forecasts = Forecasts::new();
        let begin = || {
            forecasts.began("a".to_owned(), NOW);
            forecasts.who_watches("a", NOW)
        };
        assert!((0..50).all(|_| begin() == Watched::Alone), "no watcher");
        forecasts.watched(BTreeMap::new(), NOW);
        let alone = (0..50).filter(|_| begin() == Watched::Alone);
        assert_eq!(alone.count(), BULK - 1);
        assert_eq!(forecasts.who_watches("a", NOW), Watched::Soon);
        assert_eq!(forecasts.who_watches("b", NOW), Watched::Alone);
        // The watch does not work yet, or any more.
        forecasts.works_until("a", Some(NOW));
        assert_eq!(begin(), Watched::Alone);
        forecasts.works_until("a", Some(NOW.after(RUSH)));
        assert_eq!(begin(), Watched::InBulk);
        assert_eq!(forecasts.who_watches("a", NOW.after(RUSH)), Watched::Alone);
        // It has ended, and so has the rush.
        forecasts.watched(BTreeMap::new(), NOW.after(RUSH));
        assert_eq!(forecasts.who_watches("a", NOW.after(RUSH)), Watched::Alone);
    }
}
