//! How a read lags.

use std::ops::RangeInclusive;
use std::time::Duration;

/// The maximum number of replicas.
const REPLICAS_MAX: u8 = 16;

/// The kind of a read. Each kind lags by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// `GetResource`.
    Get,
    /// `ListResources`.
    List,
}

/// How a read lags.
#[derive(Debug)]
pub(crate) struct Lag {
    /// How long a change is hidden.
    pub(crate) takes: RangeInclusive<Duration>,
    pub(crate) read: Read,
    /// The replica that is asked.
    pub(crate) replica: usize,
}

/// The bounds of all lags in force.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lags {
    /// How long a change may be hidden from reads.
    pub(crate) longest: Duration,
    /// The largest number of replicas.
    pub(crate) replicas: u8,
}

impl Lags {
    /// Returns how many lags are drawn for a change: one for each replica and kind of read.
    pub(crate) fn draws(self) -> usize {
        2 * usize::from(self.replicas.clamp(1, REPLICAS_MAX))
    }
}

impl Lag {
    /// Returns which of the lags of a change counts.
    pub(crate) fn draw(&self) -> usize {
        2 * self.replica + usize::from(self.read == Read::List)
    }
}

/// Returns the replica that a number in `[0, 1)` selects.
pub(super) fn share(chance: f64, replicas: u8) -> usize {
    let replicas = replicas.clamp(1, REPLICAS_MAX);
    let below = |replica: &u8| f64::from(*replica + 1) <= chance * f64::from(replicas);
    (0..replicas - 1).take_while(below).count()
}
