//! For tests: a store of the audit that does as it is told.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use tokio::sync::watch;
use ucp_model::Timestamp;
use ucp_store::{AuditEvent, AuditEvents, AuditPlace, Error, StoredAuditEvent};

/// What a [`Moody`] store does with events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Mood {
    /// It takes them.
    #[default]
    Takes,
    /// It cannot take any.
    Unavailable,
    /// It does not answer until its mood changes.
    Hangs,
    /// It takes no batch with an event about this id, whenever it is tried.
    RefusesAbout(String),
}

/// A store in a mood.
pub struct Moody {
    inner: Arc<dyn AuditEvents>,
    mood: watch::Sender<Mood>,
    statements: AtomicUsize,
}

impl Moody {
    /// Wraps a store. It takes events at first.
    pub fn new(inner: Arc<dyn AuditEvents>) -> Self {
        Self {
            inner,
            mood: watch::Sender::default(),
            statements: AtomicUsize::new(0),
        }
    }

    /// Changes the mood.
    pub fn be(&self, mood: Mood) {
        self.mood.send_replace(mood);
    }

    /// Returns how many statements there were to append events.
    pub fn statements(&self) -> usize {
        self.statements.load(Ordering::Relaxed)
    }
}

#[async_trait]
impl AuditEvents for Moody {
    async fn append_audit_events(&self, events: &[AuditEvent]) -> Result<(), Error> {
        self.statements.fetch_add(1, Ordering::Relaxed);
        let mut moods = self.mood.subscribe();
        let mood = moods.wait_for(|mood| *mood != Mood::Hangs).await;
        let mood = mood.map_or(Mood::Unavailable, |mood| mood.clone());
        match mood {
            Mood::Unavailable => return Err(Error::Unavailable("the audit is full".into())),
            Mood::RefusesAbout(id) if events.iter().any(|event| event.id == id) => {
                return Err(Error::Corrupt("an event that cannot be".to_owned()));
            }
            Mood::Takes | Mood::Hangs | Mood::RefusesAbout(_) => {}
        }
        self.inner.append_audit_events(events).await
    }

    async fn list_audit_events(
        &self,
        since: Timestamp,
        before: AuditPlace,
        limit: usize,
    ) -> Result<Vec<StoredAuditEvent>, Error> {
        self.inner.list_audit_events(since, before, limit).await
    }

    async fn remove_audit_events(&self, before: Timestamp, limit: usize) -> Result<u64, Error> {
        self.inner.remove_audit_events(before, limit).await
    }
}
