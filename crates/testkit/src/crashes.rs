use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tokio::sync::Notify;
use ucp_observe::{CrashPoint, CrashTurn, Crashed, Moment, Observer};

use crate::aws::Held;

/// What happens to a process at a crash point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mishap {
    /// It dies, and another one continues.
    Crash,
    /// The worker stalls there until another one has taken over and all is settled, and then goes on.
    Stall,
}

/// Records crash points, and brings about a mishap at the planned one, once a scenario arms it. Counts the calls to the
/// store.
#[derive(Default)]
pub(crate) struct Crashes {
    state: Mutex<State>,
    stalled: Notify,
    released: Notify,
    /// The writes of steps.
    pub(crate) writes: Held,
    /// The transactions that accept operations.
    pub(crate) accepts: Held,
}

#[derive(Default)]
struct State {
    is_armed: bool,
    passed: Vec<(CrashPoint, Passer)>,
    planned: Option<(Mishap, CrashTurn)>,
    has_happened: Option<Mishap>,
    passer: Passer,
    /// The names of the methods of the store that were called, in order.
    asked: Vec<&'static str>,
}

/// Who passes a crash point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Passer {
    /// A request.
    #[default]
    Request,
    /// A worker.
    Worker,
}

impl Crashes {
    pub(crate) fn at(planned: Option<(Mishap, CrashTurn)>) -> Self {
        let state = State {
            planned,
            ..State::default()
        };
        Self {
            state: Mutex::new(state),
            ..Self::default()
        }
    }

    pub(crate) fn arm(&self) {
        self.state().is_armed = true;
    }

    pub(crate) fn has_happened(&self, mishap: Mishap) -> bool {
        self.state().has_happened == Some(mishap)
    }

    /// Says who passes the next crash points.
    pub(crate) fn passing(&self, passer: Passer) {
        self.state().passer = passer;
    }

    /// Resolves when a worker has stalled.
    pub(crate) async fn stalled(&self) {
        self.stalled.notified().await;
    }

    /// Lets the stalled worker go on.
    pub(crate) fn release(&self) {
        self.released.notify_one();
    }

    /// Returns how often `method` of the store was called.
    pub(crate) fn asked(&self, method: &str) -> usize {
        let state = self.state();
        state.asked.iter().filter(|asked| **asked == method).count()
    }

    /// Returns the methods of the store that were called, in order.
    pub(crate) fn asked_all(&self) -> Vec<&'static str> {
        self.state().asked.clone()
    }

    /// Returns every crash point passed since arming, with its occurrence and who passed it.
    pub(crate) fn passed(&self) -> Vec<(CrashTurn, Passer)> {
        let passed = &self.state().passed;
        let turn = |(index, (point, passer)): (usize, &(CrashPoint, Passer))| {
            let before = passed[..index].iter().filter(|(other, _)| other == point);
            let turn = CrashTurn {
                point: *point,
                turn: before.count() as u32 + 1,
            };
            (turn, *passer)
        };
        passed.iter().enumerate().map(turn).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a point is reached. Returns what happens there.
    fn note(&self, point: CrashPoint) -> Option<Mishap> {
        let mut state = self.state();
        if !state.is_armed {
            return None;
        }
        let passer = state.passer;
        state.passed.push((point, passer));
        let (mishap, turn) = state.planned.take()?;
        state.planned = turn.reached(point).map(|turn| (mishap, turn));
        if state.planned.is_some() {
            return None;
        }
        state.has_happened = Some(mishap);
        Some(mishap)
    }
}

/// The writes of steps.
const STEPS: [Moment; 4] = [
    Moment::RecordIntent,
    Moment::RecordProgress,
    Moment::RecordVerdict,
    Moment::Finish,
];

#[async_trait]
impl Observer for Crashes {
    fn asked_store(&self, method: &'static str) {
        self.state().asked.push(method);
    }

    async fn reached(&self, point: CrashPoint) -> Result<(), Crashed> {
        if STEPS.map(CrashPoint::before).contains(&point) {
            self.writes.pass().await;
        }
        if [Moment::Accept, Moment::StartChild, Moment::Move]
            .map(CrashPoint::before)
            .contains(&point)
        {
            self.accepts.pass().await;
        }
        match self.note(point) {
            None => Ok(()),
            Some(Mishap::Crash) => Err(Crashed),
            Some(Mishap::Stall) => {
                self.stalled.notify_one();
                self.released.notified().await;
                Ok(())
            }
        }
    }
}
