use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ucp_cloud::{CloudControl, Fault};
use ucp_model::FaultClass;
use ucp_store::{Error, Store};

use crate::CrashPoint;

/// Told of every crash point as it is reached.
pub trait Observer: Send + Sync {
    /// `point` is reached. Returning [`Crashed`] ends the process.
    fn reached(&self, point: CrashPoint) -> Result<(), Crashed>;
}

/// The process is dead, as its [`Observer`] wanted.
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

/// A process under observation. What it does to its store and to AWS passes here, and once it has crashed nothing does:
/// the store is [`Error::Unavailable`], and AWS a [`FaultClass::Transient`] that nobody can record.
pub struct Process {
    observer: Arc<dyn Observer>,
    is_dead: AtomicBool,
}

impl Process {
    /// A process that `observer` watches.
    pub fn observed_by(observer: Arc<dyn Observer>) -> Arc<Self> {
        Arc::new(Self {
            observer,
            is_dead: AtomicBool::new(false),
        })
    }

    /// `store` as the process sees it.
    pub fn store(self: &Arc<Self>, store: Arc<dyn Store>) -> Arc<dyn Store> {
        Arc::new(Observed {
            inner: store,
            process: Arc::clone(self),
        })
    }

    /// `cloud` as the process sees it.
    pub fn cloud(self: &Arc<Self>, cloud: Arc<dyn CloudControl>) -> Arc<dyn CloudControl> {
        Arc::new(Observed {
            inner: cloud,
            process: Arc::clone(self),
        })
    }

    /// Starts the process anew, and tells whether it was dead.
    pub fn revive(&self) -> bool {
        self.is_dead.swap(false, Ordering::SeqCst)
    }

    /// Nothing happens in a dead process.
    pub(crate) fn living(&self) -> Result<(), Crashed> {
        match self.is_dead.load(Ordering::SeqCst) {
            true => Err(Crashed),
            false => Ok(()),
        }
    }

    pub(crate) fn reached(&self, point: CrashPoint) -> Result<(), Crashed> {
        self.living()?;
        self.observer
            .reached(point)
            .inspect_err(|Crashed| self.is_dead.store(true, Ordering::SeqCst))
    }
}

/// A door as a process sees it.
pub(crate) struct Observed<T: ?Sized> {
    pub(crate) inner: Arc<T>,
    pub(crate) process: Arc<Process>,
}
