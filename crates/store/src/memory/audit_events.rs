use async_trait::async_trait;
use ucp_model::Timestamp;

use super::Memory;
use super::tables::Tables;
use crate::{AuditEvent, AuditEvents, AuditPlace, Error, StoredAuditEvent};

#[async_trait]
impl AuditEvents for Memory {
    async fn append_audit_events(&self, events: &[AuditEvent]) -> Result<(), Error> {
        self.tables().record(events);
        Ok(())
    }

    async fn list_audit_events(
        &self,
        since: Timestamp,
        before: AuditPlace,
        limit: usize,
    ) -> Result<Vec<StoredAuditEvent>, Error> {
        let since = AuditPlace::begin(since);
        if since >= before {
            return Ok(Vec::new());
        }
        let tables = self.tables();
        let listed = tables.audit_events.range(since..before).rev().take(limit);
        let stored = listed.map(|(&place, event)| StoredAuditEvent {
            place,
            event: event.clone(),
        });
        Ok(stored.collect())
    }

    async fn remove_audit_events(&self, before: Timestamp, limit: usize) -> Result<u64, Error> {
        let mut tables = self.tables();
        let old = tables.audit_events.range(..AuditPlace::begin(before));
        let old: Vec<AuditPlace> = old.take(limit).map(|(&place, _)| place).collect();
        for place in &old {
            tables.audit_events.remove(place);
        }
        Ok(old.len() as u64)
    }
}

impl Tables {
    /// Appends events to the audit.
    pub(super) fn record(&mut self, events: &[AuditEvent]) {
        for event in events {
            self.audited += 1;
            let place = AuditPlace {
                at: event.at,
                sequence: self.audited,
            };
            self.audit_events.insert(place, event.clone());
        }
    }
}
