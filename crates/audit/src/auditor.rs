use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::{OwnedPermit, Sender};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};
use ucp_store::{AuditEvent, AuditOutcome};

use crate::flood::Floods;
use crate::recorder::{Entry, Place};
use crate::{Shared, Trouble, Waiting};

/// How long a request waits for its event to be written.
const PATIENCE: Duration = Duration::from_secs(10);

/// An event could not be recorded where it must be. The log has the cause.
#[derive(Debug, thiserror::Error)]
#[error("the audit event could not be recorded")]
pub struct NotRecorded;

/// Takes the events of requests.
#[derive(Clone, Debug)]
pub struct Auditor {
    sender: Sender<Entry>,
    waiting: Waiting,
    /// Whether there is a log. It has every event.
    is_logged: bool,
    shared: Arc<Shared>,
    floods: Arc<Mutex<Floods>>,
}

impl Auditor {
    pub(crate) fn new(
        sender: Sender<Entry>,
        waiting: Waiting,
        is_logged: bool,
        shared: Arc<Shared>,
    ) -> Self {
        Self {
            sender,
            waiting,
            is_logged,
            shared,
            floods: Arc::default(),
        }
    }

    /// Records an event. If that is required, it is written when this returns.
    pub async fn record(&self, event: AuditEvent) -> Result<(), NotRecorded> {
        match self.waiting {
            Waiting::No => {
                self.note(event);
                Ok(())
            }
            Waiting::Required => self.written(event).await,
        }
    }

    /// Records an event that nobody waits for. Without room for it, it is only counted.
    pub fn note(&self, event: AuditEvent) {
        let Some((event, place)) = self.admitted(event) else {
            return;
        };
        match self.sender.clone().try_reserve_owned() {
            Ok(permit) => self.send(permit, Some((event, place)), None),
            Err(_) => self.lose(&event, place),
        }
    }

    /// Returns whether requests that must be recorded can be answered, as far as is known.
    pub fn is_able(&self) -> bool {
        match self.waiting {
            Waiting::No => true,
            Waiting::Required => self.trouble().is_none(),
        }
    }

    /// Returns why events are not recorded at the moment; `None` if they are, as far as is known.
    pub fn trouble(&self) -> Option<Trouble> {
        if self.sender.is_closed() {
            Some(Trouble::Stopped)
        } else {
            self.shared.trouble()
        }
    }

    /// Returns how many events the store has refused for good since the start.
    pub fn given_up(&self) -> u64 {
        self.shared.given_up.load(Ordering::Relaxed)
    }

    /// Returns how many lines the log will never have.
    pub fn lost_lines(&self) -> u64 {
        self.shared.lost_lines.load(Ordering::Relaxed)
    }

    /// Waits until it was tried to write all events that were recorded before.
    pub async fn flush(&self) {
        if let Ok(permit) = self.sender.clone().reserve_owned().await {
            let (written, answer) = oneshot::channel();
            self.send(permit, None, Some(written));
            // An error means that nobody writes any more.
            let _ = answer.await;
        }
    }

    /// Waits for the turn of the recorder in which it writes the event.
    async fn written(&self, event: AuditEvent) -> Result<(), NotRecorded> {
        // What is one of too many has changed nothing, and the next event counts it.
        let Some((event, place)) = self.admitted(event) else {
            return Ok(());
        };
        let until = Instant::now() + PATIENCE;
        let Ok(Ok(permit)) = timeout_at(until, self.sender.clone().reserve_owned()).await else {
            self.lose(&event, place);
            return Err(NotRecorded);
        };
        let (written, answer) = oneshot::channel();
        self.send(permit, Some((event, place)), Some(written));
        match timeout_at(until, answer).await {
            Ok(Ok(true)) => Ok(()),
            Ok(Ok(false) | Err(_)) | Err(_) => Err(NotRecorded),
        }
    }

    fn send(
        &self,
        permit: OwnedPermit<Entry>,
        event: Option<(AuditEvent, Place)>,
        written: Option<oneshot::Sender<bool>>,
    ) {
        let missing_lines = match event {
            Some(_) => self.shared.unlogged.swap(0, Ordering::Relaxed),
            None => 0,
        };
        permit.send(Entry {
            event,
            missing_lines,
            written,
        });
    }

    /// Counts a refusal that is not recorded. The next event says so, and the next line of the log.
    pub fn leave_out(&self) {
        self.suppress(1);
        if self.is_logged {
            self.shared.unlogged.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts an event for which there is no room.
    fn lose(&self, event: &AuditEvent, place: Place) {
        if self.is_logged {
            self.shared.unlogged.fetch_add(1, Ordering::Relaxed);
            self.shared.lost_lines.fetch_add(1, Ordering::Relaxed);
        }
        // What is not for the store is counted already.
        if place == Place::Store {
            self.suppress(event.suppressed + 1);
        }
    }

    /// Returns where an event is to be written, if anywhere.
    fn admitted(&self, event: AuditEvent) -> Option<(AuditEvent, Place)> {
        let only_log = |event| self.is_logged.then_some((event, Place::OnlyLog));
        if event.outcome == AuditOutcome::Unchanged {
            return only_log(event);
        }
        let mut floods = self.floods.lock().unwrap_or_else(PoisonError::into_inner);
        if !floods.admit(&event) {
            self.suppress(1);
            return only_log(event);
        }
        let suppressed = self.shared.suppressed.swap(0, Ordering::Relaxed);
        let event = AuditEvent {
            suppressed,
            ..event
        };
        Some((event, Place::Store))
    }

    fn suppress(&self, count: u64) {
        self.shared.suppressed.fetch_add(count, Ordering::Relaxed);
    }
}
