//! Claiming, renewing and releasing.

use std::collections::BTreeSet;
use std::time::Duration;

use ucp_model::Scope;
use ucp_store::holding::Hold;
use ucp_store::{
    CONDEMNED, Claimed, Documents, Error, LeaseTerm, NewOperation, SUSPECTED, TAKEN_OVER_OFTEN,
};

use super::fixture::*;

/// Operations are claimed earliest first, up to the limit.
pub async fn due_operations_are_claimed_earliest_first(store: Engine) {
    for (number, second) in [(1, 30), (2, 10), (3, 20)] {
        let new = NewOperation {
            accepted_at: at(second),
            ..untracked(put(number, "-"), &number.to_string())
        };
        accept(&store, new).await;
    }
    let claim = |limit| store.claim_due_operations("worker", at(40), TERM, limit);
    assert!(claim(0).await.unwrap().is_empty());
    let ids = |claimed: Vec<Claimed>| -> Vec<_> {
        let ids = claimed.iter().map(|claimed| claimed.operation.header.id);
        ids.collect()
    };
    let first = claim(2).await.unwrap();
    assert_eq!(first[0].lease.owner, "worker");
    assert_eq!(first[0].lease.generation, 1);
    assert_eq!(first[0].lease.operation, operation_id(2));
    assert_eq!(first[0].lease.expires_at, at(40).after(TERM.0));
    assert_eq!(ids(first), [operation_id(2), operation_id(3)]);
    assert_eq!(ids(claim(2).await.unwrap()), [operation_id(1)]);
    assert!(claim(2).await.unwrap().is_empty());
}

/// A claim returns the documents and the baseline.
pub async fn a_claimed_operation_brings_its_documents_and_baseline(store: Engine) {
    with_group(&store, "rg").await;
    let claimed = accept_and_claim(&store, put(1, "a")).await;
    assert_eq!(claimed.baseline, None);
    let documents = Documents {
        desired: Some(sealed("desired")),
        ..Documents::default()
    };
    assert_eq!(claimed.documents, documents);
    finish(
        &store,
        &claimed.lease,
        applied(&claimed.operation, "x", true),
    )
    .await;

    let claimed = accept_and_claim(&store, delete(2, "a")).await;
    assert_eq!(claimed.baseline, Some(baseline("x")));
    assert_eq!(claimed.documents, Documents::default());
}

/// An operation is not claimed before it is due, nor while its lease lasts.
pub async fn nobody_claims_what_is_held_or_not_yet_due(store: Engine) {
    accept(&store, untracked(put(1, "-"), "x")).await;
    assert!(claim(&store, at(0)).await.is_empty(), "not yet due");
    assert_eq!(
        claim(&store, at(1)).await.len(),
        1,
        "due to the millisecond"
    );
    assert!(claim(&store, at(60)).await.is_empty(), "held");
}

/// The next claim has a generation of its own.
pub async fn a_lease_that_ran_out_is_taken_over(store: Engine) {
    let old = accept_and_claim(&store, untracked(put(1, "-"), "x")).await;
    let new = claim(&store, old.lease.expires_at).await.remove(0);
    assert_eq!(new.lease.generation, old.lease.generation + 1);
    assert_eq!(new.operation, old.operation);
    refused!(
        store.renew_lease(&old.lease, at(70), TERM),
        Error::LeaseLost
    );
    store.renew_lease(&new.lease, at(70), TERM).await.unwrap();
}

/// A step that is written and a release begin the count anew. What is handed back was not given up.
pub async fn take_overs_are_counted(store: Engine) {
    let first = accept_and_claim(&store, untracked(put(1, "-"), "x")).await;
    assert_eq!(first.lease.takeovers, 0);
    let mut claimed = first;
    for takeovers in (1..=TAKEN_OVER_OFTEN).chain([TAKEN_OVER_OFTEN; 3]) {
        claimed = claim(&store, claimed.lease.expires_at).await.remove(0);
        assert_eq!(claimed.lease.takeovers, takeovers);
    }
    let now = claimed.lease.expires_at;
    let step = store.commit_step(&claimed.lease, &claimed.operation, None, now, TERM);
    let lease = step.await.unwrap();
    assert_eq!(lease, claimed.lease.stepped(now, TERM));
    store.hand_back(&lease, lease.expires_at).await.unwrap();
    let claimed = claim(&store, lease.expires_at).await.remove(0);
    assert_eq!(claimed.lease.takeovers, 0, "a step was written");

    store.take_over_leases().await.unwrap();
    let claimed = claim(&store, lease.expires_at).await.remove(0);
    let taken_over = claimed.lease.takeovers;
    assert_eq!(taken_over, 1, "the process was started again");

    let not_before = claimed.lease.expires_at;
    store.hand_back(&claimed.lease, not_before).await.unwrap();
    assert!(claim(&store, at(1)).await.is_empty(), "handed back");
    let claimed = claim(&store, not_before).await.remove(0);
    assert_eq!(claimed.lease.takeovers, 1, "it was handed back");

    store.release_lease(&claimed.lease).await.unwrap();
    let claimed = claim(&store, not_before).await.remove(0);
    assert_eq!(claimed.lease.takeovers, 0, "it was released");
    store.hand_back(&claimed.lease, not_before).await.unwrap();
    let claimed = claim(&store, not_before).await.remove(0);
    assert_eq!(claimed.lease.takeovers, 0, "no lease has run out");
}

/// The end of a holder is held against an operation that was armed then, and against no other.
pub async fn who_dies_with_what_is_armed_is_counted(store: Engine) {
    let long = LeaseTerm(Duration::from_secs(600));
    let mut claimed = accept_and_claim(&store, untracked(put(1, "-"), "x")).await;
    claimed = claim(&store, claimed.lease.expires_at).await.remove(0);
    for (before, after) in [(1, SUSPECTED), (SUSPECTED, CONDEMNED)] {
        assert_eq!(claimed.lease.takeovers, before);
        let now = claimed.lease.expires_at;
        let armed = store.arm(&claimed.lease, now, long).await.unwrap();
        assert_eq!(armed, claimed.lease.renewed(now, long));
        let disarmed = store.disarm(&armed, now, TERM).await.unwrap();
        assert_eq!(disarmed, claimed.lease.renewed(now, TERM));
        let taken = claim(&store, disarmed.expires_at).await.remove(0);
        let count = if before == 1 { 2 } else { before };
        assert_eq!(taken.lease.takeovers, count, "it was disarmed");
        refused!(store.arm(&armed, now, TERM), Error::LeaseLost);
        refused!(store.disarm(&armed, now, TERM), Error::LeaseLost);

        let now = taken.lease.expires_at;
        let armed = store.arm(&taken.lease, now, long).await.unwrap();
        store.hand_back(&armed, now).await.unwrap();
        let taken = claim(&store, now).await.remove(0);
        assert_eq!(taken.lease.takeovers, count, "it was handed back");

        // Twice, since a reply may be lost.
        let armed = store.arm(&taken.lease, now, long).await.unwrap();
        let armed = store.arm(&armed, now, long).await.unwrap();
        assert!(claim(&store, now.after(long.0 / 2)).await.is_empty());
        claimed = claim(&store, armed.expires_at).await.remove(0);
        assert_eq!(claimed.lease.takeovers, after);
    }
    // It stays so, whoever claims it and hands it back.
    let not_before = claimed.lease.expires_at;
    store.hand_back(&claimed.lease, not_before).await.unwrap();
    let claimed = claim(&store, not_before).await.remove(0);
    assert_eq!(claimed.lease.takeovers, CONDEMNED);
    let claimed = claim(&store, claimed.lease.expires_at).await.remove(0);
    assert_eq!(claimed.lease.takeovers, CONDEMNED);
}

/// A step that is written disarms, and nothing is held against the operation any more.
pub async fn a_step_that_is_written_disarms(store: Engine) {
    let old = accept_and_claim(&store, untracked(put(1, "-"), "x")).await;
    let new = claim(&store, old.lease.expires_at).await.remove(0);
    let now = new.lease.expires_at;
    let armed = store.arm(&new.lease, now, TERM).await.unwrap();
    let step = store.commit_step(&armed, &new.operation, None, now, TERM);
    let lease = step.await.unwrap();
    let claimed = claim(&store, lease.expires_at).await.remove(0);
    assert_eq!(claimed.lease.takeovers, 1);
}

/// Clock skew has no effect as long as nobody else has claimed the operation.
pub async fn a_lease_that_ran_out_is_good_until_it_is_taken(store: Engine) {
    let claimed = accept_and_claim(&store, untracked(put(1, "-"), "x")).await;
    let lease = store.renew_lease(&claimed.lease, at(500), TERM).await;
    let lease = lease.unwrap();
    let step = store.commit_step(&lease, &claimed.operation, None, at(900), TERM);
    let lease = step.await.unwrap();
    finish(&store, &lease, applied(&claimed.operation, "x", false)).await;
}

/// Every write under a lost lease fails with `LeaseLost`.
pub async fn a_lost_lease_writes_nothing(store: Engine) {
    with_group(&store, "rg").await;
    let old = accept_and_claim(&store, put(1, "a")).await;
    let new = claim(&store, at(100)).await.remove(0);
    let before = (operation(&store, 1).await, reference(&store, "a").await);

    let stepped = stepped(&old.operation, |work| {
        work.attempt = 7;
        work.identifier = identifier("y");
    });
    let document = || Some(sealed("late"));
    refused!(
        store.commit_step(&old.lease, &stepped, document(), at(101), TERM),
        Error::LeaseLost
    );
    refused!(
        store.renew_lease(&old.lease, at(101), TERM),
        Error::LeaseLost
    );
    refused!(
        store.finish_operation(&old.lease, applied(&old.operation, "y", true)),
        Error::LeaseLost
    );
    store.release_lease(&old.lease).await.unwrap();

    let after = (operation(&store, 1).await, reference(&store, "a").await);
    assert_eq!(after, before);
    assert!(claim(&store, at(102)).await.is_empty(), "still held");
    let events = store.list_events(&alias("a")).await.unwrap();
    assert!(events.is_empty());
    let again = claim(&store, at(1_000)).await.remove(0);
    assert_eq!(again.lease.generation, new.lease.generation + 1);
    assert_eq!(again.documents.document, None);
}

/// A released lease cannot be used again, and may be released twice.
pub async fn a_lease_handed_back_writes_nothing(store: Engine) {
    let old = accept_and_claim(&store, untracked(put(1, "-"), "x")).await;
    store.release_lease(&old.lease).await.unwrap();
    store.release_lease(&old.lease).await.unwrap();
    refused!(
        store.commit_step(&old.lease, &old.operation, None, at(3), TERM),
        Error::LeaseLost
    );
    refused!(store.renew_lease(&old.lease, at(3), TERM), Error::LeaseLost);
    refused!(
        store.finish_operation(&old.lease, applied(&old.operation, "x", false)),
        Error::LeaseLost
    );
    let new = claim(&store, at(3)).await.remove(0);
    assert_eq!(new.lease.generation, 2);
    store.release_lease(&old.lease).await.unwrap();
    store.renew_lease(&new.lease, at(4), TERM).await.unwrap();
}

/// The new term starts at `now`. A lease is never shortened.
pub async fn renewing_prolongs(store: Engine) {
    let claimed = accept_and_claim(&store, untracked(put(1, "-"), "x")).await;
    let lease = store.renew_lease(&claimed.lease, at(50), TERM).await;
    let lease = lease.unwrap();
    assert_eq!(lease.expires_at, at(50).after(TERM.0));
    assert_eq!(lease.generation, claimed.lease.generation);
    let short = LeaseTerm(TERM.0 / 2);
    store.renew_lease(&lease, at(60), short).await.unwrap();
    assert!(claim(&store, at(109)).await.is_empty(), "shortened");
    assert_eq!(claim(&store, at(110)).await.len(), 1);
}

/// The only process need not wait for the leases of its predecessor.
pub async fn all_leases_can_be_taken_over(store: Engine) {
    accept(&store, untracked(put(1, "-"), "x")).await;
    accept(&store, untracked(put(2, "-"), "y")).await;
    let old = claim(&store, at(2)).await;
    assert_eq!(old.len(), 2);
    store.take_over_leases().await.unwrap();
    refused!(
        store.renew_lease(&old[0].lease, at(2), TERM),
        Error::LeaseLost
    );
    let new = claim(&store, at(2)).await;
    assert_eq!(new.len(), 2);
    assert!(new.iter().all(|claimed| claimed.lease.generation == 2));
}

/// A worker that sleeps until that time misses nothing.
pub async fn the_next_claim_is_foretold(store: Engine) {
    let next = || async { store.next_claimable_at().await.unwrap() };
    assert_eq!(next().await, None);
    let claimed = accept_and_claim(&store, untracked(put(1, "-"), "x")).await;
    let held_until = claimed.lease.expires_at;
    assert_eq!(next().await, Some(held_until));

    let new = NewOperation {
        accepted_at: at(20),
        ..untracked(put(2, "-"), "y")
    };
    accept(&store, new).await;
    assert_eq!(next().await, Some(at(20)));

    // Due later than the lease runs out.
    let stepped = due(&claimed.operation, at(15));
    let term = LeaseTerm(std::time::Duration::from_secs(1));
    let lease = store.commit_step(&claimed.lease, &stepped, None, at(3), term);
    let lease = lease.await.unwrap();
    assert_eq!(next().await, Some(at(15)));
    store.release_lease(&lease).await.unwrap();
    assert_eq!(next().await, Some(at(15)));
    let claimed = claim(&store, at(15)).await.remove(0);
    finish(&store, &claimed.lease, applied(&stepped, "x", false)).await;
    assert_eq!(next().await, Some(at(20)));
}

/// Nothing is claimed in crowded scopes, however much is due there. The other scopes take turns, and fewer than the limit
/// means that nothing else is due.
pub async fn scopes_take_turns_beside_crowded_ones(store: Engine) {
    let mut number = 0;
    for (account, second, count) in [("1", 1, 30), ("2", 2, 5), ("3", 3, 2), ("4", 50, 1)] {
        for _ in 0..count {
            number += 1;
            let new = with(untracked(put(number, "-"), &number.to_string()), |new| {
                new.scope = Scope::new("aws", account, "us-west-2").unwrap();
            });
            let accepted_at = at(second);
            accept(&store, NewOperation { accepted_at, ..new }).await;
        }
    }
    let crowded = ["1/us-west-2", "5/us-west-2"];
    let crowded = BTreeSet::from(crowded.map(str::to_owned));
    let next = async || store.next_claimable_elsewhere(&crowded).await.unwrap();
    let claim = async |limit| -> Vec<String> {
        let claimed = store.claim_elsewhere("worker", at(40), TERM, limit, &crowded);
        let claimed = claimed.await.unwrap().into_iter();
        let scopes = claimed.map(|claimed| {
            assert_eq!(claimed.lease.generation, 1);
            assert_eq!(claimed.lease.expires_at, at(40).after(TERM.0));
            claimed.operation.work.scope_key()
        });
        scopes.collect()
    };
    assert!(claim(0).await.is_empty());
    assert_eq!(next().await, Some(at(2)));
    assert_eq!(claim(1).await, ["2/us-west-2"]);
    let second = claim(3).await;
    assert_eq!(second, ["2/us-west-2", "2/us-west-2", "3/us-west-2"]);
    assert_eq!(claim(9).await.len(), 3);
    assert_eq!(next().await, Some(at(50)));
    assert!(claim(9).await.is_empty());
    assert_eq!(store.next_claimable_at().await.unwrap(), Some(at(1)));
    let rest = store.claim_due_operations("worker", at(40), TERM, 99);
    assert_eq!(rest.await.unwrap().len(), 30);
}

/// A claim beside crowded scopes takes no statement for each operation. After those that bring the operations there may be
/// one that finds no more.
pub async fn a_claim_beside_crowded_scopes_takes_few_statements(store: Engine) {
    let counts = [("1", 1), ("2", 40), ("3", 40), ("4", 5)];
    let mut number = 0;
    for (account, count) in counts {
        for _ in 0..count {
            number += 1;
            let new = with(untracked(put(number, "-"), &number.to_string()), |new| {
                new.scope = Scope::new("aws", account, "us-west-2").unwrap();
            });
            accept(&store, new).await;
        }
    }
    let crowded = BTreeSet::from(["1/us-west-2".to_owned()]);
    for (limit, expected, statements) in [
        // All shares are there.
        (9, [3, 3, 3], 1),
        // One scope is short of its share, so the others get more.
        (27, [13, 12, 2], 2),
        (99, [24, 25, 0], 2),
    ] {
        let hold = Hold::nowhere();
        let claim = store.claim_elsewhere("worker", at(40), TERM, limit, &crowded);
        let claimed = hold.clone().over(claim).await.unwrap();
        let of = |account| {
            let key = format!("{account}/us-west-2");
            let scopes = claimed.iter().map(|it| it.operation.work.scope_key());
            scopes.filter(|scope| *scope == key).count()
        };
        assert_eq!([of(2), of(3), of(4)], expected);
        let commit = 1;
        assert!(hold.passed() <= statements + commit, "{}", hold.passed());
    }
}

/// What is handed back has no lease, and is claimed again from the given time on.
pub async fn what_is_handed_back_waits_for_others(store: Engine) {
    let old = accept_and_claim(&store, untracked(put(1, "-"), "x")).await;
    store.hand_back(&old.lease, at(30)).await.unwrap();
    refused!(
        store.renew_lease(&old.lease, at(20), TERM),
        Error::LeaseLost
    );
    assert!(claim(&store, at(29)).await.is_empty());
    assert_eq!(store.next_claimable_at().await.unwrap(), Some(at(30)));
    let new = claim(&store, at(30)).await.remove(0);
    assert_eq!(new.lease.generation, old.lease.generation + 1);
    store.hand_back(&old.lease, at(31)).await.unwrap();
    let renewed = store.renew_lease(&new.lease, at(32), TERM).await;
    renewed.expect("a lease that was lost hands nothing back");
}
