//! The leases on a stage: what writers do with them, and the rules that hold whatever else happens.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

use ucp_model::{OperationId, Timestamp};
use ucp_store::{Claimed, Error, Lease, LeaseTerm};

use super::fixture::{Engine, TERM, answered, at, text};

/// When claims of writers are made.
const NOW: i64 = 20;
/// The end of all leases that a stage leaves behind.
const FOR_EVER: i64 = 1 << 30;
/// A claim passes over locked rows, and the transaction of a writer that has failed may be rolled back a moment after its
/// reply.
const TRIES: usize = 1_000;

/// What a writer was told of one generation of a lease.
#[derive(Debug)]
struct Generation {
    claimed_at: Timestamp,
    /// When it ends, as the replies to those who hold it have said. Of two who write at the same time, the reply to the first may come
    /// last.
    ends: Vec<Timestamp>,
    /// Whether somebody wanted to release it or hand it back. It may have been lost before.
    is_given_up: bool,
    /// Whether the operation was ended under it.
    has_ended: bool,
}

/// What the writers of a stage were told.
#[derive(Default)]
struct Told {
    /// The first claim of each operation by a writer. What it is for does not depend on a claim that races with it.
    claimed: BTreeMap<OperationId, Claimed>,
    generations: BTreeMap<(OperationId, u64), Generation>,
}

/// The leases on a stage.
#[derive(Default)]
pub(super) struct Leased(Mutex<Told>);

impl Leased {
    pub(super) fn claimed(&self, id: OperationId) -> Option<Claimed> {
        self.0.lock().unwrap().claimed.get(&id).cloned()
    }

    /// Claims all that is due, but not in scopes that are `crowded`, and returns the reply.
    pub(super) async fn claim(
        &self,
        store: &Engine,
        term: LeaseTerm,
        crowded: &BTreeSet<String>,
    ) -> String {
        let claimed = if crowded.is_empty() {
            store
                .claim_due_operations("worker", at(NOW), term, 100)
                .await
        } else {
            store
                .claim_elsewhere("worker", at(NOW), term, 100, crowded)
                .await
        };
        let claimed = match claimed {
            Ok(claimed) => claimed,
            Err(error) => return format!("Err({error:?})"),
        };
        let reply = claimed.iter().map(told).collect();
        for claimed in claimed {
            self.hand_out(&claimed, at(NOW));
            let mut told = self.0.lock().unwrap();
            told.claimed
                .entry(claimed.lease.operation)
                .or_insert(claimed);
        }
        reply
    }

    pub(super) async fn renew(&self, store: &Engine, lease: &Lease) -> String {
        let renewed = store.renew_lease(lease, at(22), TERM).await;
        self.renewed(renewed)
    }

    /// Notes the reply of what renews a lease, and returns it.
    pub(super) fn renewed(&self, reply: Result<Lease, Error>) -> String {
        if let Ok(lease) = &reply {
            self.of(lease, |generation| generation.ends.push(lease.expires_at));
        }
        format!("{reply:?}")
    }

    /// Notes the reply of what ends an operation, and returns it.
    pub(super) fn ended(&self, lease: &Lease, reply: Result<(), Error>) -> String {
        if reply.is_ok() {
            self.of(lease, |generation| generation.has_ended = true);
        }
        format!("{reply:?}")
    }

    pub(super) async fn release(&self, store: &Engine, lease: &Lease) -> String {
        let released = store.release_lease(lease).await;
        self.of(lease, |generation| generation.is_given_up = true);
        format!("{released:?}")
    }

    pub(super) async fn hand_back(&self, store: &Engine, lease: &Lease) -> String {
        let handed_back = store.hand_back(lease, at(30)).await;
        self.of(lease, |generation| generation.is_given_up = true);
        format!("{handed_back:?}")
    }

    /// Claims every live operation as soon as that is possible, and returns when it was and what is found then. Nobody
    /// claims them after that.
    pub(super) async fn drain(&self, store: &Engine) -> Vec<String> {
        let term = LeaseTerm(Duration::from_secs(FOR_EVER.unsigned_abs()));
        let mut found = Vec::new();
        while let Some(now) = answered(async || store.next_claimable_at().await).await {
            if now >= at(FOR_EVER) {
                break;
            }
            let mut claimed = Vec::new();
            let mut is_answered = true;
            for _ in 0..TRIES {
                match store.claim_due_operations("nobody", now, term, 1_000).await {
                    // It may have been made. Another one would not show it.
                    Err(error @ Error::Unavailable(_)) => {
                        found.push(format!("Err({error:?})"));
                        is_answered = false;
                        break;
                    }
                    answer => claimed = answer.unwrap(),
                }
                if !claimed.is_empty() {
                    break;
                }
            }
            assert!(
                !claimed.is_empty() || !is_answered,
                "nothing can be claimed at {now:?}"
            );
            for claimed in claimed {
                found.push(format!("claimable at {now:?}: {}", told(&claimed)));
                self.hand_out(&claimed, now);
            }
        }
        found
    }

    fn hand_out(&self, claimed: &Claimed, now: Timestamp) {
        let Claimed {
            lease, operation, ..
        } = claimed;
        let header = &operation.header;
        assert!(!operation.is_terminal(), "{} has ended", header.id);
        assert!(header.due_at <= now, "{} is not due", header.id);
        let generation = Generation {
            claimed_at: now,
            ends: vec![lease.expires_at],
            is_given_up: false,
            has_ended: false,
        };
        let mut told = self.0.lock().unwrap();
        let key = (lease.operation, lease.generation);
        let other = told.generations.insert(key, generation);
        assert!(other.is_none(), "two hold {lease:?}");
    }

    fn of(&self, lease: &Lease, change: impl FnOnce(&mut Generation)) {
        let mut told = self.0.lock().unwrap();
        let key = (lease.operation, lease.generation);
        change(told.generations.get_mut(&key).unwrap());
    }

    /// Checks that nobody has taken a lease over before its end, nor claimed what had ended.
    pub(super) fn check(&self) {
        let told = self.0.lock().unwrap();
        for ((id, number), generation) in &told.generations {
            let Some(next) = told.generations.get(&(*id, number + 1)) else {
                continue;
            };
            assert!(
                !generation.has_ended,
                "{id} was claimed again after it had ended: {generation:?}"
            );
            let last = generation.ends.iter().rev().take(2).min();
            assert!(
                generation.is_given_up || last.is_none_or(|end| *end <= next.claimed_at),
                "{id} was taken over early: {generation:?}, {next:?}"
            );
        }
    }
}

/// Returns everything that a claim tells.
fn told(claimed: &Claimed) -> String {
    let documents = &claimed.documents;
    let sealed = [&documents.desired, &documents.document, &documents.look];
    let sealed = sealed.map(|sealed| sealed.as_ref().map(text));
    let Claimed {
        lease,
        operation,
        baseline,
        ..
    } = claimed;
    format!("{lease:?} {operation:?} {baseline:?} {sealed:?}\n")
}
