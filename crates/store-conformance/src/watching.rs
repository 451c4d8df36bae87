//! [`Watches`](ucp_store::Watches).

use ucp_model::operation::{Call, CancelAsked};
use ucp_model::{Operation, RequestToken, State, Timestamp};
use ucp_store::{Lease, WaitingOperation, WaitingScope, Watch};

use super::fixture::*;

/// The key of the scope of the fixture.
fn here() -> String {
    scope().key()
}

/// An operation that waits, due at second 100, and its lease.
async fn waiting(store: &Engine, number: u64) -> Lease {
    let name = format!("resource-{number}");
    let claimed = accept_and_claim(store, untracked(put(number, "-"), &name)).await;
    let waits = stepped(&claimed.operation, |work| {
        let request = RequestToken::new(format!("request-{number}"));
        work.state = State::Waiting(intent(Call::Create, None), request);
    });
    let waits = due(&waits, at(100));
    let step = store.commit_step(&claimed.lease, &waits, None, at(5), TERM);
    let lease = step.await.unwrap();
    store.release_lease(&lease).await.unwrap();
    lease
}

fn found(number: u64, due_at: Timestamp) -> WaitingOperation {
    WaitingOperation {
        id: operation_id(number),
        request: RequestToken::new(format!("request-{number}")),
        due_at,
    }
}

async fn all_waiting(store: &Engine) -> Vec<WaitingOperation> {
    let here = here();
    let listed = store.list_waiting_operations(&here, None, 100);
    listed.await.unwrap()
}

/// Only operations that wait are listed, by page, and only scopes with enough of them.
pub async fn what_waits_is_listed_by_scope(store: Engine) {
    accept(&store, untracked(put(9, "-"), "accepted")).await;
    claim_one(&store, at(2)).await;
    for number in [3, 1, 2] {
        waiting(&store, number).await;
    }
    let all = [1, 2, 3].map(|number| found(number, at(100)));
    assert_eq!(all_waiting(&store).await, all);
    let second = RequestToken::new("request-2");
    for (after, limit, expected) in [
        (None, 2, &all[..2]),
        (Some(&second), 2, &all[2..]),
        (Some(&all[2].request), 2, &[]),
    ] {
        let page = store.list_waiting_operations(&here(), after, limit).await;
        assert_eq!(page.unwrap(), expected);
    }
    let elsewhere = store.list_waiting_operations("none", None, 100).await;
    assert_eq!(elsewhere.unwrap(), []);
    for (least, count) in [(1, 1), (3, 1), (4, 0)] {
        let scopes = store.list_waiting_scopes(least).await.unwrap();
        assert_eq!(scopes.len(), count, "{least}");
    }
    // Its request has ended.
    let mut claimed = claim(&store, at(100)).await.into_iter();
    let claimed = claimed.find(|it| it.operation.header.id == operation_id(1));
    let claimed = claimed.unwrap();
    let observing = stepped(&claimed.operation, |work| {
        work.state = State::Observing(ucp_model::Action::Create);
    });
    let step = store.commit_step(&claimed.lease, &observing, None, at(101), TERM);
    let lease = step.await.unwrap();
    let left: Vec<_> = all_waiting(&store).await;
    assert_eq!(left.len(), 2);
    finish(&store, &lease, applied(&observing, "x", false)).await;
    assert_eq!(all_waiting(&store).await, left);
}

/// One process keeps a watch, until it expires.
pub async fn a_watch_has_one_owner(store: Engine) {
    waiting(&store, 1).await;
    let watch = async || {
        let scopes = store.list_waiting_scopes(1).await.unwrap();
        let [WaitingScope { scope, watch, .. }] = &scopes[..] else {
            panic!("{scopes:?}");
        };
        assert_eq!(*scope, here());
        watch.clone()
    };
    let keep = async |owner, works_until, now| {
        let here = here();
        let kept = store.keep_watch(&here, owner, works_until, now, TERM);
        kept.await.unwrap()
    };
    assert_eq!(watch().await, None);
    assert!(keep("a", None, at(10)).await);
    assert!(!keep("b", Some(at(90)), at(69)).await, "it is kept");
    assert!(keep("a", Some(at(40)), at(20)).await);
    assert!(keep("a", Some(at(30)), at(20)).await);
    let kept = Watch {
        owner: "a".to_owned(),
        expires_at: at(20).after(TERM.0),
        works_until: at(40),
    };
    assert_eq!(watch().await, Some(kept.clone()));
    assert!(keep("b", None, kept.expires_at).await, "it has expired");
    assert!(!keep("a", None, at(81)).await);
    let taken = Watch {
        owner: "b".to_owned(),
        expires_at: kept.expires_at.after(TERM.0),
        ..kept
    };
    assert_eq!(watch().await, Some(taken.clone()));
    store.end_watch(&here(), "a").await.unwrap();
    assert_eq!(watch().await, Some(taken.clone()));
    let few = store.list_waiting_scopes(2).await.unwrap();
    let few = few.into_iter().map(|it| (it.is_crowded, it.watch));
    assert_eq!(few.collect::<Vec<_>>(), [(false, Some(taken))]);
    store.end_watch(&here(), "b").await.unwrap();
    assert_eq!(watch().await, None);
}

/// Whoever sees the end of a request does not see that it takes too long.
pub async fn what_takes_too_long_is_not_put_off(store: Engine) {
    let claimed = accept_and_claim(&store, untracked(put(1, "-"), "resource-1")).await;
    let waits = stepped(&claimed.operation, |work| {
        let request = RequestToken::new("request-1".to_owned());
        work.state = State::Waiting(intent(Call::Create, None), request);
        work.state_since = at(5);
        work.time_limits.create = Some(2);
    });
    let commit = async |operation: &Operation, lease: &Lease, now| {
        let step = store.commit_step(lease, operation, None, now, TERM);
        let lease = step.await.unwrap();
        store.release_lease(&lease).await.unwrap();
    };
    commit(&due(&waits, at(100)), &claimed.lease, at(5)).await;
    let reschedule = async |due_at, expected| {
        let ids = [operation_id(1)];
        let changed = store.reschedule_waiting(&ids, at(50), due_at);
        let changed = changed.await.unwrap();
        let all = all_waiting(&store).await;
        assert_eq!((changed, all), expected);
    };
    reschedule(at(110), (1, vec![found(1, at(110))])).await;
    reschedule(at(200), (1, vec![found(1, at(125))])).await;
    reschedule(at(300), (0, vec![found(1, at(125))])).await;
    reschedule(at(120), (1, vec![found(1, at(120))])).await;
    // It has asked AWS to cancel, and will again.
    let claimed = claim(&store, at(126)).await.remove(0);
    let cancels = stepped(&claimed.operation, |work| {
        work.cancel_asked = Some(CancelAsked {
            times: 1,
            next_at: at(140),
        });
    });
    commit(&due(&cancels, at(130)), &claimed.lease, at(126)).await;
    reschedule(at(300), (1, vec![found(1, at(140))])).await;
}

/// What waits becomes due earlier or later. What is due already, or to be cancelled, is not put off.
pub async fn what_waits_is_rescheduled(store: Engine) {
    let accepted = untracked(put(9, "-"), "accepted");
    accept(&store, accepted).await;
    let not_waiting = claim_one(&store, at(2)).await;
    for number in 1..=3 {
        waiting(&store, number).await;
    }
    let ids = [1, 2, 3, 9, 77].map(operation_id);
    let reschedule = async |now, due_at| {
        let changed = store.reschedule_waiting(&ids, now, due_at);
        changed.await.unwrap()
    };
    let due = async || -> Vec<Timestamp> {
        let all = all_waiting(&store).await;
        all.into_iter().map(|it| it.due_at).collect()
    };
    assert_eq!(reschedule(at(50), at(200)).await, 3);
    assert_eq!(due().await, [at(200); 3]);
    store.request_cancel(operation_id(2), at(60)).await.unwrap();
    assert_eq!(due().await, [at(200), at(60), at(200)]);
    assert_eq!(
        reschedule(at(59), at(300)).await,
        2,
        "not what is to be cancelled"
    );
    assert_eq!(reschedule(at(70), at(70)).await, 2, "not what is due");
    assert_eq!(due().await, [at(70), at(60), at(70)]);
    assert_eq!(reschedule(at(70), at(300)).await, 0, "nothing that is due");
    assert_eq!(reschedule(at(59), at(59)).await, 3, "earlier");
    let next = not_waiting.operation.header.due_at;
    let read = store.get_operation(operation_id(9)).await.unwrap();
    assert_eq!(read.unwrap().header.due_at, next);
    assert_eq!(claim(&store, at(59)).await.len(), 3);
}
