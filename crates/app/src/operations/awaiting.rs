//! Requests that wait for their operation.
//!
//! The workers of this process tell of each step. Only the requests that wait for that operation are woken, and they
//! are handed the operation itself, so no read is needed. What another process carries out is looked at with growing
//! gaps: one task looks at all the operations that are due, in one statement.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tracing::warn;
use ucp_model::{Operation, OperationId};
use ucp_store::Operations;

#[cfg(test)]
mod tests;

/// The gaps between the looks at an operation. The last one repeats.
const GAPS: [Duration; 4] = [
    Duration::from_millis(50),
    Duration::from_millis(200),
    Duration::from_millis(800),
    Duration::from_millis(1_000),
];
/// Looks that are due within this time of each other are made together.
const TOGETHER: Duration = Duration::from_millis(20);
/// The maximum number of operations in one statement.
const PAGE: usize = 100;

/// The operations that requests of this process wait for. Clones share them.
#[derive(Clone)]
pub struct Awaiting {
    shared: Arc<Shared>,
}

struct Shared {
    store: Arc<dyn Operations>,
    awaited: Mutex<Awaited>,
    /// Notified when a look is due before the looking task would wake up.
    earlier: Notify,
}

#[derive(Default)]
struct Awaited {
    operations: BTreeMap<OperationId, Entry>,
    /// When the looking task wakes up. `None` if it is not running.
    wakes_at: Option<Instant>,
}

/// An operation that requests wait for, or will wait for once it is accepted.
#[derive(Default)]
struct Entry {
    /// The operation as last told, with a receiver for each request.
    told: watch::Sender<Option<Arc<Operation>>>,
    /// The next look, once a request waits.
    next_look: Option<Look>,
    /// Whether this process has told of it since the last look began. What the look finds may then be older.
    is_ahead: bool,
}

struct Look {
    due: Instant,
    /// The index in [`GAPS`] of the gap behind it.
    gap: usize,
}

/// The right of one request to be woken by an operation. Dropping it gives the right up.
pub(crate) struct Waiter {
    id: OperationId,
    told: watch::Receiver<Option<Arc<Operation>>>,
    shared: Arc<Shared>,
}

/// An accepted operation, and the right to be woken by it.
pub(crate) struct Pending {
    pub(crate) operation: Operation,
    pub(crate) waiter: Waiter,
}

impl Awaiting {
    /// Nothing is awaited yet. Operations that other processes carry out are read from `store`.
    pub fn new(store: Arc<dyn Operations>) -> Self {
        Self {
            shared: Arc::new(Shared {
                store,
                awaited: Mutex::default(),
                earlier: Notify::new(),
            }),
        }
    }

    /// Wakes the requests that wait for this operation, which has progressed. If there are none, it is not even cloned.
    pub fn progressed(&self, operation: &Operation) {
        let told = {
            let mut awaited = self.shared.awaited();
            let Some(entry) = awaited.operations.get_mut(&operation.header.id) else {
                return;
            };
            entry.is_ahead = true;
            entry.told.clone()
        };
        told.send_replace(Some(Arc::new(operation.clone())));
    }

    /// Announces a request that will wait for an operation. Call this before the operation is accepted: whatever is told
    /// of it from here on is not missed.
    pub(crate) fn announce(&self, id: OperationId) -> Waiter {
        let mut awaited = self.shared.awaited();
        Waiter {
            id,
            told: awaited.operations.entry(id).or_default().told.subscribe(),
            shared: Arc::clone(&self.shared),
        }
    }
}

impl Pending {
    /// Waits until the operation satisfies `is_enough`, until `deadline`, or until who waits has `left`. Returns it as last told.
    pub(crate) async fn until(
        self,
        deadline: Instant,
        left: impl Future<Output = ()>,
        is_enough: impl Fn(&Operation) -> bool,
    ) -> Operation {
        let told = self.waiter.until(deadline, left, is_enough).await;
        told.unwrap_or(self.operation)
    }
}

impl Waiter {
    /// Waits until what is told of the operation satisfies `is_enough`, until `deadline`, or until who waits has `left`.
    /// Returns what was told last.
    async fn until(
        mut self,
        deadline: Instant,
        left: impl Future<Output = ()>,
        is_enough: impl Fn(&Operation) -> bool,
    ) -> Option<Operation> {
        let is_enough = |told: &Option<Arc<Operation>>| told.as_deref().is_some_and(&is_enough);
        if !is_enough(&self.told.borrow()) && Instant::now() < deadline {
            self.shared.look_later(self.id);
            let enough = self.told.wait_for(is_enough);
            // Neither failure matters: the reply is then about an operation that is under way.
            tokio::select! {
                _ = tokio::time::timeout_at(deadline, enough) => {}
                () = left => {}
            }
        }
        let told = self.told.borrow_and_update().clone();
        drop(self);
        told.map(Arc::unwrap_or_clone)
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut awaited = self.shared.awaited();
        let entry = awaited.operations.get(&self.id);
        // The receiver of this waiter still counts.
        if entry.is_some_and(|entry| entry.told.receiver_count() == 1) {
            awaited.operations.remove(&self.id);
        }
    }
}

/// Held by the looking task, so that another one is started after a panic.
struct Running<'a>(&'a Shared);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        // In the end the task has noted this by itself, and another one may be running.
        if std::thread::panicking() {
            self.0.awaited().wakes_at = None;
        }
    }
}

impl Shared {
    fn awaited(&self) -> MutexGuard<'_, Awaited> {
        self.awaited.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Schedules the first look at an operation, and ensures that a task makes it.
    fn look_later(self: &Arc<Self>, id: OperationId) {
        let mut awaited = self.awaited();
        let due = Instant::now() + GAPS[0];
        if let Some(entry) = awaited.operations.get_mut(&id) {
            entry.next_look.get_or_insert(Look { due, gap: 1 });
        }
        match awaited.wakes_at {
            Some(wakes_at) if wakes_at <= due => {}
            Some(_) => self.earlier.notify_one(),
            None => {
                awaited.wakes_at = Some(due);
                tokio::spawn(Arc::clone(self).look());
            }
        }
    }

    /// Makes the looks that fall due, until no request waits.
    async fn look(self: Arc<Self>) {
        let _running = Running(&self);
        while let Some(due) = self.next_due() {
            tokio::select! {
                () = tokio::time::sleep_until(due) => self.look_at_due().await,
                () = self.earlier.notified() => {}
            }
        }
    }

    /// Returns when the next look is due, which is when the looking task wakes up. `None` ends the task.
    fn next_due(&self) -> Option<Instant> {
        let mut awaited = self.awaited();
        let looks = awaited.operations.values();
        let looks = looks.filter_map(|entry| entry.next_look.as_ref());
        awaited.wakes_at = looks.map(|look| look.due).min();
        awaited.wakes_at
    }

    async fn look_at_due(&self) {
        for ids in self.take_due().chunks(PAGE) {
            match self.store.get_operations(ids).await {
                Ok(found) => self.found(found),
                // They were accepted and go on: their requests wait on, and in the end reply so.
                Err(error) => warn!(
                    operations = ids.len(),
                    error = %ucp_model::chain(&error),
                    "could not look at the operations that requests wait for"
                ),
            }
        }
    }

    /// Returns the operations to look at now, and schedules the next look at each.
    fn take_due(&self) -> Vec<OperationId> {
        let now = Instant::now();
        let mut awaited = self.awaited();
        let entries = awaited.operations.iter_mut();
        let due = entries.filter_map(|(id, entry)| {
            let look = entry.next_look.as_mut()?;
            if look.due > now + TOGETHER {
                return None;
            }
            // From when it was due: looks that are made early do not add up to one more.
            look.due = look.due.max(now) + GAPS[look.gap];
            look.gap = (look.gap + 1).min(GAPS.len() - 1);
            entry.is_ahead = false;
            Some(*id)
        });
        due.collect()
    }

    /// Hands on what a look has found.
    fn found(&self, operations: Vec<Operation>) {
        let awaited = self.awaited();
        for operation in operations {
            if let Some(entry) = awaited.operations.get(&operation.header.id)
                && !entry.is_ahead
            {
                entry.told.send_replace(Some(Arc::new(operation)));
            }
        }
    }
}
