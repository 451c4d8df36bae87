//! A bound on the refusals and failures that are stored.

use std::time::Duration;

use ucp_access::ANONYMOUS;
use ucp_model::Timestamp;
use ucp_store::{AuditEvent, AuditOutcome};

/// The number of refusals of unknown callers that a process stores in a minute.
pub(crate) const OF_NOBODY: u32 = 60;
/// The number of refusals of known callers that a process stores in a minute.
pub(crate) const OF_SOMEBODY: u32 = 600;
/// The number of requests that failed that a process stores in a minute.
pub(crate) const OF_FAILURES: u32 = 600;
/// The length of a minute.
const MINUTE: Duration = Duration::from_secs(60);

/// How many refusals were stored lately. A client that is refused pays nothing for it, and could fill the store.
#[derive(Debug, Default)]
pub(crate) struct Floods {
    of_nobody: Window,
    of_somebody: Window,
    of_failures: Window,
}

impl Floods {
    /// Returns whether an event may be stored, and counts it then.
    pub(crate) fn admit(&mut self, event: &AuditEvent) -> bool {
        match event.outcome {
            AuditOutcome::Refused if event.caller == ANONYMOUS => {
                self.of_nobody.admit(event.at, OF_NOBODY)
            }
            AuditOutcome::Refused => self.of_somebody.admit(event.at, OF_SOMEBODY),
            AuditOutcome::Failed => self.of_failures.admit(event.at, OF_FAILURES),
            AuditOutcome::Allowed | AuditOutcome::Unchanged | AuditOutcome::Unanswered => true,
        }
    }
}

/// A minute, and how much was admitted in it.
#[derive(Debug, Default)]
struct Window {
    began: Timestamp,
    admitted: u32,
}

impl Window {
    fn admit(&mut self, at: Timestamp, most: u32) -> bool {
        // A clock that was set back begins a minute, too.
        if at < self.began || at.since(self.began) >= MINUTE {
            *self = Self {
                began: at,
                admitted: 0,
            };
        }
        let is_admitted = self.admitted < most;
        self.admitted += u32::from(is_admitted);
        is_admitted
    }
}
