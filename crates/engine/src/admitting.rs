//! Which claimed operations may be stepped now, and which wait for their turn to call AWS.

use std::collections::BTreeMap;
use std::time::Duration;

use tracing::{debug, warn};
use ucp_cloud::{Fault, FaultClass};
use ucp_model::{CallReport, GroupId, RateKey, Served, Timestamp};
use ucp_store::rules::in_turn;
use ucp_store::{Claimed, Lease};

use crate::engine::Engine;
use crate::governor::{Governor, key_of};

/// How long operations are left alone that can neither have their turn nor wait for it.
const HANDED_BACK_FOR: Duration = Duration::from_secs(1);

impl Engine {
    /// Returns those of the claimed operations that may be stepped now. The others wait for their turn.
    pub(crate) async fn admit(&self, claimed: Vec<Claimed>) -> Vec<Claimed> {
        let Some(governor) = &self.governor else {
            return claimed;
        };
        let now = self.now();
        let (mut admitted, mut short) = (Vec::new(), BTreeMap::<RateKey, Vec<Claimed>>::new());
        for claimed in claimed {
            match key_of(&claimed) {
                None => admitted.push(claimed),
                Some(_) if claimed.has_permit => admitted.push(claimed),
                Some(key) if governor.allow(&key, now) => {
                    admitted.push(Claimed {
                        has_permit: true,
                        ..claimed
                    });
                }
                Some(key) => short.entry(key).or_default().push(claimed),
            }
        }
        for (key, short) in short {
            admitted.extend(self.admit_from(governor, &key, short).await);
        }
        admitted
    }

    /// Takes budget for operations, and lets those wait for which there is none.
    async fn admit_from(
        &self,
        governor: &Governor,
        key: &RateKey,
        claimed: Vec<Claimed>,
    ) -> Vec<Claimed> {
        let (now, store) = (self.now(), self.store());
        let count = u32::try_from(claimed.len()).unwrap_or(u32::MAX);
        let has_ceiling = governor.pacing.ceilings.contains_key(key);
        let allowed = match governor.ask(key, count, now) {
            // Without the store they end where they stand. And nobody waits for a bucket that cannot be written.
            None if !has_ceiling && governor.is_unanswered(key, now) => return claimed,
            None => 0,
            Some(ask) => match store.pace(key, &ask, now).await {
                Ok(pace) => governor.given(key, &pace, count, now),
                Err(error) => {
                    governor.unanswered(key, ask.report, now);
                    warn!(error = %ucp_model::chain(&error), rate = %key, "the rate is not known");
                    if !has_ceiling {
                        return claimed;
                    }
                    0
                }
            },
        };
        let (admitted, waiting) = share(claimed, &governor.pacing.weights, allowed);
        if waiting.is_empty() {
            return admitted;
        }
        debug!(rate = %key, operations = waiting.len(), "they wait for their turn");
        let leases: Vec<Lease> = waiting
            .iter()
            .map(|claimed| claimed.lease.clone())
            .collect();
        if let Err(error) = store.wait_for_turn(&leases, key, now).await {
            warn!(error = %ucp_model::chain(&error), "operations do not wait for their turn");
            let kept = if has_ceiling {
                self.hand_back(waiting, now).await
            } else {
                waiting
            };
            // Steps give their leases back when the store is there again, or find that they do wait.
            return admitted.into_iter().chain(kept).collect();
        }
        governor.is_waited_for(key, now);
        admitted
    }

    /// Gives the leases of operations back for a moment. Returns those that cannot be given back, since the store is away.
    async fn hand_back(&self, claimed: Vec<Claimed>, now: Timestamp) -> Vec<Claimed> {
        let not_before = now.after(HANDED_BACK_FOR);
        let mut claimed = claimed.into_iter();
        while let Some(next) = claimed.next() {
            let handed_back = self.store().hand_back(&next.lease, not_before).await;
            if handed_back.is_err() {
                return std::iter::once(next).chain(claimed).collect();
            }
        }
        Vec::new()
    }

    /// Lets those who wait have their turn, and tells the buckets what came of calls. Returns how many are due then.
    pub async fn release_turns(&self) -> Result<u32, ucp_store::Error> {
        let Some(governor) = &self.governor else {
            return Ok(0);
        };
        let now = self.now();
        if governor.discovers(now) {
            for key in self.store().list_rates_waited_for().await? {
                governor.is_waited_for(&key, now);
            }
        }
        let mut released = 0;
        for key in governor.due(now) {
            let Some(ask) = governor.ask(&key, 0, now) else {
                continue;
            };
            match self.store().pace(&key, &ask, now).await {
                Ok(pace) => {
                    governor.given(&key, &pace, 0, now);
                    released += pace.released;
                }
                // The other buckets do not wait for this one.
                Err(error) => {
                    governor.unanswered(&key, ask.report, now);
                    warn!(error = %ucp_model::chain(&error), rate = %key, "the rate is not known");
                }
            }
        }
        Ok(released)
    }

    /// Returns when the next operation that waits may have its turn, as far as this process knows.
    pub fn next_turn_at(&self) -> Option<Timestamp> {
        self.governor.as_ref()?.next_at()
    }

    /// Notes what came of a call.
    pub(crate) async fn called<T>(
        &self,
        key: &RateKey,
        is_budgeted: bool,
        reply: &Result<T, Fault>,
    ) {
        let Some(governor) = &self.governor else {
            return;
        };
        let is_refused = reply
            .as_ref()
            .is_err_and(|fault| fault.class == FaultClass::Throttled);
        let is_taken = match reply {
            Ok(_) => true,
            Err(fault) => !matches!(fault.class, FaultClass::Throttled | FaultClass::Transient),
        };
        governor.note(
            key,
            CallReport {
                taken: u32::from(is_taken),
                unbudgeted: u32::from(!is_budgeted),
                ..CallReport::default()
            },
        );
        if is_refused {
            self.slow_down(key).await;
        }
    }

    /// Notes that a change has failed since the service of its type takes no more.
    pub(crate) fn failed(&self, key: &RateKey) {
        let failed = CallReport {
            failed: 1,
            ..CallReport::default()
        };
        if let Some(governor) = &self.governor {
            governor.note(key, failed);
        }
    }

    /// Gives a call back that was not made.
    pub(crate) fn give_back(&self, key: &RateKey) {
        let unused = CallReport {
            unused: 1,
            ..CallReport::default()
        };
        if let Some(governor) = &self.governor {
            governor.note(key, unused);
        }
    }

    /// Tells the bucket at once that AWS has refused a call for coming too early.
    async fn slow_down(&self, key: &RateKey) {
        let Some(governor) = &self.governor else {
            return;
        };
        let refused = CallReport {
            refused: 1,
            ..CallReport::default()
        };
        governor.note(key, refused);
        governor.drop_ahead(key);
        let now = self.now();
        let Some(ask) = governor.ask(key, 0, now) else {
            return;
        };
        match self.store().pace(key, &ask, now).await {
            Ok(pace) => {
                governor.given(key, &pace, 0, now);
                debug!(rate = %key, per_second = pace.rate, "AWS refuses calls for coming too early");
            }
            Err(error) => {
                governor.note(key, ask.report);
                warn!(error = %ucp_model::chain(&error), rate = %key, "the rate is not told");
            }
        }
    }
}

/// Divides operations into those that have their turn, in the turn of their groups, and those that wait.
fn share(
    claimed: Vec<Claimed>,
    weights: &BTreeMap<String, u32>,
    allowed: u32,
) -> (Vec<Claimed>, Vec<Claimed>) {
    let mut by_group: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (place, claimed) in claimed.iter().enumerate() {
        let group = claimed.operation.work.group_id();
        let of_group = by_group.entry(group.map(GroupId::key).unwrap_or_default());
        of_group.or_default().push(place);
    }
    let turns = in_turn(&by_group, &mut Served::default(), weights, allowed);
    let mut has_turn = vec![false; claimed.len()];
    for place in turns {
        has_turn[place] = true;
    }
    let (mut admitted, mut waiting) = (Vec::new(), Vec::new());
    for (claimed, has_permit) in claimed.into_iter().zip(has_turn) {
        if has_permit {
            admitted.push(Claimed {
                has_permit,
                ..claimed
            })
        } else {
            waiting.push(claimed)
        }
    }
    (admitted, waiting)
}
