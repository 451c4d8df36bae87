//! Records the audit: who asked for what, and whether they were let.
//!
//! Requests hand their events to an [`Auditor`]. A [`Recorder`], which runs beside them, writes what has come together
//! since its last turn in one batch. What it cannot write it keeps, as far as its room goes, and tries again. By default
//! requests do not wait for it; if the audit is required, they are answered only after their event is written.

mod auditor;
mod flood;
mod lines;
mod log;
mod recorder;
#[cfg(feature = "testing")]
pub mod testing;

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc;
use ucp_store::AuditEvents;
pub use ucp_store::{AuditEvent, AuditOutcome};

pub use crate::auditor::{Auditor, NotRecorded};
pub use crate::lines::Lines;
pub use crate::recorder::Recorder;

/// The number of events that may wait to be written.
const ROOM: usize = 10_000;
/// How long a write may take before it hangs. Requests that must be recorded are refused then, before they wait for it.
const HANGING: Duration = Duration::from_secs(5);

/// Whether requests wait for their events to be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Waiting {
    /// They do not. If the process dies, the events of the last moments may be lost.
    #[default]
    No,
    /// They do, and what cannot be recorded is not answered.
    Required,
}

/// Why events are not recorded at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The latest could not be written. It is tried again.
    Refused,
    /// The current write has not ended for too long.
    Hanging,
    /// Nobody writes any more.
    Stopped,
}

/// What requests and the recorder share.
#[derive(Debug, Default)]
struct Shared {
    /// Why the recorder does not write at the moment; `None` if it does.
    trouble: Mutex<Option<Trouble>>,
    /// The number of events that were not stored since the last one that is.
    suppressed: AtomicU64,
    /// The number of events that the store has refused for good.
    given_up: AtomicU64,
    /// The number of lines that were left out of the log, or lost on their way to it, since the last one that was not.
    unlogged: AtomicU64,
    /// The number of lines that the log will never have.
    lost_lines: AtomicU64,
}

impl Shared {
    fn trouble(&self) -> Option<Trouble> {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the trouble, and returns the one before.
    fn set_trouble(&self, trouble: Option<Trouble>) -> Option<Trouble> {
        let mut current = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut current, trouble)
    }
}

/// Creates an auditor, and the recorder that writes what it is given to `store`, and to the log in `lines`.
pub fn auditing(
    store: Arc<dyn AuditEvents>,
    lines: Option<Lines>,
    waiting: Waiting,
) -> (Auditor, Recorder) {
    let (sender, receiver) = mpsc::channel(ROOM);
    let shared = Arc::new(Shared::default());
    let auditor = Auditor::new(sender, waiting, lines.is_some(), Arc::clone(&shared));
    let recorder = Recorder::new(receiver, shared, store, lines);
    (auditor, recorder)
}
