//! What is recorded, and when.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use ucp_audit::testing::{Mood, Moody};
use ucp_audit::{AuditEvent, AuditOutcome, Auditor, Trouble, Waiting, auditing};
use ucp_model::{CorrelationId, Timestamp};
use ucp_store::{AuditEvents, AuditPlace, Memory};

/// The statuses of the stored events, earliest first, and how many were suppressed before each.
async fn stored(store: &Moody) -> Vec<(u16, u64)> {
    let listed = store
        .list_audit_events(Timestamp::default(), AuditPlace::END, 100_000)
        .await
        .expect("it works");
    let listed = listed.iter().rev();
    listed
        .map(|stored| {
            (
                stored.event.status.expect("it works"),
                stored.event.suppressed,
            )
        })
        .collect()
}

fn start(waiting: Waiting) -> (Auditor, Arc<Moody>) {
    let store = Arc::new(Moody::new(Arc::new(Memory::default())));
    let (auditor, recorder) = auditing(store.clone(), None, waiting);
    tokio::spawn(recorder.run());
    (auditor, store)
}

fn event(status: u16, second: i64) -> AuditEvent {
    AuditEvent {
        at: Timestamp::from_millis(1_767_225_600_000 + second * 1_000),
        caller: "anonymous".to_owned(),
        peer: None,
        action: "PUT".to_owned(),
        id: "/planes".to_owned(),
        outcome: match status {
            200..=399 => AuditOutcome::Allowed,
            401 | 403 => AuditOutcome::Refused,
            _ => AuditOutcome::Failed,
        },
        status: Some(status),
        code: None,
        correlation_id: CorrelationId::new("deployment"),
        request_id: "request".to_owned(),
        operation: None,
        change: None,
        paths: Vec::new(),
        suppressed: 0,
    }
}

#[tokio::test]
async fn what_comes_together_is_written_in_one_statement() {
    let (auditor, store) = start(Waiting::No);
    for status in 200..210 {
        auditor.record(event(status, 0)).await.expect("it works");
    }
    auditor.flush().await;
    assert_eq!(stored(&store).await.len(), 10);
    assert_eq!(store.statements(), 1);
}

#[tokio::test]
async fn what_changed_nothing_takes_no_statement() {
    let (auditor, store) = start(Waiting::Required);
    let unchanged = AuditEvent {
        outcome: AuditOutcome::Unchanged,
        ..event(200, 0)
    };
    auditor.record(unchanged).await.expect("it works");
    auditor.flush().await;
    assert_eq!(store.statements(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_required_event_is_written_or_refused() {
    let (auditor, store) = start(Waiting::Required);
    auditor.record(event(200, 0)).await.expect("it works");
    assert_eq!(stored(&store).await, [(200, 0)]);
    store.be(Mood::Unavailable);
    assert!(auditor.is_able());
    auditor.record(event(201, 0)).await.expect_err("it fails");
    assert!(!auditor.is_able());
    // It is tried again without a request, so that the probe of a server without traffic turns green.
    store.be(Mood::Takes);
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(auditor.is_able());
    assert_eq!(stored(&store).await, [(200, 0), (201, 0)]);
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_unless_it_is_required() {
    let (auditor, store) = start(Waiting::No);
    store.be(Mood::Unavailable);
    auditor.record(event(200, 0)).await.expect("it works");
    auditor.flush().await;
    assert!(auditor.trouble().is_some() && auditor.is_able());
    store.be(Mood::Takes);
    auditor.flush().await;
    assert_eq!(stored(&store).await, [(200, 0)]);
}

/// While the store takes nothing, no more is kept than there is room for. The first event after that tells how many were
/// lost.
#[tokio::test(start_paused = true)]
async fn what_waits_has_an_end() {
    let (auditor, store) = start(Waiting::No);
    store.be(Mood::Unavailable);
    for _ in 0..3 {
        for _ in 0..10_000 {
            auditor.note(event(200, 0));
        }
        auditor.flush().await;
    }
    store.be(Mood::Takes);
    auditor.flush().await;
    auditor.note(event(201, 0));
    auditor.flush().await;
    let stored = stored(&store).await;
    let suppressed: u64 = stored.iter().map(|(_, suppressed)| suppressed).sum();
    assert_eq!(stored.len() as u64 + suppressed, 30_001);
    assert!(stored.len() <= 10_001, "{}", stored.len());
    assert_eq!(stored.last(), Some(&(201, 20_000)));
}

/// Though all that waits is written in the turn in which it comes.
#[tokio::test(start_paused = true)]
async fn a_required_event_without_room_is_not_recorded() {
    let (auditor, store) = start(Waiting::Required);
    store.be(Mood::Unavailable);
    for _ in 0..2 {
        for _ in 0..5_000 {
            auditor.note(event(200, 0));
        }
        auditor.flush().await;
    }
    store.be(Mood::Takes);
    let without_room = auditor.record(event(201, 0)).await;
    without_room.expect_err("it is lost");
    auditor.record(event(202, 0)).await.expect("it works");
    let stored = stored(&store).await;
    assert_eq!(stored.len(), 10_001);
    assert_eq!(stored.last(), Some(&(202, 1)));
}

#[tokio::test]
async fn refusals_do_not_flood_the_store() {
    let (auditor, store) = start(Waiting::No);
    for _ in 0..1_000 {
        auditor.note(event(401, 0));
    }
    auditor.note(event(200, 1));
    auditor.note(event(401, 59));
    auditor.note(event(401, 60));
    let known = |status| AuditEvent {
        caller: "token:ci".to_owned(),
        ..event(status, 60)
    };
    for _ in 0..601 {
        auditor.note(known(403));
    }
    // One caller does not take the room of others.
    auditor.note(AuditEvent {
        caller: "bob".to_owned(),
        ..known(403)
    });
    // What may have changed something is always recorded.
    for _ in 0..1_000 {
        auditor.note(known(500));
    }
    auditor.flush().await;
    let stored = stored(&store).await;
    let count = |status| stored.iter().filter(|(given, _)| *given == status).count();
    assert_eq!(count(401), 60 + 1);
    assert_eq!(count(403), 601);
    assert_eq!(count(500), 1_000);
    assert_eq!(stored[60], (200, 940));
    assert_eq!(stored[61], (401, 1));
    assert_eq!(stored[62 + 600], (403, 1));
}

/// A request that failed before it changed anything is one of many. One whose operation has failed is not.
#[tokio::test]
async fn failures_do_not_flood_the_store_unless_something_may_have_changed() {
    let (auditor, store) = start(Waiting::No);
    let begun = AuditEvent {
        operation: Some(format!("{:032x}", 1).parse().expect("an id")),
        ..event(409, 0)
    };
    for _ in 0..601 {
        auditor.note(event(404, 0));
        auditor.note(begun.clone());
    }
    auditor.flush().await;
    let stored = stored(&store).await;
    let count = |status| stored.iter().filter(|(given, _)| *given == status).count();
    assert_eq!((count(404), count(409)), (600, 601));
}

/// So many callers are counted. Those beyond share what one of them may have.
#[tokio::test]
async fn many_callers_do_not_flood_the_store() {
    let (auditor, store) = start(Waiting::No);
    for caller in 0..1_000 {
        auditor.note(AuditEvent {
            caller: format!("one of {caller}"),
            ..event(403, 0)
        });
    }
    for caller in 0..700 {
        auditor.note(AuditEvent {
            caller: format!("one more {caller}"),
            ..event(403, 0)
        });
    }
    auditor.flush().await;
    assert_eq!(stored(&store).await.len(), 1_600);
}

/// Strangers could have all refusals answered otherwise.
#[tokio::test]
async fn a_required_event_that_is_one_of_too_many_is_counted() {
    let (auditor, store) = start(Waiting::Required);
    for _ in 0..60 {
        auditor.record(event(401, 0)).await.expect("it works");
    }
    let one_more = auditor.record(event(401, 0)).await;
    one_more.expect("it is counted");
    auditor.leave_out();
    assert!(auditor.is_able());
    auditor.record(event(200, 0)).await.expect("it works");
    assert_eq!(stored(&store).await.last(), Some(&(200, 2)));
}

#[tokio::test]
async fn without_a_recorder_nothing_required_is_done() {
    let (auditor, recorder) = auditing(Arc::new(Memory::default()), None, Waiting::Required);
    assert!(auditor.is_able());
    drop(recorder);
    assert!(!auditor.is_able());
    auditor.record(event(200, 0)).await.expect_err("it fails");
}

/// What hangs is not waited for by more than those who wait already: what must be recorded is refused before it is done.
#[tokio::test(start_paused = true)]
async fn while_a_write_hangs_nothing_required_is_done() {
    let (auditor, store) = start(Waiting::Required);
    store.be(Mood::Hangs);
    let began = Instant::now();
    let other = auditor.clone();
    let waiting = tokio::spawn(async move { other.record(event(200, 0)).await });
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert!(auditor.is_able(), "a slow write does not hang");
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(!auditor.is_able());
    assert_eq!(auditor.trouble(), Some(Trouble::Hanging));
    waiting.await.expect("it works").expect_err("it fails");
    assert_eq!(began.elapsed(), Duration::from_secs(10));
    store.be(Mood::Takes);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(auditor.is_able());
    assert_eq!(stored(&store).await, [(200, 0)]);
}

/// What waits for room in vain is lost, and counted.
#[tokio::test(start_paused = true)]
async fn what_finds_no_room_while_a_write_hangs_is_counted() {
    let (auditor, store) = start(Waiting::Required);
    store.be(Mood::Hangs);
    auditor.note(event(200, 0));
    tokio::task::yield_now().await;
    for _ in 0..10_000 {
        auditor.note(event(200, 0));
    }
    auditor.record(event(201, 0)).await.expect_err("it fails");
    store.be(Mood::Takes);
    auditor.flush().await;
    auditor.record(event(202, 0)).await.expect("it works");
    let stored = stored(&store).await;
    assert_eq!(stored.len(), 10_002);
    assert_eq!(stored.last(), Some(&(202, 1)));
}

/// An event that the store never takes is given up, and those around it are stored.
#[tokio::test(start_paused = true)]
async fn what_is_refused_for_good_does_not_stop_the_others() {
    let (auditor, store) = start(Waiting::Required);
    store.be(Mood::RefusesAbout("/poison".to_owned()));
    let poison = AuditEvent {
        id: "/poison".to_owned(),
        ..event(201, 0)
    };
    for event in [event(200, 0), poison, event(202, 0)] {
        auditor.note(event);
    }
    auditor.record(event(203, 0)).await.expect_err("it fails");
    assert!(!auditor.is_able());
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert!(auditor.is_able(), "it goes on without a request");
    assert_eq!(auditor.given_up(), 1);
    assert_eq!(stored(&store).await, [(200, 0), (202, 0), (203, 0)]);
    assert_eq!(store.statements(), 3 + 4);
    auditor.record(event(204, 0)).await.expect("it works");
    assert_eq!(stored(&store).await.last(), Some(&(204, 1)));
}

/// An outage gives nothing up, however long it lasts.
#[tokio::test(start_paused = true)]
async fn what_cannot_be_stored_now_is_kept() {
    let (auditor, store) = start(Waiting::No);
    store.be(Mood::Unavailable);
    auditor.note(event(200, 0));
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    store.be(Mood::Takes);
    auditor.flush().await;
    assert_eq!(stored(&store).await, [(200, 0)]);
    assert_eq!(auditor.given_up(), 0);
}
