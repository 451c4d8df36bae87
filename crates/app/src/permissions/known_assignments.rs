//! The role assignments as this process has read them lately. A request is judged on them without a statement.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ucp_access::GrantIndex;
use ucp_model::{Clock, PlaneKind, Timestamp};
use ucp_store::{Error, Planes, RoleAssignments};

/// How long role assignments are used as they were read. A role that was taken away is of no use anywhere after this time.
pub(crate) const FRESH: Duration = Duration::from_secs(5);
/// For how long they are used beyond that while they cannot be read.
pub(crate) const GRACE: Duration = Duration::from_secs(30);
/// How long nobody tries to read them again after that has failed.
const PAUSE: Duration = Duration::from_secs(1);
/// How many are read at once.
const PAGE: usize = 1_000;

/// Knows the role assignments of the radius planes that exist. Those under a plane that does not give nothing.
pub(crate) struct KnownAssignments {
    planes: Arc<dyn Planes>,
    store: Arc<dyn RoleAssignments>,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    /// One request reads for all who wait for it.
    reading: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    last: Option<Reading>,
    /// When it could not be read, if that was after the last reading.
    failed_at: Option<Timestamp>,
    /// How many changes by this process have ended.
    changes: u64,
    /// How many readings have begun.
    readings: u64,
}

struct Reading {
    grants: Arc<GrantIndex>,
    /// Which one it is.
    number: u64,
    began: Timestamp,
    /// How many changes by this process had ended when it began.
    changes: u64,
}

impl State {
    /// Returns what was read, if that is not longer ago than `term`, and before no change by this process.
    fn read_within(&self, term: Duration, now: Timestamp) -> Option<Arc<GrantIndex>> {
        let last = self.last.as_ref()?;
        // A clock that was set back must not keep what was read for longer.
        let is_young = last.began <= now && now.since(last.began) < term;
        (is_young && last.changes == self.changes).then(|| Arc::clone(&last.grants))
    }

    /// Returns what a reading after this one has read, and after each change by this process.
    fn read_after(&self, number: u64) -> Option<Arc<GrantIndex>> {
        let last = self.last.as_ref()?;
        let is_later = last.number > number && last.changes == self.changes;
        is_later.then(|| Arc::clone(&last.grants))
    }

    fn has_just_failed(&self, now: Timestamp) -> bool {
        self.failed_at
            .is_some_and(|failed_at| failed_at <= now && now.since(failed_at) < PAUSE)
    }
}

/// The role assignments cannot be read, and were last read too long ago.
#[derive(Debug)]
pub(crate) struct Unread;

/// A change by this process. Nothing that was read before its end is used any more, whatever comes of it.
pub(crate) struct Changing<'a>(&'a KnownAssignments);

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        self.0.state().changes += 1;
    }
}

impl KnownAssignments {
    pub(crate) fn new(
        planes: Arc<dyn Planes>,
        store: Arc<dyn RoleAssignments>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            planes,
            store,
            clock,
            state: Mutex::default(),
            reading: tokio::sync::Mutex::default(),
        }
    }

    /// Tells of a change by this process, which ends when what is returned is dropped.
    pub(crate) fn changing(&self) -> Changing<'_> {
        Changing(self)
    }

    /// Returns the role assignments as they were read in the last seconds.
    pub(crate) async fn known(&self) -> Result<Arc<GrantIndex>, Unread> {
        if let Some(fresh) = self.fresh() {
            return Ok(fresh);
        }
        let _turn = self.reading.lock().await;
        if let Some(fresh) = self.fresh() {
            return Ok(fresh);
        }
        if let Ok(read) = self.try_to_read().await {
            return Ok(read);
        }
        let old = self.state().read_within(FRESH + GRACE, self.clock.now());
        old.ok_or(Unread)
    }

    /// Returns the role assignments as they are stored now, or later.
    pub(crate) async fn read(&self) -> Result<Arc<GrantIndex>, Unread> {
        let begun = self.state().readings;
        let _turn = self.reading.lock().await;
        if let Some(later) = self.state().read_after(begun) {
            return Ok(later);
        }
        self.try_to_read().await
    }

    /// Reads the role assignments, unless that has just failed.
    async fn try_to_read(&self) -> Result<Arc<GrantIndex>, Unread> {
        let has_just_failed = self.state().has_just_failed(self.clock.now());
        if has_just_failed {
            Err(Unread)
        } else {
            self.read_all().await
        }
    }

    fn fresh(&self) -> Option<Arc<GrantIndex>> {
        self.state().read_within(FRESH, self.clock.now())
    }

    async fn read_all(&self) -> Result<Arc<GrantIndex>, Unread> {
        let began = self.clock.now();
        let (number, changes) = {
            let mut state = self.state();
            state.readings += 1;
            (state.readings, state.changes)
        };
        let read = self.grants().await;
        let mut state = self.state();
        match read {
            Ok(grants) => {
                let grants = Arc::new(grants);
                state.failed_at = None;
                state.last = Some(Reading {
                    grants: Arc::clone(&grants),
                    number,
                    began,
                    changes,
                });
                Ok(grants)
            }
            Err(error) => {
                tracing::warn!(
                    error = %ucp_model::chain(&error),
                    "the role assignments could not be read"
                );
                state.failed_at = Some(self.clock.now());
                Err(Unread)
            }
        }
    }

    async fn grants(&self) -> Result<GrantIndex, Error> {
        let planes = self.planes().await?;
        let (mut grants, mut after) = (Vec::new(), None);
        loop {
            let page = self.store.list_role_assignments(None, after.as_ref(), PAGE);
            let page = page.await?;
            let is_last = page.len() < PAGE;
            after = page.last().map(|last| last.id.clone());
            let there = page
                .into_iter()
                .filter(|it| planes.contains(&it.id.plane_id().key()));
            grants.extend(there.map(|assignment| assignment.body.grant));
            if is_last {
                return Ok(grants.into_iter().collect());
            }
        }
    }

    /// Returns the keys of the radius planes that exist.
    async fn planes(&self) -> Result<HashSet<String>, Error> {
        let (mut keys, mut after) = (HashSet::new(), None);
        loop {
            let kind = Some(PlaneKind::Radius);
            let page = self.planes.list_planes(kind, after.as_ref(), PAGE).await?;
            let is_last = page.len() < PAGE;
            keys.extend(page.iter().map(|plane| plane.id.key()));
            after = page.into_iter().last().map(|last| last.id);
            if is_last {
                return Ok(keys);
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
