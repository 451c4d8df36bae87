//! How fast AWS is called: a token bucket for each account, region and class of calls, which learns what AWS takes.
//!
//! A bucket begins slowly and gives half as much again each second, as long as more is asked of it than it gives (slow start).
//! When AWS refuses a call for coming too early, the rate is halved, and grows by equal amounts from there: first back to
//! just below the rate that AWS was seen to take, then by little, to find out whether AWS takes more (additive increase,
//! multiplicative decrease). If AWS refuses none for a while, it takes much more than it did, and the rate grows by a share of
//! itself. If calls wait all the time between two refusals, AWS's own bucket goes from empty to empty, so the calls that it
//! takes in between are its rate.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// The calls that have a budget of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CallClass {
    /// `CreateResource`, `UpdateResource` and `DeleteResource`.
    Mutations,
    /// `GetResource`, `ListResources`, `GetResourceRequestStatus` and `ListResourceRequests`.
    Reads,
}

impl CallClass {
    /// All classes.
    pub const ALL: [Self; 2] = [Self::Mutations, Self::Reads];

    /// Returns its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mutations => "mutations",
            Self::Reads => "reads",
        }
    }
}

/// Names a bucket.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RateKey {
    /// The key of the account and region, as [`Work::scope_key`](crate::operation::Work::scope_key) has it.
    pub scope: String,
    /// The class of calls.
    pub class: CallClass,
}

impl fmt::Display for RateKey {
    /// Writes the scope, a slash, and the class.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.scope, self.class.as_str())
    }
}

/// The text names no bucket.
#[derive(Debug, PartialEq, Eq)]
pub struct InvalidRateKey;

impl FromStr for RateKey {
    type Err = InvalidRateKey;

    fn from_str(text: &str) -> Result<Self, InvalidRateKey> {
        let (scope, name) = text.rsplit_once('/').ok_or(InvalidRateKey)?;
        let class = CallClass::ALL.into_iter().find(|it| it.as_str() == name);
        Ok(Self {
            scope: scope.to_owned(),
            class: class.ok_or(InvalidRateKey)?,
        })
    }
}

/// What came of calls since the last report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallReport {
    /// How many AWS has taken.
    pub taken: u32,
    /// How many AWS has refused since they came too early.
    pub refused: u32,
    /// How many changes have failed since the service of their type takes no more.
    pub failed: u32,
    /// How many of those that were taken or refused were made without budget, which is taken from the bucket afterwards.
    pub unbudgeted: u32,
    /// How many were taken from the bucket and not made.
    pub unused: u32,
}

impl CallReport {
    /// Returns both.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self {
            taken: self.taken.saturating_add(other.taken),
            refused: self.refused.saturating_add(other.refused),
            failed: self.failed.saturating_add(other.failed),
            unbudgeted: self.unbudgeted.saturating_add(other.unbudgeted),
            unused: self.unused.saturating_add(other.unused),
        }
    }
}

/// The rate of a bucket that knows nothing, in calls per second.
const FIRST_RATE: f64 = 10.0;
/// By how much the rate grows in a second, until AWS refuses a call for the first time.
const SLOW_START: f64 = 1.5;
/// A rate that makes nobody wait.
const HIGHEST_RATE: f64 = 10_000.0;
/// A rate at which something still happens.
const LOWEST_RATE: f64 = 0.1;
/// The share of the learned rate from which on the rate only probes.
const PROBED_FROM: f64 = 0.95;
/// The seconds in which a rate grows by the learned rate, below what is probed and while it is probed.
const RECOVERY_SECS: f64 = 4.0;
const PROBING_SECS: f64 = 100.0;
/// The seconds of probing without a refusal after which the rate grows by a share of itself, and by how much in a second.
const PROBED_SECS: f64 = 60.0;
const PROBING: f64 = 1.05;
/// Refusals in this time are one event: the calls were made before the first of them was known.
const ONE_EVENT: Duration = Duration::from_secs(1);
/// Failures of services in this time are one event: the changes began before the first of them had failed.
const ONE_FAILURE: Duration = Duration::from_secs(30);
/// The longest time that counts as one in which more was asked than given.
const LONGEST_GROWTH: Duration = Duration::from_secs(2);
/// By how much the clocks of processes may differ, with the time that they wait for the bucket.
const DISAGREEMENT: Duration = Duration::from_secs(5);
/// The time in which somebody asks again whose read waits, besides the time that the bucket needs for a call.
const ASKED_AGAIN: Duration = Duration::from_millis(300);
const ASKED_AGAIN_MIN: Duration = Duration::from_millis(500);
/// After which time what is known of reads says nothing any more, since nobody has paced them.
const LAPSED_AFTER: Duration = Duration::from_secs(60);
/// The most calls that are owed to a ceiling.
const DEBT_MAX: f64 = 10_000.0;
/// How many calls in a row may go before those that nobody waits for.
const FIRSTS_MAX: u32 = 3;
/// The time between two releases of what waits.
pub const RELEASE_INTERVAL: Duration = Duration::from_millis(200);

/// A bucket, as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RateBucket {
    /// Calls per second.
    rate: f64,
    /// The rate that AWS was seen to take.
    learned: Option<f64>,
    /// The calls that may be made now; negative after calls without budget.
    tokens: f64,
    /// Until when `rate` and `tokens` are settled.
    settled_at: Timestamp,
    /// When more was last asked for than there was, unless that is over.
    #[serde(default)]
    unmet_at: Option<Timestamp>,
    /// The last refusal that slowed it down.
    slowed_at: Option<Timestamp>,
    /// The refusal since which AWS's takings are counted.
    counted_from: Option<Timestamp>,
    /// How many calls AWS has taken since then.
    taken: u64,
    /// How many of the calls since then were made without budget.
    #[serde(default)]
    unbudgeted: u64,
    /// For how many seconds the rate has grown beyond what AWS was seen to take, without a refusal.
    #[serde(default)]
    probed_secs: f64,
    /// When the last of those is due that were released.
    released_until: Timestamp,
    /// The calls that are left for those that a person waits for.
    #[serde(default)]
    reserve: f64,
    /// How many calls in a row went before those that nobody waits for.
    #[serde(default)]
    firsts: u32,
    /// Where the round of the resource groups stands.
    pub served: Served,
}

/// Where the round of the resource groups stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Served {
    /// The key of the group that was served last.
    pub group: String,
    /// How many of its operations had their turn in a row.
    pub count: u32,
}

impl RateBucket {
    /// Returns a bucket that knows nothing.
    pub fn new(now: Timestamp) -> Self {
        let mut bucket = Self {
            rate: FIRST_RATE,
            learned: None,
            tokens: 0.0,
            settled_at: now,
            unmet_at: None,
            slowed_at: None,
            counted_from: None,
            taken: 0,
            unbudgeted: 0,
            probed_secs: 0.0,
            released_until: now,
            reserve: 0.0,
            firsts: 0,
            served: Served::default(),
        };
        bucket.tokens = bucket.capacity();
        bucket
    }

    /// Returns a bucket for calls that were not paced until now, and were made at this rate. It keeps calls for those that a
    /// person waits for.
    pub fn beginning_at(rate: f64, now: Timestamp) -> Self {
        let mut bucket = Self {
            rate: rate.clamp(2.0 * LOWEST_RATE, HIGHEST_RATE),
            reserve: 1.0,
            ..Self::new(now)
        };
        bucket.tokens = bucket.capacity();
        bucket
    }

    /// Returns whether reads were not paced for so long that what is known of them says nothing any more.
    pub fn has_lapsed(&self, now: Timestamp) -> bool {
        self.reserve > 0.0 && now.since(self.settled_at) > LAPSED_AFTER
    }

    /// Returns the calls per second that it gives now.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Returns the most calls that it gives at once.
    fn capacity(&self) -> f64 {
        let seconds = match self.learned {
            None => 1.0,
            Some(_) => 1.5 * RELEASE_INTERVAL.as_secs_f64(),
        };
        (self.rate * seconds).max(1.0) + self.reserve
    }

    /// Settles what has happened until `now`: what the processes report, and the time that has passed. `ceiling` is the rate
    /// that the operator sets.
    pub fn settle(&mut self, report: CallReport, ceiling: Option<f64>, now: Timestamp) {
        if self.settled_at.since(now) > DISAGREEMENT {
            self.set_back(now);
        }
        // Another process may have been here with a clock that is a little ahead.
        let now = now.max(self.settled_at);
        let passed = now.since(self.settled_at);
        self.settled_at = now;
        let is_short = self.is_short();
        if is_short {
            self.grow(passed.min(LONGEST_GROWTH).as_secs_f64());
        }
        if passed >= ONE_EVENT {
            self.firsts = 0;
        }
        if !is_short || passed > self.longest_pause() {
            // AWS's bucket may have been full meanwhile.
            self.counted_from = None;
        }
        self.taken = self.taken.saturating_add(u64::from(report.taken));
        self.unbudgeted = (self.unbudgeted).saturating_add(u64::from(report.unbudgeted));
        if report.refused > 0 {
            self.slow_down(now);
        } else if report.failed > 0 {
            self.hold_back(now);
        }
        let highest = ceiling.unwrap_or(HIGHEST_RATE).min(HIGHEST_RATE);
        self.rate = self.rate.min(highest).max(LOWEST_RATE.min(highest));
        let refilled = self.tokens + passed.as_secs_f64() * self.rate;
        let capacity = self.capacity();
        // What is given back was taken before.
        let tokens = refilled.min(capacity) + f64::from(report.unused);
        // Calls without budget are few, and must not keep others waiting for long. But a ceiling holds in the long run.
        let debt_max = match ceiling {
            Some(_) => DEBT_MAX,
            None => capacity,
        };
        self.tokens = (tokens - f64::from(report.unbudgeted)).max(-debt_max);
        if report.refused > 0 {
            self.tokens = self.tokens.min(0.0);
        }
    }

    /// Returns whether more is asked for than there is. Operations wait in the store, and whoever asks for them knows of all. Reads
    /// wait where they are, and ask one after the other; what came of them is told without asking for more.
    fn is_short(&self) -> bool {
        let again = Duration::from_secs_f64(1.0 / self.rate) + ASKED_AGAIN;
        let is_recent = |at| self.settled_at.since(at) <= again.max(ASKED_AGAIN_MIN);
        self.unmet_at
            .is_some_and(|at| self.reserve == 0.0 || is_recent(at))
    }

    /// Returns how long nobody may ask while more is wanted than there is: somebody asks when there is something to give.
    fn longest_pause(&self) -> Duration {
        LONGEST_GROWTH.max(Duration::from_secs_f64(2.0 / self.rate))
    }

    /// The clock was set back.
    fn set_back(&mut self, now: Timestamp) {
        self.settled_at = now;
        self.released_until = self.released_until.min(now);
        self.unmet_at = self.unmet_at.min(Some(now));
        self.slowed_at = None;
        self.counted_from = None;
    }

    fn grow(&mut self, seconds: f64) {
        self.rate = match self.learned {
            None => self.rate * SLOW_START.powf(seconds),
            Some(learned) if self.rate < learned * PROBED_FROM => {
                let back = self.rate + learned / RECOVERY_SECS * seconds;
                back.min(learned * PROBED_FROM)
            }
            Some(learned) => {
                self.probed_secs += seconds;
                let little = self.rate + learned / PROBING_SECS * seconds;
                if self.probed_secs > PROBED_SECS {
                    little.max(self.rate * PROBING.powf(seconds))
                } else {
                    little
                }
            }
        };
    }

    /// AWS has refused a call. What it has taken since the last refusal is learned, if more was asked for all the time, and if it
    /// has taken anything: what refuses everything has no rate.
    fn slow_down(&mut self, now: Timestamp) {
        if self.has_slowed(now, ONE_EVENT) {
            return;
        }
        let counted = self.counted_from.map(|from| now.since(from));
        let counted = counted.filter(|time| *time >= ONE_EVENT && self.taken > 0);
        let learned = match counted {
            Some(time) => {
                #[expect(clippy::cast_precision_loss, reason = "a rate has few digits")]
                let per_second = |calls: u64| calls as f64 / time.as_secs_f64();
                // AWS may have saved some up.
                let made = self.rate + per_second(self.unbudgeted);
                per_second(self.taken).min(made)
            }
            None => self.learned.unwrap_or(self.rate),
        };
        // What one process has seen is not what AWS takes from all: such a bucket begins slowly.
        let is_seen = counted.is_some() || self.learned.is_some() || self.reserve == 0.0;
        self.learned = is_seen.then_some(learned);
        self.counted_from = Some(now);
        (self.taken, self.unbudgeted) = (0, 0);
        self.halve(now);
    }

    /// A change has failed since the service of its type takes no more. Such failures come late, and say nothing about what
    /// Cloud Control takes.
    fn hold_back(&mut self, now: Timestamp) {
        if !self.has_slowed(now, ONE_FAILURE) {
            self.learned = self.learned.or(Some(self.rate));
            self.counted_from = None;
            self.halve(now);
        }
    }

    fn has_slowed(&self, now: Timestamp, within: Duration) -> bool {
        self.slowed_at.is_some_and(|at| now.since(at) < within)
    }

    fn halve(&mut self, now: Timestamp) {
        self.slowed_at = Some(now);
        self.probed_secs = 0.0;
        self.rate /= 2.0;
    }

    /// Returns whether it has nothing to give.
    pub fn is_empty(&self) -> bool {
        self.tokens < 1.0
    }

    /// Puts calls back that were taken and are not needed.
    pub fn put_back(&mut self, calls: u32) {
        self.tokens += f64::from(calls);
    }

    /// Takes up to `wanted` calls for which nobody waits, and returns how many there were.
    pub fn take(&mut self, wanted: u32) -> u32 {
        let given = self.take_beyond(self.reserve, wanted);
        if given > 0 {
            self.firsts = 0;
        }
        given
    }

    /// The same for calls that a person waits for, or many operations. They have the reserve, but not so many of them in a row
    /// that no others get their turn.
    pub fn take_first(&mut self, wanted: u32) -> u32 {
        let reserve = if self.firsts < FIRSTS_MAX {
            0.0
        } else {
            self.reserve + 1.0
        };
        let given = self.take_beyond(reserve.min(self.capacity() - 1.0), wanted);
        self.firsts = self.firsts.saturating_add(given);
        given
    }

    fn take_beyond(&mut self, reserve: f64, wanted: u32) -> u32 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is between zero and the capacity"
        )]
        let given = ((self.tokens - reserve).max(0.0) as u32).min(wanted);
        self.tokens -= f64::from(given);
        if given < wanted {
            self.unmet_at = Some(self.settled_at);
        } else if self.reserve == 0.0 {
            self.unmet_at = None;
        }
        given
    }

    /// Returns when each of the next `count` operations that are released may call, evenly spaced.
    pub fn release(&mut self, count: u32, now: Timestamp) -> Vec<Timestamp> {
        let begin = self.released_until.max(now);
        let apart = Duration::from_secs_f64(1.0 / self.rate);
        self.released_until = begin.after(apart * count);
        // What was released before is due first, but nothing waits for longer than to the next release.
        self.released_until = self.released_until.min(now.after(RELEASE_INTERVAL * 2));
        (0..count).map(|nth| begin.after(apart * nth)).collect()
    }

    /// Returns when the next call can be released to those who wait.
    pub fn next_at(&self) -> Timestamp {
        let missing = (1.0 - self.tokens).max(0.0);
        let until = Duration::from_secs_f64(missing / self.rate).max(RELEASE_INTERVAL);
        self.settled_at.after(until)
    }

    /// Returns how long it takes until `waiting` others have had their turn, and what is owed is paid.
    pub fn wait_behind(&self, waiting: u64) -> Duration {
        #[expect(clippy::cast_precision_loss, reason = "it is an estimate")]
        let seconds = (waiting as f64 - self.tokens.min(0.0)) / self.rate;
        Duration::from_secs_f64(seconds.min(7.0 * 24.0 * 3600.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bucket of AWS.
    struct Aws {
        rate: f64,
        burst: f64,
        tokens: f64,
        at: Timestamp,
    }

    impl Aws {
        fn takes(&mut self, now: Timestamp) -> bool {
            let refill = now.since(self.at).as_secs_f64() * self.rate;
            self.tokens = (self.tokens + refill).min(self.burst);
            self.at = self.at.max(now);
            let takes = self.tokens >= 1.0;
            if takes {
                self.tokens -= 1.0;
            }
            takes
        }
    }

    const START: Timestamp = Timestamp::from_millis(1_000_000);

    struct Run {
        end: Timestamp,
        seconds: f64,
        calls: u32,
        refused_late: u32,
    }

    fn run(rate: f64, burst: f64, wanted: u32) -> Run {
        run_from(&mut RateBucket::new(START), START, rate, burst, wanted)
    }

    /// Makes `wanted` calls at once, each again a second after it was refused.
    fn run_from(
        bucket: &mut RateBucket,
        begin: Timestamp,
        rate: f64,
        burst: f64,
        wanted: u32,
    ) -> Run {
        let mut now = begin;
        let mut aws = Aws {
            rate,
            burst,
            tokens: burst,
            at: now,
        };
        let (mut waiting, mut again) = (wanted, Vec::<Timestamp>::new());
        let (mut done, mut calls, mut refused_late) = (0, 0, 0);
        let mut report = CallReport::default();
        let mut due: Vec<Timestamp> = Vec::new();
        while done < wanted {
            again.retain(|at| {
                let is_again = *at <= now;
                waiting += u32::from(is_again);
                !is_again
            });
            bucket.settle(std::mem::take(&mut report), None, now);
            let given = bucket.take(waiting);
            waiting -= given;
            due.extend(bucket.release(given, now));
            let until = bucket.next_at();
            due.sort_unstable();
            for at in due.extract_if(.., |at| *at < until) {
                calls += 1;
                if aws.takes(at) {
                    done += 1;
                    report.taken += 1;
                    continue;
                }
                refused_late += u32::from(calls > 20);
                again.push(at.after(Duration::from_secs(1)));
                // It is told at once.
                let refused = CallReport {
                    refused: 1,
                    ..std::mem::take(&mut report)
                };
                bucket.settle(refused, None, at);
            }
            now = until.max(bucket.next_at());
            assert!(now.since(begin) < Duration::from_secs(100_000));
        }
        Run {
            end: now,
            seconds: now.since(begin).as_secs_f64(),
            calls,
            refused_late,
        }
    }

    /// Asks for one call each 200 ms for a time, all of which AWS refuses.
    fn refuse_all(bucket: &mut RateBucket, from: Timestamp, time: Duration) -> Timestamp {
        let end = from.after(time);
        let mut now = from;
        while now < end {
            bucket.settle(CallReport::default(), None, now);
            if bucket.take(1) > 0 {
                let refused = CallReport {
                    refused: 1,
                    ..CallReport::default()
                };
                bucket.settle(refused, None, now);
            }
            now = now.after(RELEASE_INTERVAL);
        }
        now
    }

    #[test]
    fn a_pause_teaches_nothing() {
        let mut bucket = RateBucket::new(START);
        let first = run_from(&mut bucket, START, 5.0, 5.0, 200);
        let later = first.end.after(Duration::from_secs(30 * 60));
        let second = run_from(&mut bucket, later, 5.0, 5.0, 200);
        let third = run_from(&mut bucket, second.end, 5.0, 5.0, 200);
        for run in [first, second, third] {
            assert!(run.seconds <= 50.0, "{} s", run.seconds);
        }
    }

    /// Processes stop while more is wanted than there is.
    #[test]
    fn a_stop_teaches_nothing() {
        let mut bucket = RateBucket::new(START);
        let first = run_from(&mut bucket, START, 5.0, 5.0, 200);
        assert_eq!(bucket.take(1_000), 0);
        let later = first.end.after(Duration::from_secs(30 * 60));
        let second = run_from(&mut bucket, later, 5.0, 5.0, 200);
        assert!(second.seconds <= 50.0, "{} s", second.seconds);
        let learned = bucket.learned.unwrap();
        assert!((4.0..=6.0).contains(&learned), "{learned} a second");
    }

    /// Refusals of one moment, told by processes whose clocks differ a little.
    #[test]
    fn one_event_halves_the_rate_once() {
        let mut bucket = RateBucket::new(START);
        run_from(&mut bucket, START, 5.0, 5.0, 200);
        bucket.take(1_000);
        let now = bucket.settled_at.after(Duration::from_secs(10));
        let before = bucket.clone();
        let refused = CallReport {
            refused: 1,
            ..CallReport::default()
        };
        for behind in [0, 3, 1, 40] {
            bucket.settle(refused, None, now.before(Duration::from_millis(behind)));
        }
        assert!(bucket.rate >= before.rate / 2.0, "{before:?} {bucket:?}");
        assert_eq!((bucket.settled_at, bucket.counted_from), (now, Some(now)));
    }

    /// Somebody waits for reads all the time.
    #[test]
    fn those_that_nobody_waits_for_get_their_turn() {
        let mut bucket = RateBucket::beginning_at(10.0, START);
        let (mut first, mut other, mut now) = (0, 0, START);
        for _ in 0..1_000 {
            now = now.after(Duration::from_millis(50));
            bucket.settle(CallReport::default(), Some(10.0), now);
            first += bucket.take_first(1);
            other += bucket.take(1);
        }
        assert!(other >= 50 && first >= 2 * other, "{first} and {other}");
        assert!(first + other >= 480, "{first} and {other}");
    }

    /// Reads that a person waits for, or nobody, ask for one call at a time. Refusals are told without asking for more.
    #[test]
    fn it_learns_from_those_who_ask_one_after_the_other() {
        const SECONDS: u32 = 120;
        for rate in [3.0, 10.0, 20.0, 50.0] {
            for pause in [10, 200] {
                for is_first in [true, false] {
                    let of = format!("{rate}/s, each {pause} ms, first: {is_first}");
                    let mut bucket = RateBucket::beginning_at(2.0 * rate, START);
                    let mut aws = Aws {
                        rate,
                        burst: rate,
                        tokens: rate,
                        at: START,
                    };
                    let (mut taken, mut refused, mut now) = (0, 0, START);
                    for _ in 0..SECONDS * 1_000 / pause {
                        now = now.after(Duration::from_millis(pause.into()));
                        bucket.settle(CallReport::default(), None, now);
                        let take = |bucket: &mut RateBucket| {
                            if is_first {
                                bucket.take_first(1)
                            } else {
                                bucket.take(1)
                            }
                        };
                        while take(&mut bucket) > 0 {
                            let mut report = CallReport::default();
                            if aws.takes(now) {
                                report.taken = 1
                            } else {
                                report.refused = 1
                            }
                            bucket.settle(report, None, now);
                            if report.refused > 0 {
                                bucket.take(0);
                            }
                            taken += report.taken;
                            refused += report.refused;
                        }
                    }
                    let learned = bucket.learned.expect("it has learned");
                    let share = f64::from(taken) / (rate * f64::from(SECONDS));
                    assert!((0.8..=1.1).contains(&(learned / rate)), "{of}: {learned}");
                    assert!(share >= 0.8, "{of}: {share:.2} of the reads");
                    assert!(refused <= 20, "{of}: {refused} refused of {taken}");
                }
            }
        }
    }

    /// Somebody reads now and then, after a time in which many did.
    #[test]
    fn a_few_reads_do_not_raise_the_rate() {
        for (rate, pause) in [(3.0, 600), (3.0, 400), (2.2, 500), (4.0, 350), (10.0, 300)] {
            for is_first in [true, false] {
                let mut bucket = RateBucket::beginning_at(rate, START);
                bucket.learned = Some(rate);
                bucket.take(1_000);
                let mut now = START;
                for _ in 0..500 {
                    now = now.after(Duration::from_millis(pause));
                    let taken = CallReport {
                        taken: 1,
                        ..CallReport::default()
                    };
                    bucket.settle(taken, None, now);
                    if is_first {
                        bucket.take_first(1)
                    } else {
                        bucket.take(1)
                    };
                }
                let raised = bucket.rate / rate;
                assert!(raised <= 1.1, "{raised:.2} of {rate}/s, each {pause} ms");
            }
        }
    }

    #[test]
    fn it_recovers_from_an_outage() {
        let mut bucket = RateBucket::new(START);
        let before = run_from(&mut bucket, START, 5.0, 5.0, 200);
        let after = refuse_all(&mut bucket, before.end, Duration::from_secs(120));
        let run = run_from(&mut bucket, after, 5.0, 5.0, 200);
        assert!(run.seconds <= 60.0, "{} s", run.seconds);
    }

    /// Others have used up what AWS takes, and stop.
    #[test]
    fn it_soon_uses_what_others_leave() {
        let mut bucket = RateBucket::new(START);
        let beside = run_from(&mut bucket, START, 0.2, 1.0, 120);
        let learned = bucket.learned.unwrap();
        assert!((0.1..=0.3).contains(&learned), "{learned} a second");
        let alone = run_from(&mut bucket, beside.end, 5.0, 5.0, 400);
        assert!(alone.seconds <= 80.0 + 180.0, "{} s", alone.seconds);
        let next = run_from(&mut bucket, alone.end, 5.0, 5.0, 200);
        assert!(next.seconds <= 60.0, "{} s", next.seconds);
    }

    /// The second calls of replacements come in bursts.
    #[test]
    fn a_ceiling_holds_in_the_long_run() {
        const CEILING: f64 = 2.0;
        let mut bucket = RateBucket::new(START);
        let (mut calls, mut now) = (0, START);
        for turn in 0..3_000_u32 {
            now = now.after(RELEASE_INTERVAL);
            // Half of the calls need no budget, each five seconds.
            let unbudgeted = if turn % 25 == 0 { 5 } else { 0 };
            let report = CallReport {
                taken: unbudgeted,
                unbudgeted,
                ..CallReport::default()
            };
            bucket.settle(report, Some(CEILING), now);
            calls += unbudgeted + bucket.take(1_000);
        }
        let allowed = CEILING * now.since(START).as_secs_f64();
        assert!(
            (0.95..=1.05).contains(&(f64::from(calls) / allowed)),
            "{calls} of {allowed}"
        );
    }

    #[test]
    fn what_is_owed_is_waited_for() {
        let mut bucket = RateBucket::new(START);
        let owed = CallReport {
            taken: 60,
            unbudgeted: 60,
            ..CallReport::default()
        };
        bucket.settle(owed, Some(0.5), START);
        let wait = bucket.wait_behind(1);
        assert!((100..=122).contains(&wait.as_secs()), "{wait:?}");
    }

    #[test]
    fn failures_of_a_service_hold_back_for_a_moment() {
        let mut bucket = RateBucket::new(START);
        let before = run_from(&mut bucket, START, 5.0, 5.0, 200);
        let mut now = before.end;
        for _ in 0..15 {
            let failed = CallReport {
                failed: 1,
                taken: 1,
                ..CallReport::default()
            };
            bucket.settle(failed, None, now);
            bucket.take(1_000);
            now = now.after(Duration::from_secs(2));
        }
        let run = run_from(&mut bucket, now, 5.0, 5.0, 200);
        assert!(run.seconds <= 55.0, "{} s", run.seconds);
    }

    #[test]
    fn a_clock_that_is_set_back_stops_nothing() {
        let mut bucket = RateBucket::new(START);
        let before = run_from(&mut bucket, START, 5.0, 5.0, 50);
        let earlier = before.end.before(Duration::from_secs(3_600));
        let run = run_from(&mut bucket, earlier, 5.0, 5.0, 200);
        assert!(run.seconds <= 50.0, "{} s", run.seconds);
    }

    #[test]
    fn what_is_not_used_is_there_for_others() {
        let mut bucket = RateBucket::new(START);
        let all = bucket.take(1_000);
        assert_eq!(bucket.take(1), 0);
        let unused = CallReport {
            unused: all,
            ..CallReport::default()
        };
        bucket.settle(unused, None, START);
        assert_eq!(bucket.take(1_000), all);
    }

    #[test]
    fn it_learns_what_aws_takes() {
        for (rate, burst) in [
            (1.0, 1.0),
            (2.0, 2.0),
            (2.0, 10.0),
            (5.0, 1.0),
            (5.0, 5.0),
            (5.0, 10.0),
            (5.0, 20.0),
            (20.0, 20.0),
            (20.0, 5.0),
            (50.0, 50.0),
            (100.0, 100.0),
        ] {
            let wanted = (rate * 40.0) as u32;
            let Run {
                seconds,
                calls,
                refused_late,
                ..
            } = run(rate, burst, wanted);
            let ratio = seconds / f64::from(wanted) * rate;
            let share = f64::from(refused_late) / f64::from(calls);
            let of = format!("{rate}/s, burst {burst}");
            assert!(ratio <= 1.6, "{of}: {ratio:.2} of the time");
            assert!(share <= 0.1, "{of}: {:.1} % refused", share * 100.0);
            // A bucket that holds as much as it gets in a second.
            if burst == rate && rate > 1.0 {
                assert!(ratio <= 1.25, "{of}: {ratio:.2} of the time");
                assert!(share <= 0.03, "{of}: {:.1} % refused", share * 100.0);
            }
        }
    }
}
