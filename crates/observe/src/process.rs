use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use ucp_cloud::{CloudControl, Fault};
use ucp_model::{FaultClass, Operation};
use ucp_store::{Claimed, Error, Store};

use crate::CrashPoint;

/// Receives every crash point as it is reached.
#[async_trait]
pub trait Observer: Send + Sync {
    /// Called when `point` is reached. The process waits there until this returns. Returning [`Crashed`] crashes it.
    async fn reached(&self, point: CrashPoint) -> Result<(), Crashed>;

    /// Called before each call to the store, with the name of its method.
    fn asked_store(&self, _method: &'static str) {}

    /// Called after a step was written, with what its operation has become.
    fn stepped(&self, _operation: &Operation) {}

    /// Returns what a worker gets that has claimed `claimed`. Only a test that plants a defect returns anything else.
    async fn handed_out(&self, claimed: Vec<Claimed>) -> Vec<Claimed> {
        claimed
    }
}

/// The process has crashed at the request of its [`Observer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("crashed on purpose")]
pub struct Crashed;

impl From<Crashed> for Error {
    fn from(crashed: Crashed) -> Self {
        Error::Unavailable(Box::new(crashed))
    }
}

impl From<Crashed> for Fault {
    fn from(crashed: Crashed) -> Self {
        let class = FaultClass::Transient;
        Fault::new(class, "NetworkFailure", crashed.to_string())
    }
}

/// An observed process. All its calls to the store and to AWS pass through it. After it has crashed, none does: the
/// store returns [`Error::Unavailable`], and AWS a [`FaultClass::Transient`], which the process cannot record.
pub struct Process {
    pub(crate) observer: Arc<dyn Observer>,
    is_dead: AtomicBool,
}

impl Process {
    /// Creates a process with this observer.
    pub fn observed_by(observer: Arc<dyn Observer>) -> Arc<Self> {
        Arc::new(Self {
            observer,
            is_dead: AtomicBool::new(false),
        })
    }

    /// Wraps `store`.
    pub fn store(self: &Arc<Self>, store: Arc<dyn Store>) -> Arc<dyn Store> {
        Arc::new(Observed {
            inner: store,
            process: Arc::clone(self),
        })
    }

    /// Wraps `cloud`.
    pub fn cloud(self: &Arc<Self>, cloud: Arc<dyn CloudControl>) -> Arc<dyn CloudControl> {
        Arc::new(Observed {
            inner: cloud,
            process: Arc::clone(self),
        })
    }

    /// Restarts the process. Returns whether it had crashed.
    pub fn revive(&self) -> bool {
        self.is_dead.swap(false, Ordering::SeqCst)
    }

    /// Whether the process has crashed.
    pub fn has_crashed(&self) -> bool {
        self.living().is_err()
    }

    /// Returns [`Crashed`] if the process has crashed.
    pub(crate) fn living(&self) -> Result<(), Crashed> {
        if self.is_dead.load(Ordering::SeqCst) {
            Err(Crashed)
        } else {
            Ok(())
        }
    }

    pub(crate) async fn reached(&self, point: CrashPoint) -> Result<(), Crashed> {
        self.living()?;
        let observed = self.observer.reached(point).await;
        observed.inspect_err(|Crashed| self.is_dead.store(true, Ordering::SeqCst))
    }
}

/// A wrapped store or Cloud Control.
pub(crate) struct Observed<T: ?Sized> {
    pub(crate) inner: Arc<T>,
    pub(crate) process: Arc<Process>,
}
