//! The audit: who asked for what, and whether they were let.

use std::fmt;
use std::str::FromStr;

use async_trait::async_trait;
use ucp_access::GrantChange;
use ucp_model::{CorrelationId, OperationId, Timestamp};

use crate::Error;

/// A request that changes something, or that was refused. It has nothing of the request's body, query and headers but
/// the ids, what a role assignment gives, and the names of what a write changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEvent {
    /// When it was answered.
    pub at: Timestamp,
    /// Who sent it.
    pub caller: String,
    /// The address that it came from, if it came over a network.
    pub peer: Option<String>,
    /// What was asked for, such as `System.Resources/resourceGroups/write`; the method if the request names nothing that
    /// there is.
    pub action: String,
    /// The canonical id of what it is about.
    pub id: String,
    /// What came of it.
    pub outcome: AuditOutcome,
    /// The status of the reply. `None` if there was none.
    pub status: Option<u16>,
    /// The error code of the reply.
    pub code: Option<String>,
    /// Correlates it with the caller's deployment.
    pub correlation_id: CorrelationId,
    /// The id that the reply had.
    pub request_id: String,
    /// The operation that was accepted, and in whose end the history has what changed.
    pub operation: Option<OperationId>,
    /// What it changed of a role assignment.
    pub change: Option<GrantChange>,
    /// Where it changed a plane, a resource group or a credential: JSON Pointers into that.
    pub paths: Vec<String>,
    /// The number of events since the last one like it that were not stored, because there were too many.
    pub suppressed: u64,
}

/// What came of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AuditOutcome {
    /// It was done or accepted.
    Allowed,
    /// There was nothing to do.
    Unchanged,
    /// The caller is unknown, is not allowed to do this, or does it too often.
    Refused,
    /// The caller may ask for it, but it could not be done.
    Failed,
    /// It was not known in time what comes of it. What it asked for may have been done. Another event says so, once that is
    /// known.
    Unanswered,
}

impl AuditOutcome {
    /// All outcomes.
    pub const ALL: [Self; 5] = [
        Self::Allowed,
        Self::Unchanged,
        Self::Refused,
        Self::Failed,
        Self::Unanswered,
    ];

    /// Returns the outcome as replies spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allowed => "Allowed",
            Self::Unchanged => "Unchanged",
            Self::Refused => "Refused",
            Self::Failed => "Failed",
            Self::Unanswered => "Unanswered",
        }
    }
}

/// The place of an event among all others: by time, and then in the order of writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AuditPlace {
    /// When it was answered.
    pub at: Timestamp,
    /// Its number, at least 1.
    pub sequence: i64,
}

impl AuditPlace {
    /// The place after all events.
    pub const END: Self = Self {
        at: Timestamp::from_millis(i64::MAX),
        sequence: i64::MAX,
    };

    /// Returns the place before all events of this moment, and after those that are earlier.
    pub fn begin(at: Timestamp) -> Self {
        Self { at, sequence: 0 }
    }
}

impl fmt::Display for AuditPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.at.as_millis(), self.sequence)
    }
}

/// The text is not that of a place.
#[derive(Debug, PartialEq, Eq)]
pub struct InvalidPlace;

impl FromStr for AuditPlace {
    type Err = InvalidPlace;

    fn from_str(text: &str) -> Result<Self, InvalidPlace> {
        let number = |text: &str| text.parse().map_err(|_| InvalidPlace);
        let (at, sequence) = text.rsplit_once('-').ok_or(InvalidPlace)?;
        Ok(Self {
            at: Timestamp::from_millis(number(at)?),
            sequence: number(sequence)?,
        })
    }
}

/// A stored event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAuditEvent {
    /// Its place, which no other event has.
    pub place: AuditPlace,
    /// The event.
    pub event: AuditEvent,
}

/// Storage of the audit. Events are only appended, and removed when they are old enough.
#[async_trait]
pub trait AuditEvents: Send + Sync {
    /// Appends events, in their order. [`Error::Unavailable`] if it may work later; any other error is about the events.
    async fn append_audit_events(&self, events: &[AuditEvent]) -> Result<(), Error>;

    /// Returns up to `limit` events from `since` on and before `before`, latest first.
    async fn list_audit_events(
        &self,
        since: Timestamp,
        before: AuditPlace,
        limit: usize,
    ) -> Result<Vec<StoredAuditEvent>, Error>;

    /// Removes up to `limit` events from before `before`, earliest first. Returns how many there were.
    async fn remove_audit_events(&self, before: Timestamp, limit: usize) -> Result<u64, Error>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_is_written() {
        for place in [
            AuditPlace::END,
            AuditPlace::begin(Timestamp::from_millis(-7)),
            AuditPlace::begin(Timestamp::from_millis(1_767_225_600_000)),
        ] {
            assert_eq!(place.to_string().parse(), Ok(place));
        }
        for wrong in ["", "-", "1", "1-", "a-1", "1-b", "99999999999999999999-1"] {
            assert_eq!(wrong.parse::<AuditPlace>(), Err(InvalidPlace), "{wrong}");
        }
    }
}
