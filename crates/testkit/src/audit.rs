//! The audit of a world.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use ucp_model::Timestamp;
use ucp_store::{AuditEvent, AuditEvents, AuditPlace, Error, Store, StoredAuditEvent};

use crate::World;

/// The store of the audit, which can be told to take nothing.
pub(crate) struct Refusing {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) refuses: Arc<AtomicBool>,
}

#[async_trait]
impl AuditEvents for Refusing {
    async fn append_audit_events(&self, events: &[AuditEvent]) -> Result<(), Error> {
        if self.refuses.load(Ordering::SeqCst) {
            return Err(Error::Unavailable("the audit is full".into()));
        }
        self.store.append_audit_events(events).await
    }

    async fn list_audit_events(
        &self,
        since: Timestamp,
        before: AuditPlace,
        limit: usize,
    ) -> Result<Vec<StoredAuditEvent>, Error> {
        self.store.list_audit_events(since, before, limit).await
    }

    async fn remove_audit_events(&self, before: Timestamp, limit: usize) -> Result<u64, Error> {
        self.store.remove_audit_events(before, limit).await
    }
}

impl World {
    /// From here on, the audit takes no event, or takes them again.
    pub fn refuse_audit(&self, refuses: bool) {
        self.audit_refuses.store(refuses, Ordering::SeqCst);
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
