//! How much there may be of what requests leave behind, so that nobody can fill the database, and how much there is.
//!
//! Counting costs as much as there is to count, so it is not done for every request. An estimate is kept for each group
//! and plane: what was counted last, and all that was admitted since. It is too high if something has gone in the
//! meantime, so it is counted again before anything is refused. It is too low by what other processes have admitted, so
//! it is counted again after a tenth of the quota, or a minute. It is also too low by the requests that are admitted but
//! not stored yet when it is counted. So a quota may be exceeded by a tenth for each process, and by the requests that are
//! served at the same time.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ucp_model::Timestamp;

/// How long an estimate is good.
const TERM: Duration = Duration::from_secs(60);
/// How long nothing is counted again for what had no room.
const FULL: Duration = Duration::from_secs(1);
/// The number of estimates that are kept. Beyond it all are made anew.
const ESTIMATES_MAX: usize = 10_000;

/// How much there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quotas {
    /// The planes.
    pub planes: usize,
    /// The credentials of a plane.
    pub credentials: usize,
    /// The role assignments.
    pub role_assignments: usize,
    /// The role assignments that one caller has given first.
    pub caller_role_assignments: usize,
    /// The resource groups of a plane.
    pub groups: usize,
    /// The references of a group.
    pub references: usize,
    /// The leftovers of a group, or of an account and region.
    pub leftovers: usize,
    /// The operations under way in a group.
    pub group_operations: usize,
    /// The operations under way that one caller has requested.
    pub caller_operations: usize,
    /// All operations under way.
    pub operations: usize,
    /// The bytes of the plans that one caller has asked for.
    pub caller_plan_bytes: usize,
    /// The same of those that are about one group.
    pub group_plan_bytes: usize,
}

impl Default for Quotas {
    /// Far more than a deployment needs, and little enough for the database.
    fn default() -> Self {
        Self {
            planes: 1_000,
            credentials: 1_000,
            role_assignments: 1_000,
            caller_role_assignments: 500,
            groups: 20_000,
            references: 20_000,
            leftovers: 1_000,
            group_operations: 5_000,
            caller_operations: 25_000,
            operations: 50_000,
            caller_plan_bytes: 256 << 20,
            group_plan_bytes: 64 << 20,
        }
    }
}

/// At least as many as there are, unless other processes have admitted some.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    counted: usize,
    admitted: usize,
    at: Timestamp,
    /// When there was no room, and none could be made, unless it was counted since.
    full_at: Option<Timestamp>,
}

impl Estimate {
    /// Returns whether `more` certainly fit, and then counts them in.
    fn admit(&mut self, more: usize, quota: usize, now: Timestamp) -> bool {
        let is_good = now.since(self.at) < TERM && self.admitted <= quota / 10;
        let fits = self.counted + self.admitted + more <= quota;
        if is_good && fits {
            self.admitted += more;
        }
        is_good && fits
    }
}

/// The estimates of this process.
#[derive(Debug, Default)]
pub(crate) struct Estimates(Mutex<HashMap<String, Estimate>>);

impl Estimates {
    /// Returns whether `more` certainly fit.
    pub(crate) fn admit(&self, of: &str, more: usize, quota: usize, now: Timestamp) -> bool {
        let mut estimates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let estimate = estimates.get_mut(of);
        estimate.is_some_and(|estimate| estimate.admit(more, quota, now))
    }

    /// Notes what was counted, and what is admitted now.
    pub(crate) fn note(&self, of: String, counted: usize, admitted: usize, at: Timestamp) {
        let mut estimates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if estimates.len() >= ESTIMATES_MAX {
            estimates.clear();
        }
        let estimate = Estimate {
            counted,
            admitted,
            at,
            full_at: None,
        };
        estimates.insert(of, estimate);
    }

    /// Notes that there is no room, and that none can be made.
    pub(crate) fn note_full(&self, of: &str, now: Timestamp) {
        let mut estimates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(estimate) = estimates.get_mut(of) {
            estimate.full_at = Some(now);
        }
    }

    /// Returns whether there was no room for so many a moment ago. To find that out again would cost as much as there is to
    /// count.
    pub(crate) fn was_full(&self, of: &str, more: usize, quota: usize, now: Timestamp) -> bool {
        let estimates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        estimates.get(of).is_some_and(|estimate| {
            let is_recent = |full_at| now.since(full_at) < FULL;
            estimate.full_at.is_some_and(is_recent) && estimate.counted + more > quota
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

    fn estimate(counted: usize) -> Estimate {
        Estimate {
            counted,
            admitted: 0,
            at: NOW,
            full_at: None,
        }
    }

    #[test]
    fn the_last_one_fits() {
        let mut nearly_full = estimate(98);
        assert!(!nearly_full.admit(3, 100, NOW));
        assert!(nearly_full.admit(1, 100, NOW));
        assert!(nearly_full.admit(1, 100, NOW));
        assert!(!nearly_full.admit(1, 100, NOW));
    }

    #[test]
    fn an_estimate_is_good_for_a_minute_and_a_tenth_of_the_quota() {
        let late = NOW.after(TERM);
        assert!(!estimate(0).admit(1, 100, late));
        let mut used = estimate(0);
        for _ in 0..11 {
            assert!(used.admit(1, 100, NOW));
        }
        assert!(!used.admit(1, 100, NOW));
    }

    #[test]
    fn what_is_full_is_not_counted_again_at_once() {
        let estimates = Estimates::default();
        let was_full = |of, more, at| estimates.was_full(of, more, 100, at);
        assert!(!was_full("plans", 3, NOW));
        estimates.note("plans".to_owned(), 98, 0, NOW);
        assert!(!was_full("plans", 3, NOW));
        estimates.note_full("plans", NOW);
        assert!(was_full("plans", 3, NOW));
        assert!(!was_full("plans", 2, NOW));
        assert!(!was_full("others", 3, NOW));
        assert!(!was_full("plans", 3, NOW.after(FULL)));
        estimates.note("plans".to_owned(), 98, 0, NOW);
        assert!(!was_full("plans", 3, NOW));
    }

    #[test]
    fn there_are_not_more_estimates_than_are_kept() {
        let estimates = Estimates::default();
        for number in 0..2 * ESTIMATES_MAX {
            estimates.note(number.to_string(), 0, 0, NOW);
        }
        let kept = estimates.0.lock().unwrap().len();
        assert!(kept <= ESTIMATES_MAX, "{kept}");
    }
}
