//! Worlds that nobody thought of: each is drawn from a number, its seed. Several processes serve some clients at the same time,
//! over one store and one AWS. Workers stall and lose their leases, processes die, clocks differ, AWS fails in all ways that the
//! simulator knows, and persons change things outside of `ucp`. Whatever happens, the invariants hold, after each act and when all
//! is over.
//!
//! A world has a time of its own. Nothing sleeps, and a day takes as long as what happens in it. In memory, everything happens on
//! one thread, so the same seed is the same world again.

mod acts;
mod alias;
mod calls;
mod coverage;
mod drawn;
mod ending;
mod fate;
mod offered;
mod orders;
mod plans;
mod plant;
mod play;
mod shrink;
mod standing;
mod story;
mod weather;

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::builder::Builder;
use crate::{StoreKind, World};
use play::Play;

pub use coverage::Coverage;
pub use offered::Offered;
pub use plant::Plant;
pub use shrink::shrunk;
pub use story::{Act, Pace, Story, Way, Wish};

/// An invariant that a story breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation(String);

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Violation {
    fn of(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Self(text.unwrap_or_else(|| "a panic".to_owned()))
    }

    /// Its first words, which it shares with violations of the same kind.
    pub fn kind(&self) -> &str {
        const COMPARED: &str = "assertion `left == right` failed: ";
        let text = self.0.strip_prefix(COMPARED).unwrap_or(&self.0);
        let end = text.find([':', '\n']).unwrap_or(text.len());
        &text[..end]
    }
}

/// Tells a story in memory. Returns which faults have struck.
pub fn tell(story: &Story, plant: Option<Plant>) -> Result<Coverage, Violation> {
    tell_on(StoreKind::Memory, story, plant, false).map(Option::unwrap_or_default)
}

/// Tells a story over a store of this kind, and prints what happens if asked. `None` if there is no such store.
pub fn tell_on(
    kind: StoreKind,
    story: &Story,
    plant: Option<Plant>,
    is_printed: bool,
) -> Result<Option<Coverage>, Violation> {
    let told = catch_unwind(AssertUnwindSafe(|| {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = match kind {
            // It passes when nothing else is left to do.
            StoreKind::Memory => runtime.enable_time().start_paused(true),
            StoreKind::Sqlite | StoreKind::Postgres => runtime.enable_all(),
        };
        runtime.build().expect("a runtime").block_on(async {
            let builder = World::builder().on(kind).await?;
            Some(happen(builder, story, plant, is_printed).await)
        })
    }));
    told.map_err(|panic| Violation::of(panic.as_ref()))
}

async fn happen(
    builder: Builder,
    story: &Story,
    plant: Option<Plant>,
    is_printed: bool,
) -> Coverage {
    let mut play = Play::new(story, builder, plant, is_printed).await;
    for act in &story.acts {
        play.carry_out(act).await;
    }
    play.end().await
}

/// Tells a story that was printed as a test, and what happens in it.
///
/// # Panics
///
/// If it breaks an invariant, or is no story.
pub fn replay(story: &str) {
    let story = Story::read(story).expect("a story");
    if let Err(violation) = tell_on(StoreKind::Memory, &story, None, true) {
        panic!("{violation}");
    }
}

/// Tells the story of each seed over a store of this kind; only that of `UCP_SEED`, if it is set, and what happens in it.
/// Returns which faults have struck.
///
/// # Panics
///
/// If one breaks an invariant. The shortest story that still breaks it is printed as a test to paste.
pub fn tell_all(kind: StoreKind, seeds: impl IntoIterator<Item = u64>) -> Coverage {
    let given = std::env::var("UCP_SEED").ok();
    let given = given.map(|seed| seed.parse().expect("UCP_SEED is a number"));
    let seeds = match given {
        Some(seed) => vec![seed],
        None => seeds.into_iter().collect(),
    };
    let all = Coverage::default();
    for seed in seeds {
        let story = Story::drawn(seed);
        match tell_on(kind, &story, None, given.is_some()) {
            Ok(coverage) => all.add(&coverage.unwrap_or_default()),
            Err(violation) => {
                let shortest = match kind {
                    StoreKind::Memory => shrunk(&story, None),
                    StoreKind::Sqlite | StoreKind::Postgres => story,
                };
                panic!("UCP_SEED={seed}: {violation}\n\n{}", shortest.test());
            }
        }
    }
    all
}

/// Makes tests of the worlds of some seeds over stores of a kind. The worlds are split, so that the cores share them.
#[macro_export]
macro_rules! seeded_worlds {
    ($($name:ident: $kind:ident $seeds:expr;)*) => {
        $(
            #[test]
            fn $name() {
                $crate::worlds::tell_all($crate::StoreKind::$kind, $seeds);
            }
        )*
    };
}
