//! What was accepted in a world, and who is at work on what.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use ucp_model::{Operation, OperationId, ReferenceId, Target};
use ucp_observe::{CrashPoint, Crashed, Observer};
use ucp_store::Claimed;

use crate::Reply;

/// What is known of a world that neither its store nor AWS tells. All processes of the world share it.
#[derive(Default)]
pub(crate) struct Notes(Mutex<Noted>);

/// See [`Notes`].
#[derive(Default)]
pub(crate) struct Noted {
    /// The operations that were accepted.
    pub(crate) accepted: BTreeSet<OperationId>,
    /// Which operation is at work on a reference or a resource, by the key of that.
    at_work: BTreeMap<String, OperationId>,
    /// Two operations that were at work on the same.
    pub(crate) clash: Option<String>,
    /// Whether ended operations were removed.
    pub(crate) is_swept: bool,
    /// The identifiers of resources that a client has let go.
    pub(crate) let_go: BTreeSet<String>,
    /// The identifiers of resources that were deleted outside of `ucp`.
    pub(crate) vanished: BTreeSet<String>,
}

impl Notes {
    pub(crate) fn noted(&self) -> MutexGuard<'_, Noted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes which operation a reply tells of, if any.
    pub(crate) fn note(&self, reply: &Reply) {
        let url = reply.header("azure-asyncoperation");
        let path = url.and_then(|url| url.split('?').next());
        let id: Option<OperationId> = path.and_then(|path| path.rsplit('/').next()?.parse().ok());
        self.noted().accepted.extend(id);
    }

    /// Returns an observer that tells `inner` all, and notes who is at work.
    pub(crate) fn beside(self: &Arc<Self>, inner: Arc<dyn Observer>) -> Arc<dyn Observer> {
        Arc::new(Watching {
            inner,
            notes: Arc::clone(self),
        })
    }
}

impl Noted {
    fn works(&mut self, operation: &Operation) {
        let Some(work) = operation.work.resource() else {
            return;
        };
        let id = operation.header.id;
        self.at_work.retain(|_, other| *other != id);
        if operation.is_terminal() {
            return;
        }
        let reference = work.reference.as_ref().map(ReferenceId::key);
        // What is created belongs to its operation only from when AWS has named it. Somebody may know it before.
        let target = work.target().filter(|_| !work.created);
        for of in reference
            .into_iter()
            .chain(target.as_ref().map(Target::key))
        {
            if let Some(other) = self.at_work.get(&of) {
                let clash = format!("two changes at a time of {of}: {other} and {id}");
                self.clash.get_or_insert(clash);
            }
            self.at_work.insert(of, id);
        }
    }
}

/// See [`Notes::beside`].
struct Watching {
    inner: Arc<dyn Observer>,
    notes: Arc<Notes>,
}

#[async_trait]
impl Observer for Watching {
    async fn reached(&self, point: CrashPoint) -> Result<(), Crashed> {
        self.inner.reached(point).await
    }

    fn asked_store(&self, method: &'static str) {
        self.inner.asked_store(method);
    }

    fn stepped(&self, operation: &Operation) {
        self.notes.noted().works(operation);
        self.inner.stepped(operation);
    }

    async fn handed_out(&self, claimed: Vec<Claimed>) -> Vec<Claimed> {
        let claimed = self.inner.handed_out(claimed).await;
        for claimed in &claimed {
            self.notes.noted().works(&claimed.operation);
        }
        claimed
    }
}
