//! Seeded worlds: each draws some dozen requests, half of whose puts change nothing, and the faults among which they are
//! carried out. Invariants hold after each act, and the world converges when the faults are gone (D15, D29, D31, D52).
//!
//! `UCP_SEEDS=7..8` runs the world of seed 7. On the in-memory store it replays exactly. On the others, the order in
//! which the statements of a request and of the workers meet is that of the database.

mod act;
mod faults;
mod story;

use std::collections::BTreeMap;
use std::ops::Range;

use ucp_simulator::Profile;
use ucp_testkit::{StoreKind, World, apply, on_every_store};

use super::draw::Draw;
use act::Act;
use faults::Faults;
use story::Story;

#[apply(on_every_store)]
async fn seeded_worlds(kind: StoreKind) {
    let given = std::env::var("UCP_SEEDS").ok();
    let mut replies = BTreeMap::<u16, usize>::new();
    for seed in seeds(kind, given.as_deref()) {
        let Some(builder) = World::builder().on(kind).await else {
            return;
        };
        let world = builder.seeded(seed).build().await;
        let draw = Draw::new(seed);
        let mut story = Story::new(seed, &world, &Faults::drawn(&draw));
        for (act, way) in act::drawn(&draw) {
            story.carry_out(act, way).await;
        }
        for (status, count) in story.converge().await {
            *replies.entry(status).or_default() += count;
        }
        world.finish().await;
    }
    println!("replies to puts: {replies:?}");
    if given.is_none() {
        let statuses = [200, 201, 409];
        let are_met = statuses.iter().all(|status| replies.contains_key(status));
        assert!(are_met, "the worlds have become too easy: {replies:?}");
    }
}

/// Creates whose outcome AWS hides. Nothing is doubled and nothing orphaned, and every alias decides itself.
#[apply(on_every_store)]
async fn hidden_outcomes(kind: StoreKind) {
    let unknown = without_persons(kind, Faults::hiding_outcomes).await;
    println!("acts among unknown outcomes: {unknown:?}");
    assert_ne!(unknown, Some(0), "the worlds have become too easy");
}

/// Handlers that fail, whatever they have changed by then.
#[apply(on_every_store)]
async fn failing_handlers(kind: StoreKind) {
    without_persons(kind, Faults::failing).await;
}

/// AWS as it is every day, and on its bad days.
#[apply(on_every_store)]
async fn profiles_of_aws(kind: StoreKind) {
    let profile = |draw: &Draw| draw.pick(&[Profile::Realistic, Profile::BadDay]);
    without_persons(kind, |draw| Faults::of(profile(draw))).await;
}

/// Worlds without what a person does, whose consequences are theirs: an import under another alias, and changes outside, which
/// take marks away. Nothing is doubled and nothing orphaned. Returns how many acts met an unknown outcome; `None` if that says
/// nothing, since the seeds are given, or there is no store.
async fn without_persons(kind: StoreKind, faults: impl Fn(&Draw) -> Faults) -> Option<usize> {
    let given = std::env::var("UCP_SEEDS").ok();
    let mut unknown = 0;
    for seed in seeds(kind, given.as_deref()) {
        let world = World::builder().on(kind).await?.seeded(seed).build().await;
        let draw = Draw::new(seed);
        let mut story = Story::new(seed, &world, &faults(&draw));
        for (act, way) in act::drawn(&draw) {
            if matches!(act, Act::Vanish(_) | Act::Change(_) | Act::Import { .. }) {
                continue;
            }
            story.carry_out(act, way).await;
            story.keep().await;
        }
        unknown += story.unknown();
        story.converge().await;
        world.finish().await;
    }
    given.is_none().then_some(unknown)
}

/// Returns the seeds to run: those that are given as `from..to`, or as many as fit into a few seconds.
fn seeds(kind: StoreKind, given: Option<&str>) -> Range<u64> {
    match (given, kind) {
        (Some(given), _) => {
            let (from, to) = given.split_once("..").expect("UCP_SEEDS is from..to");
            let seed = |text: &str| text.parse().expect("a seed is a number");
            seed(from)..seed(to)
        }
        (None, StoreKind::Memory) => 0..30,
        (None, StoreKind::Sqlite) => 30..38,
        (None, StoreKind::Postgres) => 38..43,
    }
}
