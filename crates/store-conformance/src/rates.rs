//! The rates at which AWS is called, and the operations that wait for their turn.

use std::collections::BTreeMap;
use std::time::Duration;

use ucp_model::{CallClass, CallReport, RateKey};
use ucp_store::{Ask, Claimed, LONGEST_WAIT, Lease, NewOperation, Pace};

use super::fixture::*;

fn key() -> RateKey {
    RateKey {
        scope: "123456789012/us-west-2".to_owned(),
        class: CallClass::Mutations,
    }
}

fn wants(wants: u32) -> Ask {
    Ask {
        wants,
        ..Ask::default()
    }
}

async fn pace(store: &Engine, ask: Ask, seconds: i64) -> Pace {
    store.pace(&key(), &ask, at(seconds)).await.unwrap()
}

/// Empties the bucket.
async fn drain(store: &Engine, seconds: i64) {
    let drained = pace(store, wants(1_000), seconds).await;
    assert!(drained.given > 0, "{drained:?}");
    let empty = pace(store, wants(1), seconds).await;
    assert_eq!(empty.given, 0, "{empty:?}");
}

/// Reads ask one after the other, and nobody waits in the store. What AWS takes meanwhile is learned.
pub async fn a_rate_is_learned_from_those_who_ask_one_after_the_other(store: Engine) {
    let key = RateKey {
        class: CallClass::Reads,
        ..key()
    };
    let ask = async |wants, report, millis| {
        let ask = Ask {
            wants,
            report,
            begins_at: Some(20.0),
            ..Ask::default()
        };
        store.pace(&key, &ask, at(1).after(millis)).await.unwrap()
    };
    let refused = CallReport {
        refused: 1,
        ..CallReport::default()
    };
    let taken = CallReport {
        taken: 1,
        ..CallReport::default()
    };
    const RATE: f64 = 8.0;
    let (mut tokens, mut report) = (RATE, CallReport::default());
    let (mut told, mut refusals) = (0, 0);
    for tick in 1..=2_400 {
        let now = Duration::from_millis(50) * tick;
        tokens = (tokens + 0.05 * RATE).min(RATE);
        while ask(1, std::mem::take(&mut report), now).await.given > 0 {
            if tokens >= 1.0 {
                tokens -= 1.0;
                report = report.with(taken);
                continue;
            }
            ask(0, std::mem::take(&mut report).with(refused), now).await;
            told = tick;
            refusals += 1;
        }
    }
    let rate = ask(0, CallReport::default(), Duration::from_secs(120))
        .await
        .rate;
    assert!((RATE / 2.0..=RATE * 1.2).contains(&rate), "{rate} a second");
    assert!(refusals <= 24, "{refusals} refusals, the last at {told}");
}

async fn wait(store: &Engine, claimed: &[Claimed], seconds: i64) {
    let leases: Vec<Lease> = claimed
        .iter()
        .map(|claimed| claimed.lease.clone())
        .collect();
    let key = key();
    let waiting = store.wait_for_turn(&leases, &key, at(seconds));
    waiting.await.unwrap();
}

/// Accepts puts in groups, claims them, and lets them wait. Their numbers are in the order of the groups that are given.
async fn waiting(store: &Engine, groups: &[&str]) {
    let mut made = std::collections::BTreeSet::new();
    for (number, name) in (1..).zip(groups) {
        if made.insert(*name) {
            with_group(store, name).await;
        }
        let new = with(put(number, "-"), |new| {
            let of_group = format!(
                "{}/providers/{}:reference/alias-{number}",
                group(name),
                new.type_name.arm()
            );
            new.reference = Some(of_group.parse().unwrap());
        });
        accept(store, new).await;
    }
    let claimed = claim(store, at(2)).await;
    assert_eq!(claimed.len(), groups.len());
    assert!(claimed.iter().all(|claimed| !claimed.has_permit));
    wait(store, &claimed, 2).await;
}

/// Returns the numbers of those that can be claimed, all of which have a permit.
async fn permitted(store: &Engine, seconds: i64) -> Vec<u64> {
    let claimed = claim(store, at(seconds)).await;
    let number = |claimed: &Claimed| {
        assert!(claimed.has_permit, "{claimed:?}");
        assert_eq!(claimed.operation.header.waits_for, None);
        u64::from_str_radix(
            &claimed.operation.header.id.to_string().replace('-', ""),
            16,
        )
        .unwrap()
    };
    let mut numbers: Vec<u64> = claimed.iter().map(number).collect();
    numbers.sort_unstable();
    numbers
}

/// All processes take from one bucket.
pub async fn a_bucket_is_shared(store: Engine) {
    let first = pace(&store, wants(4), 0).await;
    assert_eq!((first.given, first.is_waited_for), (4, false));
    let second = pace(&store, wants(1_000), 0).await;
    assert!(second.given < 1_000, "{second:?}");
    assert_eq!(pace(&store, wants(1), 0).await.given, 0);
    assert!(second.next_at > at(0));
    let later = pace(&store, wants(1_000), 1).await;
    assert!(later.given > 0, "{later:?}");
    // What another process reports slows all of them down.
    let refused = Ask {
        report: CallReport {
            refused: 1,
            ..CallReport::default()
        },
        ..Ask::default()
    };
    let refused = pace(&store, refused, 2).await;
    assert!(refused.rate < later.rate, "{refused:?} after {later:?}");
    // A ceiling holds for who has it.
    let ceiling = Ask {
        ceiling: Some(0.5),
        ..wants(1_000)
    };
    assert!(pace(&store, ceiling, 100).await.given <= 1);
}

/// Nobody claims what waits, and it says for what.
pub async fn what_waits_for_its_turn_is_not_claimed(store: Engine) {
    drain(&store, 2).await;
    waiting(&store, &["rg"]).await;
    assert_eq!(claim(&store, at(1_000)).await, []);
    let longest = at(2).after(LONGEST_WAIT);
    assert_eq!(store.next_claimable_at().await.unwrap(), Some(longest));
    let operation = store.get_operation(operation_id(1)).await.unwrap().unwrap();
    assert_eq!(operation.header.waits_for, Some(key()));
    assert!(operation.header.due_at > at(2));
    assert!(operation.header.due_at < at(60), "{operation:?}");
    assert_eq!(store.list_rates_waited_for().await.unwrap(), [key()]);
    // It is released by whoever asks, and comes before who asks.
    let paced = pace(&store, wants(1), 3).await;
    assert_eq!(paced.released, 1, "{paced:?}");
    assert!(!paced.is_waited_for);
    assert_eq!(store.list_rates_waited_for().await.unwrap(), []);
    let claimed = claim_one(&store, at(4)).await;
    assert!(claimed.has_permit);
    // The permit is used up with the step.
    let step = store.commit_step(&claimed.lease, &claimed.operation, None, at(5), TERM);
    let lease = step.await.unwrap();
    store.release_lease(&lease).await.unwrap();
    assert!(!claim_one(&store, at(100)).await.has_permit);
}

/// A group in which many wait does not put off another one, and nobody is told so.
pub async fn it_is_told_when_it_is_likely_to_have_its_turn(store: Engine) {
    drain(&store, 2).await;
    waiting(&store, &["greedy", "greedy", "greedy", "greedy", "rg"]).await;
    let mut due_at = Vec::new();
    for number in 1..=5 {
        let operation = store.get_operation(operation_id(number)).await.unwrap();
        due_at.push(operation.unwrap().header.due_at);
    }
    let last = due_at.pop().unwrap();
    due_at.sort_unstable();
    assert!(last > at(2) && last <= due_at[1], "{last} {due_at:?}");
    assert!(due_at[3] > due_at[1], "{due_at:?}");
}

/// Should nobody release it, it is claimed after an hour. It waits again, in its place.
pub async fn what_nobody_releases_is_claimed_in_the_end(store: Engine) {
    drain(&store, 2).await;
    waiting(&store, &["rg"]).await;
    let hour = 2 + 60 * 60;
    assert_eq!(claim(&store, at(hour - 1)).await, []);
    let claimed = claim_one(&store, at(hour)).await;
    assert!(!claimed.has_permit);
    let new = with(put(2, "-"), |new| new.reference = Some(alias("other")));
    let accepted_at = at(100);
    accept(&store, NewOperation { accepted_at, ..new }).await;
    let other = claim_one(&store, at(hour)).await;
    wait(&store, &[other], hour).await;
    wait(&store, &[claimed], hour).await;
    let ask = Ask {
        ceiling: Some(1.0),
        ..Ask::default()
    };
    assert_eq!(pace(&store, ask, hour + 1).await.released, 1);
    assert_eq!(permitted(&store, hour + 2).await, [1]);
}

/// A group with much to do does not hold others up, however few have their turn at a time.
pub async fn groups_have_their_turn_one_after_the_other(store: Engine) {
    drain(&store, 2).await;
    // The first nine in one group, one in each of the others.
    let groups = ["greedy"; 9].into_iter().chain(["b", "z"]);
    waiting(&store, &groups.collect::<Vec<_>>()).await;
    let slow = |seconds| {
        let ask = Ask {
            ceiling: Some(1.0),
            ..Ask::default()
        };
        pace(&store, ask, seconds)
    };
    let mut order = Vec::new();
    for seconds in 3..9 {
        let paced = slow(seconds).await;
        assert_eq!(paced.released, 1, "{paced:?}");
        assert!(paced.is_waited_for);
        order.extend(permitted(&store, seconds + 1).await);
    }
    assert_eq!(order, [10, 1, 11, 2, 3, 4]);
}

/// Many that have their turn at once are due one after the other.
pub async fn turns_are_shared_by_weight(store: Engine) {
    drain(&store, 2).await;
    waiting(&store, &["a", "a", "a", "a", "b", "b", "b", "b", "b", "b"]).await;
    let ask = Ask {
        weights: BTreeMap::from([(group("b").key(), 3)]),
        ceiling: Some(8.0),
        ..Ask::default()
    };
    let paced = pace(&store, ask, 3).await;
    assert_eq!(paced.released, 8, "{paced:?}");
    let mut released = Vec::new();
    for number in 1..=10 {
        let operation = store.get_operation(operation_id(number)).await.unwrap();
        let header = operation.unwrap().header;
        if header.waits_for.is_none() {
            released.push((header.due_at, number));
        }
    }
    released.sort_unstable();
    let times: std::collections::BTreeSet<_> = released.iter().map(|(at, _)| *at).collect();
    assert_eq!(times.len(), 8, "{released:?}");
    let mut numbers: Vec<u64> = released.into_iter().map(|(_, number)| number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2, 5, 6, 7, 8, 9, 10]);
}

/// A cancel waits for no turn, whether it is requested before or after the operation waits.
pub async fn a_cancel_waits_for_no_turn(store: Engine) {
    drain(&store, 2).await;
    waiting(&store, &["rg"]).await;
    store.request_cancel(operation_id(1), at(3)).await.unwrap();
    let claimed = claim_one(&store, at(3)).await;
    assert_eq!(claimed.operation.header.waits_for, None);
    assert!(!claimed.has_permit);
    wait(&store, &[claimed], 4).await;
    assert_eq!(store.list_rates_waited_for().await.unwrap(), []);
    claim_one(&store, at(4)).await;
}

/// A worker that has lost its lease makes nobody wait.
pub async fn who_lost_a_lease_lets_nobody_wait(store: Engine) {
    with_group(&store, "rg").await;
    let old = accept_and_claim(&store, put(1, "alias")).await;
    let new = claim_one(&store, at(1_000)).await;
    wait(&store, &[old], 1_001).await;
    assert_eq!(store.list_rates_waited_for().await.unwrap(), []);
    let renewed = store.renew_lease(&new.lease, at(1_002), TERM).await;
    renewed.expect("its lease is not touched");
}

/// Buckets that nobody asks go. Who waits for one waits for a new one.
pub async fn idle_buckets_go(store: Engine) {
    drain(&store, 2).await;
    assert_eq!(store.remove_idle_rates(at(2), 10).await.unwrap(), 0);
    waiting(&store, &["rg"]).await;
    assert_eq!(store.remove_idle_rates(at(3), 10).await.unwrap(), 1);
    assert_eq!(store.list_rates_waited_for().await.unwrap(), [key()]);
    assert_eq!(pace(&store, Ask::default(), 4).await.released, 1);
    assert_eq!(store.remove_idle_rates(at(5), 10).await.unwrap(), 1);
    // It begins anew.
    assert!(pace(&store, wants(1), 5).await.given > 0);
}
