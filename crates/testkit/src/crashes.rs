use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ucp_observe::{CrashPoint, CrashTurn, Crashed, Observer};

/// Records crash points, and crashes at the planned one, once a scenario arms it. Counts the calls to the store.
#[derive(Default)]
pub(crate) struct Crashes(Mutex<State>);

#[derive(Default)]
struct State {
    is_armed: bool,
    passed: Vec<CrashPoint>,
    planned: Option<CrashTurn>,
    has_crashed: bool,
    /// How often each method of the store was called, by its name.
    asked: BTreeMap<&'static str, usize>,
}

impl Crashes {
    pub(crate) fn at(planned: Option<CrashTurn>) -> Self {
        let state = State {
            planned,
            ..State::default()
        };
        Self(Mutex::new(state))
    }

    pub(crate) fn arm(&self) {
        self.state().is_armed = true;
    }

    pub(crate) fn has_crashed(&self) -> bool {
        self.state().has_crashed
    }

    /// Returns how often `method` of the store was called.
    pub(crate) fn asked(&self, method: &str) -> usize {
        self.state().asked.get(method).copied().unwrap_or_default()
    }

    /// Returns how often each method of the store was called.
    pub(crate) fn asked_all(&self) -> BTreeMap<&'static str, usize> {
        self.state().asked.clone()
    }

    /// Returns every crash point passed since arming, with its occurrence.
    pub(crate) fn passed(&self) -> Vec<CrashTurn> {
        let passed = &self.state().passed;
        let turn = |(index, point): (usize, &CrashPoint)| {
            let before = passed[..index].iter().filter(|other| *other == point);
            CrashTurn {
                point: *point,
                turn: before.count() as u32 + 1,
            }
        };
        passed.iter().enumerate().map(turn).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Crashes {
    fn asked_store(&self, method: &'static str) {
        *self.state().asked.entry(method).or_default() += 1;
    }

    fn reached(&self, point: CrashPoint) -> Result<(), Crashed> {
        let mut state = self.state();
        if !state.is_armed {
            return Ok(());
        }
        state.passed.push(point);
        if let Some(planned) = state.planned.take() {
            state.planned = planned.reached(point);
            if state.planned.is_none() {
                state.has_crashed = true;
                return Err(Crashed);
            }
        }
        Ok(())
    }
}
