use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::mpsc::Receiver;
use tokio::sync::oneshot::Sender;
use tokio::time::timeout;
use ucp_store::{AuditEvent, AuditEvents};

use crate::{ROOM, Shared};

/// The number of events written in one statement.
const BATCH: usize = 500;
/// The pause before what could not be written is tried again, if no event comes earlier.
const PAUSE: Duration = Duration::from_secs(1);

/// What the recorder is given.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The event; `None` to be told when those before are written.
    pub(crate) event: Option<AuditEvent>,
    /// Told whether everything up to this entry is written.
    pub(crate) written: Option<Sender<bool>>,
}

/// Writes the events of the requests of a process.
pub struct Recorder {
    receiver: Receiver<Entry>,
    store: Arc<dyn AuditEvents>,
    shared: Arc<Shared>,
    /// Those that are not in the store yet.
    unstored: VecDeque<AuditEvent>,
}

impl Recorder {
    pub(crate) fn new(
        receiver: Receiver<Entry>,
        store: Arc<dyn AuditEvents>,
        shared: Arc<Shared>,
    ) -> Self {
        Self {
            receiver,
            store,
            shared,
            unstored: VecDeque::new(),
        }
    }

    /// Writes events as they come, until no auditor is left.
    pub async fn run(mut self) {
        let mut waiting = Vec::new();
        while self.collect(&mut waiting).await {
            let is_written = self.write().await;
            for written in waiting.drain(..) {
                // A request that gave up does not wait any more.
                let _ = written.send(is_written);
            }
        }
    }

    /// Waits for events, or until it is time to try again. Returns false once there will be no more.
    async fn collect(&mut self, waiting: &mut Vec<Sender<bool>>) -> bool {
        let first = match self.unstored.is_empty() {
            true => self.receiver.recv().await,
            false => match timeout(PAUSE, self.receiver.recv()).await {
                Ok(entry) => entry,
                Err(_) => return true,
            },
        };
        let Some(first) = first else {
            return false;
        };
        self.take(first, waiting);
        for _ in 1..BATCH {
            let Ok(next) = self.receiver.try_recv() else {
                break;
            };
            self.take(next, waiting);
        }
        true
    }

    fn take(&mut self, entry: Entry, waiting: &mut Vec<Sender<bool>>) {
        waiting.extend(entry.written);
        let Some(event) = entry.event else {
            return;
        };
        if self.unstored.len() < ROOM {
            self.unstored.push_back(event);
        } else {
            let lost = event.suppressed + 1;
            self.shared.suppressed.fetch_add(lost, Ordering::Relaxed);
        }
    }

    /// Writes what there is. Returns whether nothing is left.
    async fn write(&mut self) -> bool {
        let stored = self.store().await;
        let is_failing = stored.is_err();
        let was_failing = self.shared.is_failing.swap(is_failing, Ordering::Relaxed);
        match stored {
            Err(error) if !was_failing => tracing::warn!(
                error = %ucp_model::chain(&error),
                "audit events could not be stored; it is tried again"
            ),
            Ok(()) if was_failing => tracing::info!("audit events are stored again"),
            Ok(()) | Err(_) => {}
        }
        !is_failing
    }

    async fn store(&mut self) -> Result<(), ucp_store::Error> {
        while !self.unstored.is_empty() {
            let count = self.unstored.len().min(BATCH);
            let batch = &self.unstored.make_contiguous()[..count];
            self.store.append_audit_events(batch).await?;
            self.unstored.drain(..count);
        }
        Ok(())
    }
}
