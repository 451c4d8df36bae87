use std::sync::{Mutex, MutexGuard, PoisonError};

use ucp_observe::{CrashPoint, CrashTurn, Crashed, Observer};

/// Records crash points, and crashes at the planned one, once a scenario arms it.
#[derive(Default)]
pub(crate) struct Crashes(Mutex<State>);

#[derive(Default)]
struct State {
    is_armed: bool,
    passed: Vec<CrashPoint>,
    planned: Option<CrashTurn>,
    has_crashed: bool,
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
