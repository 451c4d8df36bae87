use std::collections::VecDeque;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::mpsc::Receiver;
use tokio::sync::oneshot::Sender;
use tokio::time::timeout;
use ucp_store::{AuditEvent, AuditEvents};

use crate::lines::{Lines, line};
use crate::log::{Log, Unlogged};
use crate::{HANGING, ROOM, Shared, Trouble};

/// The number of events written in one statement.
const BATCH: usize = 500;
/// The pause before what could not be written is tried again, if no event comes earlier.
const PAUSE: Duration = Duration::from_secs(1);
/// How often a batch is tried that the store refuses for what is in it. Then its events are written one by one, and those
/// that are refused are given up.
const TRIES: usize = 3;

/// What the recorder is given.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The event; `None` to be told when those before are written.
    pub(crate) event: Option<(AuditEvent, Place)>,
    /// How many events before it were left out of the log, or lost on their way to it.
    pub(crate) missing_lines: u64,
    /// Told whether everything up to this entry is written.
    pub(crate) written: Option<Sender<bool>>,
}

/// Where an event is written, besides the log, if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// To the store.
    Store,
    /// Nowhere.
    OnlyLog,
}

/// Writes the events of the requests of a process.
pub struct Recorder {
    receiver: Receiver<Entry>,
    shared: Arc<Shared>,
    store: Arc<dyn AuditEvents>,
    /// Those that are not in the store yet.
    unstored: VecDeque<AuditEvent>,
    /// How often the store has refused what comes first.
    refusals: usize,
    /// How many of them are written one by one.
    singly: usize,
    /// The log, if there is one.
    log: Option<Log>,
}

impl Recorder {
    pub(crate) fn new(
        receiver: Receiver<Entry>,
        shared: Arc<Shared>,
        store: Arc<dyn AuditEvents>,
        lines: Option<Lines>,
    ) -> Self {
        Self {
            receiver,
            shared,
            store,
            unstored: VecDeque::new(),
            refusals: 0,
            singly: 0,
            log: lines.map(Log::new),
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
        let is_done = self.unstored.is_empty() && self.log.as_ref().is_none_or(Log::is_done);
        let first = if is_done {
            self.receiver.recv().await
        } else {
            match timeout(PAUSE, self.receiver.recv()).await {
                Ok(entry) => entry,
                Err(_) => return true,
            }
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

    /// Takes an entry. Whoever waits for an event that there is no room for need not wait.
    fn take(&mut self, entry: Entry, waiting: &mut Vec<Sender<bool>>) {
        let Entry {
            event,
            missing_lines,
            written,
        } = entry;
        let is_kept = event.is_none_or(|(event, place)| self.keep(event, place, missing_lines));
        match written {
            Some(written) if !is_kept => {
                // A request that gave up does not wait any more.
                let _ = written.send(false);
            }
            written => waiting.extend(written),
        }
    }

    /// Keeps an event wherever there is room for it, and counts it elsewhere. Returns whether there is room everywhere.
    fn keep(&mut self, event: AuditEvent, place: Place, missing_lines: u64) -> bool {
        let is_in_log = match &mut self.log {
            Some(log) => log.take(event.clone(), missing_lines),
            None => true,
        };
        if !is_in_log {
            self.shared.lost_lines.fetch_add(1, Ordering::Relaxed);
        }
        let is_in_store = match place {
            Place::OnlyLog => true,
            Place::Store if self.unstored.len() < ROOM => {
                self.unstored.push_back(event);
                true
            }
            Place::Store => {
                let lost = event.suppressed + 1;
                self.shared.suppressed.fetch_add(lost, Ordering::Relaxed);
                false
            }
        };
        is_in_log && is_in_store
    }

    /// Writes what there is. Returns whether nothing is left.
    async fn write(&mut self) -> bool {
        let logged = match &mut self.log {
            Some(log) => log.write().await,
            None => Ok(()),
        };
        if let Err(Unlogged::Hanging) = &logged {
            self.tell(Some((Trouble::Hanging, Unlogged::Hanging.to_string())));
        }
        let stored = self.store().await;
        let failure = match (logged, stored) {
            (Ok(()), Ok(())) => None,
            (Ok(()), Err(error)) => Some((Trouble::Refused, ucp_model::chain(&error))),
            (Err(error @ Unlogged::Hanging), _) => Some((Trouble::Hanging, error.to_string())),
            (Err(Unlogged::Refused(error)), _) => Some((Trouble::Refused, error.to_string())),
        };
        let is_written = failure.is_none();
        self.tell(failure);
        is_written
    }

    /// Tells why events are not recorded, or that they are, if that is new.
    fn tell(&self, failure: Option<(Trouble, String)>) {
        let trouble = failure.as_ref().map(|(trouble, _)| *trouble);
        let before = self.shared.set_trouble(trouble);
        match failure {
            Some((_, error)) if before != trouble => {
                tracing::warn!(
                    error,
                    "audit events could not be recorded; it is tried again"
                );
            }
            None if before.is_some() => tracing::info!("audit events are recorded again"),
            None | Some(_) => {}
        }
    }

    async fn store(&mut self) -> Result<(), ucp_store::Error> {
        while !self.unstored.is_empty() {
            let count = match self.singly {
                0 => self.unstored.len().min(BATCH),
                _ => 1,
            };
            let batch = &self.unstored.make_contiguous()[..count];
            let appending = self.store.append_audit_events(batch);
            let appended = watched(&self.shared, appending).await;
            match appended {
                Ok(()) => {}
                Err(error @ ucp_store::Error::Unavailable(_)) => return Err(error),
                Err(error) if self.singly > 0 => self.give_up(&error),
                Err(error) => {
                    self.refusals += 1;
                    if self.refusals < TRIES {
                        return Err(error);
                    }
                    self.singly = count;
                    continue;
                }
            }
            self.unstored.drain(..count);
            self.refusals = 0;
            self.singly = self.singly.saturating_sub(1);
        }
        Ok(())
    }

    /// Leaves the first event, which the store refuses for what is in it, to the log of the process.
    fn give_up(&self, error: &ucp_store::Error) {
        let Some(event) = self.unstored.front() else {
            return;
        };
        let given_up = self.shared.given_up.fetch_add(1, Ordering::Relaxed) + 1;
        let lost = event.suppressed + 1;
        self.shared.suppressed.fetch_add(lost, Ordering::Relaxed);
        tracing::warn!(
            error = %ucp_model::chain(error),
            audit.event = line(event).unwrap_or_default(),
            given_up_events = given_up,
            "the store refuses an audit event, which is given up"
        );
    }
}

/// Waits for a write. While it hangs, that is the trouble.
async fn watched<T>(shared: &Shared, writing: impl Future<Output = T>) -> T {
    let mut writing = pin!(writing);
    if let Ok(written) = timeout(HANGING, writing.as_mut()).await {
        return written;
    }
    shared.set_trouble(Some(Trouble::Hanging));
    tracing::warn!("audit events could not be recorded yet; the write is waited for");
    writing.await
}
