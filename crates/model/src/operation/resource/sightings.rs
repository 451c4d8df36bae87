use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Timestamp, retry};

/// How long AWS may show what was before one of our changes. Until this long after a resource was last known to exist,
/// "not found" may be out of date.
pub const SETTLING_WINDOW: Duration = Duration::from_secs(60);

/// How many looks in a row must not find a resource before its absence is believed, however much time has passed.
pub(super) const LOOKS_MIN: u32 = 5;

/// Delays between looks at what was not found.
const FIRST_DELAY: Duration = Duration::from_secs(1);
const LONGEST_DELAY: Duration = Duration::from_secs(15);

/// How long contradictory answers of AWS are followed up, and how many of them have to say "not found".
const LONGEST_DOUBT: Duration = Duration::from_secs(15 * 60);
const DOUBTS_MIN: u32 = 20;

/// What looks have shown of the existence of the resource that an operation is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Sightings {
    /// When the resource was last known to exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_seen_at: Option<Timestamp>,
    /// How many looks in a row have not found it.
    pub missed: u32,
    /// How many looks have not found it altogether.
    pub missed_in_all: u32,
    /// When the first look did not find it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missed_since: Option<Timestamp>,
    /// Whether a list of its type has held it, if one was asked for since it was last seen. A list that says nothing
    /// about it counts as one that lacks it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listed: Option<bool>,
    /// How many looks in a row have found it without the mark that its deletion takes.
    #[serde(skip_serializing_if = "is_zero")]
    pub unmarked: u32,
    /// When the first of these looks was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unmarked_since: Option<Timestamp>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl Sightings {
    /// Returns the sightings of a resource that was last known to exist at `last_seen_at`.
    pub fn since(last_seen_at: Option<Timestamp>) -> Self {
        Self {
            last_seen_at,
            ..Self::default()
        }
    }

    /// Notes that a look has found the resource.
    pub(super) fn seen_at(self, now: Timestamp) -> Self {
        Self {
            last_seen_at: Some(now),
            missed: 0,
            listed: None,
            unmarked: 0,
            unmarked_since: None,
            ..self
        }
    }

    /// Notes that a look has found the resource, without the mark that its deletion takes. Tags can lag as well.
    pub(super) fn seen_unmarked_at(self, now: Timestamp) -> Self {
        Self {
            unmarked: self.unmarked.saturating_add(1),
            unmarked_since: self.unmarked_since.or(Some(now)),
            ..self.seen_at(now)
        }
    }

    /// Returns whether it is believed that the resource does not bear the mark.
    pub(super) fn lack_mark(&self, now: Timestamp) -> bool {
        let is_settled = |since| now.since(since) >= SETTLING_WINDOW;
        self.unmarked >= LOOKS_MIN && self.unmarked_since.is_some_and(is_settled)
    }

    /// Returns the delay before the next look for the mark.
    pub(super) fn delay_for_mark(&self, jitter: f64) -> Duration {
        let attempt = self.unmarked.saturating_sub(1);
        retry::backoff(attempt, FIRST_DELAY, LONGEST_DELAY, jitter)
    }

    /// Counts an answer of AWS that the resource does not exist.
    pub(super) fn missed_at(self, now: Timestamp) -> Self {
        Self {
            missed: self.missed.saturating_add(1),
            missed_in_all: self.missed_in_all.saturating_add(1),
            missed_since: self.missed_since.or(Some(now)),
            ..self
        }
    }

    /// Notes whether a list held the resource.
    pub(super) fn listed_as(self, holds: bool) -> Self {
        Self {
            listed: Some(holds),
            ..self
        }
    }

    /// Returns whether it is proven that the resource does not exist.
    pub(super) fn prove_absence(&self, now: Timestamp) -> bool {
        self.missed >= LOOKS_MIN && self.is_settled(now) && self.listed == Some(false)
    }

    /// Returns whether a list is to be asked for before the next look, since that one could prove the absence.
    pub(super) fn need_a_list(&self, now: Timestamp) -> bool {
        self.missed.saturating_add(1) >= LOOKS_MIN
            && self.is_settled(now)
            && self.listed != Some(false)
    }

    /// Returns whether AWS has contradicted itself for too long.
    pub(super) fn contradict(&self, now: Timestamp) -> bool {
        self.missed_in_all >= DOUBTS_MIN && self.are_old(now) && !self.prove_absence(now)
    }

    /// Returns whether the first look that did not find it was long ago.
    pub(super) fn are_old(&self, now: Timestamp) -> bool {
        self.missed_since
            .is_some_and(|since| now.since(since) > LONGEST_DOUBT)
    }

    /// Returns the delay before the next look.
    pub(super) fn delay(&self, jitter: f64) -> Duration {
        let attempt = self.missed_in_all.saturating_sub(1);
        retry::backoff(attempt, FIRST_DELAY, LONGEST_DELAY, jitter)
    }

    /// Operations of earlier versions do not know when the resource was last seen; then the first miss counts.
    pub(super) fn is_settled(&self, now: Timestamp) -> bool {
        let since = self.last_seen_at.or(self.missed_since);
        since.is_some_and(|since| now.since(since) >= SETTLING_WINDOW)
    }
}
