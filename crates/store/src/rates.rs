//! The rates at which AWS is called, which all processes share, and the operations that wait for their turn.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use ucp_model::{CallReport, RateBucket, RateKey, Timestamp};

use crate::{Error, Lease};

/// How long an operation waits for its turn until it can be claimed all the same. Its worker lets it wait again. So whatever
/// becomes of the processes that release it, servers of earlier versions among them, it goes on.
pub const LONGEST_WAIT: Duration = Duration::from_secs(60 * 60);

/// What a process asks of a bucket.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ask {
    /// What came of its calls since it asked the last time.
    pub report: CallReport,
    /// How many calls it wants to make at once. Those who wait come before it.
    pub wants: u32,
    /// Whether a person waits for them. So the reserve is for them too.
    pub is_first: bool,
    /// The rate of the calls until now, if they were not paced. A new bucket begins with it.
    pub begins_at: Option<f64>,
    /// The highest rate, in calls per second, if the operator has set one.
    pub ceiling: Option<f64>,
    /// How many operations of a resource group have their turn in a row, by the key of the group; one of each other group.
    pub weights: BTreeMap<String, u32>,
}

impl Ask {
    /// Returns the bucket that is asked: the one that is `kept`, if there is one and it has not lapsed.
    pub fn bucket(&self, kept: Option<RateBucket>, now: Timestamp) -> RateBucket {
        let kept = kept.filter(|kept| self.begins_at.is_none() || !kept.has_lapsed(now));
        kept.unwrap_or_else(|| self.new_bucket(now))
    }

    /// Returns the bucket as it is made.
    pub fn new_bucket(&self, now: Timestamp) -> RateBucket {
        match self.begins_at {
            Some(rate) => RateBucket::beginning_at(rate, now),
            None => RateBucket::new(now),
        }
    }

    /// Takes from a bucket what is wanted, as far as it is there.
    pub fn take(&self, bucket: &mut RateBucket) -> u32 {
        if self.is_first {
            bucket.take_first(self.wants)
        } else {
            bucket.take(self.wants)
        }
    }
}

/// What a bucket gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Pace {
    /// How many calls the process may make.
    pub given: u32,
    /// How many of those who waited have their turn.
    pub released: u32,
    /// Whether others still wait.
    pub is_waited_for: bool,
    /// The calls per second.
    pub rate: f64,
    /// When there is something to give again.
    pub next_at: Timestamp,
}

/// Storage of the rates at which AWS is called.
#[async_trait]
pub trait Rates: Send + Sync {
    /// Settles a bucket until `now`, and takes calls from it: first for operations that wait for it, then for the process.
    /// Buckets are made when they are first asked for.
    ///
    /// Those who wait have their turn by resource group: the one behind the group that was served last is next, in the order
    /// of the keys of the groups, and then from the beginning. Of a group, those accepted first are first, then by
    /// id. Whose turn it is is due when [`RateBucket::release`](ucp_model::RateBucket::release) says, and its next claim has a
    /// permit.
    async fn pace(&self, key: &RateKey, ask: &Ask, now: Timestamp) -> Result<Pace, Error>;

    /// Releases the leases, and lets the operations wait for their turn, but not for longer than [`LONGEST_WAIT`]. An operation
    /// whose lease was lost is left alone. One that is to be cancelled or has a permit waits for nothing: its lease is released
    /// only. Nobody waits for the lock of the bucket.
    async fn wait_for_turn(
        &self,
        leases: &[Lease],
        key: &RateKey,
        now: Timestamp,
    ) -> Result<(), Error>;

    /// Returns the buckets that operations wait for, in the order of their names.
    async fn list_rates_waited_for(&self) -> Result<Vec<RateKey>, Error>;

    /// Removes up to `limit` buckets that nobody has asked since `before`, and returns how many. Those who wait for one that
    /// is gone wait for a new one.
    async fn remove_idle_rates(&self, before: Timestamp, limit: usize) -> Result<u64, Error>;
}
