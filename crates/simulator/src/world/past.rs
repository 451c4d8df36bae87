//! What resources were before their latest changes, for reads that lag.

use std::collections::VecDeque;

use ucp_model::{Entropy, Timestamp};

use super::resource::{Resource, ResourceKey};
use crate::faults::{Lag, Lags};

/// The maximum number of changes of which the state before them is kept.
const CAPACITY: usize = 10_000;

/// The states before the latest changes, oldest first, as long as a read may show them.
#[derive(Default)]
pub(super) struct Past {
    /// The lags in force. Nothing is kept while no read can lag.
    lags: Option<Lags>,
    befores: VecDeque<Before>,
}

/// A resource before a change.
struct Before {
    key: ResourceKey,
    resource: Option<Resource>,
    changed_at: Timestamp,
    /// The fractions of a range of lags that hide this change, by [`Lag::draw`].
    fractions: Vec<f64>,
}

impl Before {
    fn is_shown(&self, lag: &Lag, now: Timestamp) -> bool {
        let takes = &lag.takes;
        let span = takes.end().saturating_sub(*takes.start());
        // A lag with more replicas may have been added after the change.
        let drawn = lag.draw() % self.fractions.len().max(1);
        let fraction = self.fractions.get(drawn).copied().unwrap_or_default();
        now.since(self.changed_at) < *takes.start() + span.mul_f64(fraction)
    }
}

impl Past {
    /// Keeps what a read may show with these lags, and drops the rest.
    pub(super) fn keep(&mut self, lags: Option<Lags>, now: Timestamp) {
        self.lags = lags;
        let is_over =
            |before: &Before| lags.is_none_or(|lags| now.since(before.changed_at) >= lags.longest);
        while self.befores.front().is_some_and(is_over) {
            self.befores.pop_front();
        }
    }

    /// Records what a resource was before a change.
    pub(super) fn record(
        &mut self,
        key: ResourceKey,
        resource: Option<Resource>,
        changed_at: Timestamp,
        entropy: &dyn Entropy,
    ) {
        let Some(lags) = self.lags else { return };
        if self.befores.len() == CAPACITY {
            self.befores.pop_front();
        }
        self.befores.push_back(Before {
            key,
            resource,
            changed_at,
            fractions: (0..lags.draws())
                .map(|_| entropy.fraction("simulator.lag"))
                .collect(),
        });
    }

    /// Returns what a lagging read shows of a resource: what it was before the earliest change that is still hidden.
    /// `None` if no change is hidden, and `Some(None)` if the resource did not exist.
    pub(super) fn shown(
        &self,
        key: &ResourceKey,
        lag: &Lag,
        now: Timestamp,
    ) -> Option<Option<&Resource>> {
        let mut befores = self.befores.iter().filter(|before| before.key == *key);
        let earliest = befores.find(|before| before.is_shown(lag, now))?;
        Some(earliest.resource.as_ref())
    }

    /// Whether a read that lags shows something older in a resource of this type, or in the one with this key.
    pub(super) fn hides(
        &self,
        (type_name, key): (&str, Option<&str>),
        lag: &Lag,
        now: Timestamp,
    ) -> bool {
        let mut befores = self.befores.iter();
        befores.any(|before| {
            before.key.0 == type_name
                && key.is_none_or(|key| key == before.key.1)
                && before.is_shown(lag, now)
        })
    }

    /// Returns the keys of the changed resources, some more than once.
    pub(super) fn keys(&self) -> impl Iterator<Item = &ResourceKey> {
        self.befores.iter().map(|before| &before.key)
    }
}
