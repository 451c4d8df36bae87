//! What befalls a process at its crash points: others go first, a worker stalls, or the process dies.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tokio::sync::watch;
use ucp_model::{Entropy, Operation, SeededEntropy};
use ucp_observe::{CrashPoint, Crashed, Observer};
use ucp_store::{Claimed, Store};

use super::coverage::Coverage;
use super::plant::ForgottenLeases;

tokio::task_local! {
    /// The state of the operation that a worker steps.
    pub(super) static STATE: Cell<&'static str>;
}

/// How many turns others get at most, where they go first.
const TURNS: f64 = 3.0;

/// The fate of a process.
pub(super) struct Fate {
    entropy: SeededEntropy,
    /// The probability that others go first at a crash point.
    weave: f64,
    orders: Mutex<Orders>,
    /// Tells how often the stalled workers were let go.
    released: watch::Sender<u64>,
    stalled: AtomicUsize,
    coverage: Coverage,
    /// Where forgotten leases are handed out, if that defect is planted.
    forgotten: Option<Forgotten>,
}

/// What the planted defect needs.
#[derive(Clone)]
pub(super) struct Forgotten {
    pub(super) leases: Arc<ForgottenLeases>,
    pub(super) store: Arc<dyn Store>,
}

/// How many crash points are still passed before something happens.
#[derive(Default)]
struct Orders {
    crash: Option<u32>,
    stall: Option<u32>,
}

impl Fate {
    pub(super) fn new(
        seed: u64,
        weave: u8,
        coverage: Coverage,
        forgotten: Option<Forgotten>,
    ) -> Arc<Self> {
        Arc::new(Self {
            entropy: SeededEntropy::new(seed),
            weave: f64::from(weave) / 100.0,
            orders: Mutex::default(),
            released: watch::Sender::default(),
            stalled: AtomicUsize::new(0),
            coverage,
            forgotten,
        })
    }

    /// The process dies after so many crash points.
    pub(super) fn crash(&self, after: u32) {
        self.orders().crash = Some(after);
    }

    /// A worker stalls after so many crash points of workers.
    pub(super) fn stall(&self, after: u32) {
        self.orders().stall = Some(after);
    }

    /// Nothing is going to happen any more.
    pub(super) fn spare(&self) {
        *self.orders() = Orders::default();
    }

    /// Whether nothing is going to happen.
    pub(super) fn is_spared(&self) -> bool {
        let orders = self.orders();
        orders.crash.is_none() && orders.stall.is_none()
    }

    /// How many workers are stalled.
    pub(super) fn stalled(&self) -> usize {
        self.stalled.load(Ordering::SeqCst)
    }

    /// Lets the stalled workers go on.
    pub(super) fn release(&self) {
        self.released.send_modify(|count| *count += 1);
    }

    fn orders(&self) -> MutexGuard<'_, Orders> {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, what: &str) {
        if let Ok(state) = STATE.try_with(Cell::get) {
            self.coverage.note(what.to_owned(), state);
        }
    }

    async fn stand(&self) {
        let mut released = self.released.subscribe();
        released.mark_unchanged();
        self.stalled.fetch_add(1, Ordering::SeqCst);
        let _stalled = Stalled(&self.stalled);
        // The sender is here.
        let _ = released.changed().await;
    }
}

/// A worker that stalls. Its task may be aborted.
struct Stalled<'a>(&'a AtomicUsize);

impl Drop for Stalled<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Counts down. Returns whether it is time.
fn is_time(order: &mut Option<u32>) -> bool {
    match order {
        None => false,
        Some(0) => order.take().is_some(),
        Some(left) => {
            *left -= 1;
            false
        }
    }
}

#[async_trait]
impl Observer for Fate {
    async fn reached(&self, _: CrashPoint) -> Result<(), Crashed> {
        if self.weave > 0.0 && self.entropy.fraction("weave") < self.weave {
            let turns = self.entropy.fraction("turns") * TURNS;
            for _ in 0..=turns as u32 {
                tokio::task::yield_now().await;
            }
        }
        if is_time(&mut self.orders().crash) {
            self.note("crash");
            return Err(Crashed);
        }
        let is_worker = STATE.try_with(|_| ()).is_ok();
        if is_worker && is_time(&mut self.orders().stall) {
            self.note("stall");
            self.stand().await;
        }
        Ok(())
    }

    fn stepped(&self, operation: &Operation) {
        // A request writes no steps.
        let _ = STATE.try_with(|state| state.set(operation.state_name()));
    }

    async fn handed_out(&self, claimed: Vec<Claimed>) -> Vec<Claimed> {
        match &self.forgotten {
            None => claimed,
            Some(Forgotten { leases, store }) => leases.hand_out(store, claimed).await,
        }
    }
}
