use std::sync::{Mutex, MutexGuard, PoisonError};

use ucp_observe::{CrashPoint, CrashTurn, Crashed, Observer};

use crate::{StoreKind, World};

/// Runs `scenario` to learn which moments it passes from [`World::may_crash`] on at which a process can die; then once
/// for each, in a world that dies there and goes on. Insists that it died, and tells where.
pub async fn crash_everywhere(on: StoreKind, scenario: impl AsyncFn(&World)) -> Vec<String> {
    let Some(world) = World::builder().on(on).await else {
        return Vec::new();
    };
    let world = world.build().await;
    scenario(&world).await;
    let turns = world.crashes.passed();
    world.finish().await;
    assert!(!turns.is_empty(), "the scenario passes no crash point");
    for turn in &turns {
        // Shown when the scenario fails.
        println!("crashing at {turn}");
        let world = World::builder().on(on).await.expect("it was there before");
        let world = world.crashing_at(*turn).build().await;
        scenario(&world).await;
        assert!(world.has_crashed(), "{turn} was not reached");
        world.finish().await;
    }
    turns.iter().map(CrashTurn::to_string).collect()
}

/// What happens at crash points, once a scenario says that it may.
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

    /// Every crash point since it was armed, each time that it was passed.
    fn passed(&self) -> Vec<CrashTurn> {
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
