//! What is recorded, and when.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use ucp_audit::{AuditEvent, AuditOutcome, Auditor, Waiting, auditing};
use ucp_model::{CorrelationId, Timestamp};
use ucp_store::{AuditEvents, AuditPlace, Error, Memory, StoredAuditEvent};

/// A store that can be told to take nothing.
#[derive(Default)]
struct Moody {
    inner: Memory,
    refuses: AtomicBool,
    statements: AtomicUsize,
}

#[async_trait]
impl AuditEvents for Moody {
    async fn append_audit_events(&self, events: &[AuditEvent]) -> Result<(), Error> {
        self.statements.fetch_add(1, Ordering::Relaxed);
        if self.refuses.load(Ordering::Relaxed) {
            return Err(Error::Unavailable("the disk is full".into()));
        }
        self.inner.append_audit_events(events).await
    }

    async fn list_audit_events(
        &self,
        since: Timestamp,
        before: AuditPlace,
        limit: usize,
    ) -> Result<Vec<StoredAuditEvent>, Error> {
        self.inner.list_audit_events(since, before, limit).await
    }

    async fn remove_audit_events(&self, before: Timestamp, limit: usize) -> Result<u64, Error> {
        self.inner.remove_audit_events(before, limit).await
    }
}

impl Moody {
    fn refuse(&self, refuses: bool) {
        self.refuses.store(refuses, Ordering::Relaxed);
    }

    /// The statuses of the stored events, earliest first, and how many were suppressed before each.
    async fn stored(&self) -> Vec<(u16, u64)> {
        let listed = self
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
}

fn start(waiting: Waiting) -> (Auditor, Arc<Moody>) {
    let store = Arc::new(Moody::default());
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
    assert_eq!(store.stored().await.len(), 10);
    assert_eq!(store.statements.load(Ordering::Relaxed), 1);
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
    assert_eq!(store.statements.load(Ordering::Relaxed), 0);
}

#[tokio::test(start_paused = true)]
async fn a_required_event_is_written_or_refused() {
    let (auditor, store) = start(Waiting::Required);
    auditor.record(event(200, 0)).await.expect("it works");
    assert_eq!(store.stored().await, [(200, 0)]);
    store.refuse(true);
    assert!(auditor.is_able());
    auditor.record(event(201, 0)).await.expect_err("it fails");
    assert!(!auditor.is_able());
    // It is tried again without a request, so that the probe of a server without traffic turns green.
    store.refuse(false);
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(auditor.is_able());
    assert_eq!(store.stored().await, [(200, 0), (201, 0)]);
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_unless_it_is_required() {
    let (auditor, store) = start(Waiting::No);
    store.refuse(true);
    auditor.record(event(200, 0)).await.expect("it works");
    auditor.flush().await;
    assert!(auditor.is_failing() && auditor.is_able());
    store.refuse(false);
    auditor.flush().await;
    assert_eq!(store.stored().await, [(200, 0)]);
}

/// While the store takes nothing, no more is kept than there is room for. The first event after that tells how many were
/// lost.
#[tokio::test(start_paused = true)]
async fn what_waits_has_an_end() {
    let (auditor, store) = start(Waiting::No);
    store.refuse(true);
    for _ in 0..3 {
        for _ in 0..10_000 {
            auditor.note(event(200, 0));
        }
        auditor.flush().await;
    }
    store.refuse(false);
    auditor.flush().await;
    auditor.note(event(201, 0));
    auditor.flush().await;
    let stored = store.stored().await;
    let suppressed: u64 = stored.iter().map(|(_, suppressed)| suppressed).sum();
    assert_eq!(stored.len() as u64 + suppressed, 30_001);
    assert!(stored.len() <= 10_001, "{}", stored.len());
    assert_eq!(stored.last(), Some(&(201, 20_000)));
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
    // What was let is always recorded.
    for _ in 0..100 {
        auditor.note(known(500));
    }
    auditor.flush().await;
    let stored = store.stored().await;
    let count = |status| stored.iter().filter(|(given, _)| *given == status).count();
    assert_eq!(count(401), 60 + 1);
    assert_eq!(count(403), 600);
    assert_eq!(count(500), 100);
    assert_eq!(stored[60], (200, 940));
    assert_eq!(stored[61], (401, 1));
    assert_eq!(stored[62 + 600], (500, 1));
}

#[tokio::test]
async fn without_a_recorder_nothing_required_is_done() {
    let (auditor, recorder) = auditing(Arc::new(Memory::default()), None, Waiting::Required);
    assert!(auditor.is_able());
    drop(recorder);
    assert!(!auditor.is_able());
    auditor.record(event(200, 0)).await.expect_err("it fails");
}
