use ucp_observe::CrashTurn;

use crate::{StoreKind, World};

/// Runs `scenario` to record the crash points that it passes after [`World::may_crash`], then once for each of them, in
/// a world that crashes there and recovers. Panics if a crash does not happen. Returns the crash points.
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
        let world = World::builder()
            .on(on)
            .await
            .expect("the store is available");
        let world = world.crashing_at(*turn).build().await;
        scenario(&world).await;
        assert!(world.has_crashed(), "{turn} was not reached");
        world.finish().await;
    }
    turns.iter().map(CrashTurn::to_string).collect()
}
