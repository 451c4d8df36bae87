use ucp_observe::{CrashTurn, Edge};

use crate::crashes::{Mishap, Passer};
use crate::stores::Site;
use crate::{StoreKind, World};

/// How many crash points are all passed on a database. Of more, every third one is, and other ones on each database, unless
/// `UCP_MATRIX=all`: in memory all are, and what is decided does not depend on the store.
const ALL_PASSED: usize = 40;

/// Runs `scenario` to record the crash points that it passes after [`World::may_crash`], then once for each of them, in
/// a world that crashes there and recovers; on a database for a sample of many. A run has a part of these crashes, and the
/// nightly run all. Panics if a crash does not happen. Returns the crash points.
pub async fn crash_everywhere(on: StoreKind, scenario: impl AsyncFn(&World)) -> Vec<String> {
    let Some(site) = on.site().await else {
        return Vec::new();
    };
    let passed = record(&site, &scenario).await;
    for (turn, _) in sample(on, passed.clone()) {
        disturb(&site, Mishap::Crash, turn, &scenario).await;
    }
    passed.iter().map(|(turn, _)| turn.to_string()).collect()
}

/// Runs `scenario` as [`crash_everywhere`] does, for long ones. With a database it crashes after each moment, and not before it:
/// what is stored then, and what AWS has, is the same as after the moment before, but that a lease may have been released.
pub async fn crash_after_everything(on: StoreKind, scenario: impl AsyncFn(&World)) {
    let Some(site) = on.site().await else {
        return;
    };
    let is_left_out = |edge| match on {
        StoreKind::Memory => false,
        StoreKind::Sqlite | StoreKind::Postgres => edge == Edge::Before,
    };
    let mut passed = record(&site, &scenario).await;
    passed.retain(|(turn, _)| !is_left_out(turn.point.edge));
    for (turn, _) in sample(on, passed) {
        disturb(&site, Mishap::Crash, turn, &scenario).await;
    }
}

/// Runs `scenario` as [`crash_everywhere`] does. Then once more for each crash point that a worker passes, in a world in
/// which that worker stalls there: it stops until its lease has expired, another one has taken over, and everything is
/// settled. Then it goes on, with what it knew.
pub async fn disturb_everywhere(on: StoreKind, scenario: impl AsyncFn(&World)) {
    let Some(site) = on.site().await else {
        return;
    };
    for (turn, passer) in sample(on, record(&site, &scenario).await) {
        disturb(&site, Mishap::Crash, turn, &scenario).await;
        if passer == Passer::Worker {
            disturb(&site, Mishap::Stall, turn, &scenario).await;
        }
    }
}

fn sample(on: StoreKind, passed: Vec<(CrashTurn, Passer)>) -> Vec<(CrashTurn, Passer)> {
    let (first, every) = match on {
        _ if ucp_choice::is_matrix_whole() || passed.len() <= ALL_PASSED => (0, 1),
        StoreKind::Memory => (0, 1),
        StoreKind::Sqlite => (0, 3),
        StoreKind::Postgres => (1, 3),
    };
    let sample: Vec<_> = passed.into_iter().skip(first).step_by(every).collect();
    let test = ucp_choice::test();
    // Over a database each crash takes several times as long, and what is decided there is the same.
    let of = match on {
        StoreKind::Memory => 2,
        StoreKind::Sqlite | StoreKind::Postgres => 4,
    };
    // Each by itself: crash points alternate between before and after.
    ucp_choice::part(of, sample, |(turn, _)| format!("{test} {turn}"))
}

/// Runs `scenario` without a mishap. Returns the crash points that it passes.
async fn record(site: &Site, scenario: &impl AsyncFn(&World)) -> Vec<(CrashTurn, Passer)> {
    let world = World::builder().with(site.open().await).build().await;
    scenario(&world).await;
    let passed = world.crashes.passed();
    world.finish().await;
    assert!(!passed.is_empty(), "the scenario passes no crash point");
    passed
}

/// Runs `scenario` with a mishap.
async fn disturb(site: &Site, mishap: Mishap, turn: CrashTurn, scenario: &impl AsyncFn(&World)) {
    // Shown when the scenario fails.
    println!("{mishap:?} {turn}");
    let builder = World::builder().with(site.open().await);
    let world = builder.with_mishap(mishap, turn).build().await;
    scenario(&world).await;
    assert!(world.crashes.has_happened(mishap), "{turn} was not reached");
    world.finish().await;
}
