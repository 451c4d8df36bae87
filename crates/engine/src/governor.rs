//! The governor: lets operations call AWS no faster than AWS takes it, in the turn of their resource groups.
//!
//! The budget of an account and region is a bucket in the store, which all processes share. A process takes calls from it
//! as it needs them, and some ahead while it needs many, so that most calls cost no statement. Calls that were taken ahead
//! lapse after [`LAPSES_AFTER`], so the budget of a process that dies is lost for no longer. What finds no budget waits in the
//! store for its turn, holds no slot, and costs nothing until then.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ucp_model::{CallReport, RELEASE_INTERVAL, RateKey, Timestamp};
use ucp_store::{Ask, CONDEMNED, Claimed, Pace};

/// How long calls can be made that were taken ahead.
const LAPSES_AFTER: Duration = Duration::from_secs(1);
/// The most calls that are taken ahead.
const AHEAD_MAX: u32 = 64;
/// How often the store is asked for what waits that this process does not know of.
const DISCOVERY: Duration = Duration::from_secs(2);
/// How long what came of calls is known to this process alone, at most, while somebody asks for budget.
const REPORTED_AFTER: Duration = Duration::from_secs(1);
/// How long a bucket is not asked that has not answered.
const ASKED_AGAIN_AFTER: Duration = Duration::from_secs(1);
/// The longest time for which a bucket is not asked that somebody waits for.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// How long a bucket is remembered that nobody asks.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(60);

/// What the operator says about the rates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pacing {
    /// The highest rates, in calls per second.
    pub ceilings: BTreeMap<RateKey, f64>,
    /// How many operations of a resource group have their turn in a row, by the key of the group; one of each other group.
    pub weights: BTreeMap<String, u32>,
}

/// The budgets of this process.
pub(crate) struct Governor {
    pub(crate) pacing: Pacing,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    budgets: BTreeMap<RateKey, Budget>,
    /// When the store was last asked for what waits.
    discovered_at: Option<Timestamp>,
}

/// What this process knows of a bucket.
#[derive(Debug, Default)]
struct Budget {
    /// The calls that were taken ahead.
    ahead: u32,
    lapses_at: Timestamp,
    /// How many calls were allowed in this interval, and in the one before.
    recent: u32,
    before: u32,
    interval_from: Timestamp,
    /// What the bucket has not been told yet.
    report: CallReport,
    asked_at: Timestamp,
    /// How often operations began to wait for it, and how often when it was asked last.
    waits: u64,
    waits_told: u64,
    /// When there is something to give to those who wait, if anybody does.
    next_at: Option<Timestamp>,
    /// Until when the bucket counts as one that does not answer.
    unanswered_until: Option<Timestamp>,
}

impl Budget {
    fn allow(&mut self, now: Timestamp) -> bool {
        if now >= self.lapses_at {
            self.ahead = 0;
        }
        let allowed = self.ahead > 0;
        self.ahead = self.ahead.saturating_sub(1);
        if allowed {
            self.count(1, now);
        }
        allowed
    }

    fn take_ahead(&mut self, calls: u32, now: Timestamp) {
        if now >= self.lapses_at {
            self.ahead = 0;
        }
        self.ahead = self.ahead.saturating_add(calls);
        self.lapses_at = now.after(LAPSES_AFTER);
    }

    fn count(&mut self, calls: u32, now: Timestamp) {
        let passed = now.since(self.interval_from);
        if passed >= RELEASE_INTERVAL {
            self.before = if passed < RELEASE_INTERVAL * 2 {
                self.recent
            } else {
                0
            };
            (self.recent, self.interval_from) = (0, now);
        }
        self.recent = self.recent.saturating_add(calls);
    }

    /// Returns how many calls to take ahead: as many as were made lately.
    fn wanted_ahead(&mut self, now: Timestamp) -> u32 {
        self.count(0, now);
        self.recent.max(self.before).min(AHEAD_MAX)
    }
}

impl Governor {
    pub(crate) fn new(pacing: Pacing) -> Self {
        Self {
            pacing,
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a call from what was taken ahead.
    pub(crate) fn allow(&self, key: &RateKey, now: Timestamp) -> bool {
        let mut state = self.state();
        let budget = state.budgets.get_mut(key);
        budget.is_some_and(|budget| budget.allow(now))
    }

    /// Returns what to ask of a bucket for `count` operations, and when others wait, `None` before it has something to give.
    pub(crate) fn ask(&self, key: &RateKey, count: u32, now: Timestamp) -> Option<Ask> {
        let mut state = self.state();
        let budget = state.budgets.entry(key.clone()).or_default();
        if count > 0 && budget.next_at.is_some_and(|next_at| next_at > now) {
            return None;
        }
        let ahead = match count {
            0 => 0,
            _ => budget.wanted_ahead(now),
        };
        budget.asked_at = now;
        budget.waits_told = budget.waits;
        Some(Ask {
            report: std::mem::take(&mut budget.report),
            wants: count.saturating_add(ahead),
            is_first: false,
            begins_at: None,
            ceiling: self.pacing.ceilings.get(key).copied(),
            weights: self.pacing.weights.clone(),
        })
    }

    /// Notes what a bucket has given for `count` operations, and returns for how many of them there is a call.
    pub(crate) fn given(&self, key: &RateKey, pace: &Pace, count: u32, now: Timestamp) -> u32 {
        let mut state = self.state();
        let budget = state.budgets.entry(key.clone()).or_default();
        budget.unanswered_until = None;
        let allowed = pace.given.min(count);
        budget.count(allowed, now);
        if pace.given > 0 {
            budget.take_ahead(pace.given - allowed, now);
        }
        // Others may have begun to wait while the bucket answered. And a clock may be set back.
        if pace.is_waited_for || budget.waits == budget.waits_told {
            let next_at = pace.next_at.min(now.after(LONGEST_PAUSE));
            budget.next_at = pace.is_waited_for.then_some(next_at);
        }
        allowed
    }

    /// Notes that operations wait for the bucket, and when it has something to give.
    pub(crate) fn is_waited_for(&self, key: &RateKey, now: Timestamp) {
        let mut state = self.state();
        let budget = state.budgets.entry(key.clone()).or_default();
        budget.waits += 1;
        let next_at = now.after(RELEASE_INTERVAL);
        budget.next_at = budget.next_at.or(Some(next_at));
    }

    /// Notes what came of a call.
    pub(crate) fn note(&self, key: &RateKey, report: CallReport) {
        let mut state = self.state();
        let budget = state.budgets.entry(key.clone()).or_default();
        budget.report = budget.report.with(report);
    }

    /// Notes that the bucket has not answered. It is told the same later.
    pub(crate) fn unanswered(&self, key: &RateKey, report: CallReport, now: Timestamp) {
        self.note(key, report);
        let mut state = self.state();
        let budget = state.budgets.entry(key.clone()).or_default();
        let later = now.after(ASKED_AGAIN_AFTER);
        budget.unanswered_until = Some(later);
        budget.next_at = budget.next_at.map(|_| later);
    }

    /// Returns whether the bucket did not answer a moment ago.
    pub(crate) fn is_unanswered(&self, key: &RateKey, now: Timestamp) -> bool {
        let state = self.state();
        let budget = state.budgets.get(key);
        let until = budget.and_then(|budget| budget.unanswered_until);
        until.is_some_and(|until| now < until && until.since(now) <= ASKED_AGAIN_AFTER)
    }

    /// Forgets what was taken ahead: AWS takes less than the bucket knew then.
    pub(crate) fn drop_ahead(&self, key: &RateKey) {
        let mut state = self.state();
        let budget = state.budgets.entry(key.clone()).or_default();
        budget.ahead = 0;
    }

    /// Returns the buckets to be asked now, since somebody waits for them or they have not been told what came of calls.
    pub(crate) fn due(&self, now: Timestamp) -> Vec<RateKey> {
        let mut state = self.state();
        let is_told = |budget: &Budget| budget.report == CallReport::default();
        state.budgets.retain(|_, budget| {
            let idle = now.since(budget.asked_at.max(budget.interval_from));
            idle < FORGOTTEN_AFTER || budget.next_at.is_some() || !is_told(budget)
        });
        let budgets = state.budgets.iter();
        let due = budgets.filter(|(_, budget)| {
            budget.next_at.is_some_and(|next_at| next_at <= now)
                || (!is_told(budget) && now.since(budget.asked_at) >= REPORTED_AFTER)
        });
        due.map(|(key, _)| key.clone()).collect()
    }

    /// Returns when the next of those who wait may have their turn, as far as this process knows.
    pub(crate) fn next_at(&self) -> Option<Timestamp> {
        let state = self.state();
        state
            .budgets
            .values()
            .filter_map(|budget| budget.next_at)
            .min()
    }

    /// Whether it is time to ask the store for what waits.
    pub(crate) fn discovers(&self, now: Timestamp) -> bool {
        let mut state = self.state();
        let is_fresh = |at: Timestamp| at <= now && now.since(at) < DISCOVERY;
        if state.discovered_at.is_some_and(is_fresh) {
            return false;
        }
        state.discovered_at = Some(now);
        true
    }
}

/// Returns the bucket from which an operation needs a call before it is stepped. One that is to be
/// cancelled or given up needs none.
pub(crate) fn key_of(claimed: &Claimed) -> Option<RateKey> {
    let operation = &claimed.operation;
    let is_given_up = claimed.lease.takeovers >= CONDEMNED;
    match operation.header.cancel_requested_at {
        Some(_) => None,
        None if is_given_up => None,
        None => operation.work.rate_key(),
    }
}
