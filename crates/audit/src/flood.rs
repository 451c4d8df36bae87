//! A bound on the refusals and failures that are stored.

use std::collections::HashMap;
use std::time::Duration;

use ucp_access::ANONYMOUS;
use ucp_model::Timestamp;
use ucp_store::{AuditEvent, AuditOutcome};

/// What the actions of requests end with that may change something: of routes, and of requests whose route is not known.
const CHANGES: [&str; 7] = [
    "/write", "/delete", "/action", "PUT", "PATCH", "POST", "DELETE",
];
/// Those of routes that change nothing all the same.
const READS: [&str; 2] = ["/whatIf/action", "/validate/action"];
/// The number of refusals of unknown callers that a process stores in a minute. Changes have as many of their own.
pub(crate) const OF_NOBODY: u32 = 60;
/// The number of refused reads of a known caller that a process stores in a minute.
pub(crate) const OF_READS: u32 = 60;
/// The number of refused changes of a known caller that a process stores in a minute.
pub(crate) const OF_SOMEBODY: u32 = 600;
/// The number of requests of a caller that failed before they changed anything that a process stores in a minute.
pub(crate) const OF_FAILURES: u32 = 600;
/// The number of callers that are counted in a minute. Those beyond are counted together.
const CALLERS: usize = 1_000;
/// The length of a minute.
const MINUTE: Duration = Duration::from_secs(60);

/// How many refusals were stored lately. A client that is refused pays nothing for it, and could fill the store. However many reads
/// are refused, the refusals of changes are stored.
#[derive(Debug, Default)]
pub(crate) struct Floods {
    reads: Flood,
    changes: Flood,
}

/// The same of some requests.
#[derive(Debug, Default)]
struct Flood {
    refusals: Window,
    failures: Window,
}

impl Floods {
    /// Returns whether an event may be stored, and counts it then. One of what may have changed something always is.
    pub(crate) fn admit(&mut self, event: &AuditEvent) -> bool {
        let AuditEvent { caller, at, .. } = event;
        let ends = |ends: &[&str]| ends.iter().any(|end| event.action.ends_with(end));
        let (flood, most) = if ends(&CHANGES) && !ends(&READS) {
            (&mut self.changes, OF_SOMEBODY)
        } else {
            (&mut self.reads, OF_READS)
        };
        match event.outcome {
            AuditOutcome::Refused if caller == ANONYMOUS => {
                flood.refusals.admit(caller, *at, OF_NOBODY)
            }
            AuditOutcome::Refused => flood.refusals.admit(caller, *at, most),
            AuditOutcome::Failed if may_have_changed(event) => true,
            AuditOutcome::Failed => flood.failures.admit(caller, *at, OF_FAILURES),
            AuditOutcome::Allowed | AuditOutcome::Unchanged | AuditOutcome::Unanswered => true,
        }
    }
}

/// Whether a request that failed may have changed something: its operation has begun, or the server does not know how far it
/// came.
fn may_have_changed(event: &AuditEvent) -> bool {
    event.operation.is_some() || event.status.is_none_or(|status| status >= 500)
}

/// A minute, and how much of each caller was admitted in it.
#[derive(Debug, Default)]
struct Window {
    began: Timestamp,
    admitted: HashMap<String, u32>,
}

impl Window {
    fn admit(&mut self, caller: &str, at: Timestamp, most: u32) -> bool {
        // A clock that was set back begins a minute, too.
        if at < self.began || at.since(self.began) >= MINUTE {
            self.began = at;
            self.admitted.clear();
        }
        let is_one_more = !self.admitted.contains_key(caller) && self.admitted.len() >= CALLERS;
        let counted = if is_one_more { "" } else { caller };
        let admitted = self.admitted.entry(counted.to_owned()).or_default();
        let is_admitted = *admitted < most;
        *admitted += u32::from(is_admitted);
        is_admitted
    }
}

#[cfg(test)]
mod tests {
    use ucp_model::CorrelationId;

    use super::*;

    fn refused(caller: &str, action: &str) -> AuditEvent {
        AuditEvent {
            at: Timestamp::from_millis(1_767_225_600_000),
            caller: caller.to_owned(),
            peer: None,
            action: action.to_owned(),
            id: "/".to_owned(),
            outcome: AuditOutcome::Refused,
            status: Some(403),
            code: None,
            correlation_id: CorrelationId::new("c"),
            request_id: "r".to_owned(),
            operation: None,
            change: None,
            paths: Vec::new(),
            suppressed: 0,
        }
    }

    #[test]
    fn refused_reads_leave_the_refused_changes_their_place() {
        for (caller, [of_reads, of_changes]) in [
            ("ann", [OF_READS, OF_SOMEBODY]),
            (ANONYMOUS, [OF_NOBODY; 2]),
        ] {
            let mut floods = Floods::default();
            let reads = [
                "TRACE",
                "System.Resources/resourceGroups/read",
                "GET",
                "AWS.EC2/VPC/whatIf/action",
                "System.Resources/resourceGroups/refactor/whatIf/action",
            ];
            for number in 0..2 * of_reads {
                let action = reads[number as usize % reads.len()];
                assert_eq!(floods.admit(&refused(caller, action)), number < of_reads);
            }
            let changes = [
                "AWS.EC2/VPC/write",
                "PUT",
                "System.Resources/resourceGroups/apply/action",
            ];
            for number in 0..2 * of_changes {
                let action = changes[number as usize % changes.len()];
                assert_eq!(floods.admit(&refused(caller, action)), number < of_changes);
            }
            assert!(floods.admit(&refused("bob", "GET")));
        }
    }
}
