//! The audit of a world.

use ucp_audit::testing::Mood;
use ucp_model::Timestamp;
use ucp_store::{AuditEvent, AuditPlace};

use crate::World;

impl World {
    /// From here on, the audit takes no event, or takes them again.
    pub fn refuse_audit(&self, refuses: bool) {
        self.audit_store.be(if refuses {
            Mood::Unavailable
        } else {
            Mood::Takes
        });
    }

    /// Returns the events of the audit, earliest first.
    pub async fn audited(&self) -> Vec<AuditEvent> {
        self.auditor.flush().await;
        let (since, all) = (Timestamp::from_millis(i64::MIN), usize::MAX);
        let listed = self.store.list_audit_events(since, AuditPlace::END, all);
        let listed = listed.await.expect("the store answers").into_iter().rev();
        listed.map(|stored| stored.event).collect()
    }
}
