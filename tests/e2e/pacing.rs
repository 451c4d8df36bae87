//! What is sent to AWS is paced: as fast as AWS takes it, group by group.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use ucp_engine::Pacing;
use ucp_model::{CallClass, Clock, RateKey};
use ucp_simulator::Action;
use ucp_simulator::faults::{Effect, Sharing, fault};
use ucp_store::Store;
use ucp_store_sql::Sql;
use ucp_store_sql::testing::{TestDatabase, database};
use ucp_testkit::{ACCOUNT, REGION, Reply, StoreKind, World, apply, cipher, on_every_store};

const LOG_GROUP: &str = "AWS.Logs/LogGroup";

/// AWS takes so many mutations a second from an account and region.
fn quota(world: &World, rate: f64, burst: u32) {
    let calls = Sharing::Mutations;
    world
        .aws
        .add_fault(fault(Effect::Quota { calls, rate, burst }));
    world.tolerate_log("throttled: Rate exceeded");
}

/// Puts a log group under an alias of a resource group, without waiting.
async fn put(world: &World, group: &str, alias: &str) -> Reply {
    let path =
        format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{LOG_GROUP}/:put");
    let tracked_by = format!(
        "/planes/radius/local/resourceGroups/{group}/providers/{LOG_GROUP}:reference/{alias}"
    );
    let name = format!("{group}-{alias}");
    let body =
        json!({"alias": alias, "trackedBy": tracked_by, "properties": {"LogGroupName": name}});
    let reply = world
        .send_without_waiting("POST", &path, &body.to_string())
        .await;
    reply.expect(201)
}

fn creates(world: &World) -> usize {
    let log = world.aws.log();
    let creates = log
        .iter()
        .filter(|entry| entry.operation == Action::CreateResource);
    creates.count()
}

async fn ended(world: &World, replies: &[Reply]) -> usize {
    let mut ended = 0;
    for reply in replies {
        let status = world.status(reply).await;
        match status["status"].as_str() {
            Some("Succeeded") => ended += 1,
            Some("Accepted" | "Provisioning") => {}
            _ => panic!("{status}"),
        }
    }
    ended
}

/// Steps for a time of the world.
async fn run_for(world: &World, time: Duration) {
    let end = world.clock.now().after(time);
    while world.clock.now() < end {
        world.step().await;
        world.clock.advance(Duration::from_millis(100));
    }
}

/// 200 creates at 5 a second.
#[apply(on_every_store)]
async fn many_creates_are_made_as_fast_as_aws_takes_them(kind: StoreKind) {
    let Some(builder) = World::builder().on(kind).await else {
        return;
    };
    let world = builder.paced(Pacing::default()).build().await;
    quota(&world, 5.0, 5);
    let wanted = match kind {
        StoreKind::Memory => 200,
        StoreKind::Sqlite | StoreKind::Postgres => 50,
    };
    let begin = world.clock.now();
    let mut replies = Vec::new();
    for number in 0..wanted {
        replies.push(put(&world, "rg", &number.to_string()).await);
    }
    world.settle().await;
    let took = world.clock.now().since(begin).as_secs_f64();
    assert_eq!(ended(&world, &replies).await, wanted);
    let refused = creates(&world) - wanted;
    println!("{took:.1} s, {refused} of {} refused", creates(&world));
    assert!(took <= 1.25 * wanted as f64 / 5.0, "{took} s");
    assert!(refused <= 12, "{refused} refused");
    world.finish().await;
}

/// Whoever asks is told for what.
#[apply(on_every_store)]
async fn what_waits_for_its_turn_says_so(kind: StoreKind) {
    let Some(builder) = World::builder().on(kind).await else {
        return;
    };
    let key = RateKey {
        scope: format!("{ACCOUNT}/{REGION}"),
        class: CallClass::Mutations,
    };
    let pacing = Pacing {
        ceilings: [(key, 0.1)].into(),
        ..Pacing::default()
    };
    let world = builder.paced(pacing).build().await;
    let first = put(&world, "rg", "a").await;
    let second = put(&world, "rg", "b").await;
    world.step().await;
    let mut waiting = Vec::new();
    for reply in [&first, &second] {
        let progress = world.status(reply).await["properties"]["progress"].clone();
        waiting.extend((progress["waitingFor"] == "rate").then_some(progress));
    }
    let [progress] = &waiting[..] else {
        panic!("{waiting:?}");
    };
    assert_eq!(progress["rate"], format!("{ACCOUNT}/{REGION}/mutations"));
    let next: ucp_model::Timestamp = progress["nextTryAt"].as_str().unwrap().parse().unwrap();
    assert!(next > world.clock.now() && next < world.clock.now().after(Duration::from_secs(60)));
    world.settle().await;
    assert_eq!(ended(&world, &[first, second]).await, 2);
    world.finish().await;
}

/// A world on this database.
async fn over(database: &TestDatabase, pacing: Pacing) -> World {
    let store = Sql::connect_postgres(&database.url()).await;
    let store: Arc<dyn Store> = Arc::new(store.expect("a store").sealed_with(cipher()));
    World::builder().over(&store).paced(pacing).build().await
}

/// Nobody can write a bucket from now on.
async fn lock_buckets(database: &TestDatabase) {
    database
        .restore(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;
            CREATE TRIGGER refused BEFORE UPDATE ON aws_rates EXECUTE FUNCTION refuse();",
        )
        .await;
}

async fn unlock_buckets(database: &TestDatabase) {
    database.restore("DROP TRIGGER refused ON aws_rates").await;
}

/// A bucket that cannot be written holds up nobody, not even when others wait for it.
#[tokio::test]
async fn operations_do_not_wait_for_a_bucket_that_cannot_be_written() {
    let Some(database) = database().await else {
        return;
    };
    let world = over(&database, Pacing::default()).await;
    let mut replies = Vec::new();
    for number in 0..20 {
        replies.push(put(&world, "rg", &format!("a{number}")).await);
    }
    world.step().await;
    let before = creates(&world);
    assert!(before < 20, "none waits");
    world.tolerate_log("the rate is not known");
    lock_buckets(&database).await;
    run_for(&world, Duration::from_secs(2)).await;
    replies.push(put(&world, "rg", "late").await);
    run_for(&world, Duration::from_secs(2)).await;
    assert_eq!(creates(&world), before + 1);
    unlock_buckets(&database).await;
    world.settle().await;
    assert_eq!(ended(&world, &replies).await, replies.len());
    world.finish().await;
}

/// Where an operator has set a ceiling, nothing is sent as long as nobody can say whether it is used up.
#[tokio::test]
async fn nothing_is_sent_without_the_bucket_of_a_ceiling() {
    let Some(database) = database().await else {
        return;
    };
    let key = RateKey {
        scope: format!("{ACCOUNT}/{REGION}"),
        class: CallClass::Mutations,
    };
    let pacing = Pacing {
        ceilings: [(key, 1.0)].into(),
        ..Pacing::default()
    };
    let world = over(&database, pacing).await;
    let mut replies = vec![put(&world, "rg", "a").await];
    world.settle().await;
    assert_eq!(creates(&world), 1);
    world.tolerate_log("the rate is not known");
    lock_buckets(&database).await;
    for alias in ["b", "c", "d"] {
        replies.push(put(&world, "rg", alias).await);
    }
    run_for(&world, Duration::from_secs(5)).await;
    assert_eq!(creates(&world), 1);
    unlock_buckets(&database).await;
    world.settle().await;
    assert_eq!(ended(&world, &replies).await, replies.len());
    world.finish().await;
}

/// The same of a read. Until it is made, nobody knows what has become of the create.
#[tokio::test(start_paused = true)]
async fn what_waits_for_a_read_says_so() {
    let key = RateKey {
        scope: format!("{ACCOUNT}/{REGION}"),
        class: CallClass::Reads,
    };
    let pacing = Pacing {
        ceilings: [(key, 0.1)].into(),
        ..Pacing::default()
    };
    let world = World::builder().paced(pacing).build().await;
    let mut replies = Vec::new();
    for alias in ["a", "b", "c"] {
        replies.push(put(&world, "rg", alias).await);
    }
    world.step().await;
    let mut waiting = 0;
    for reply in &replies {
        let progress = world.status(reply).await["properties"]["progress"].clone();
        if progress["waitingFor"] == "rate" {
            assert_eq!(progress["rate"], format!("{ACCOUNT}/{REGION}/reads"));
            assert_eq!(progress["lastError"]["code"], "TooManyRequests");
            waiting += 1;
        }
    }
    assert!(waiting > 0, "none waits for a read");
    // A request that uses up what is kept for requests is told when to come again.
    world.tolerate_log("AWS did not answer a read");
    let path =
        format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{LOG_GROUP}/rg-a");
    for _ in 0..2 {
        world.get(&path).await;
    }
    let refused = world.get(&path).await.expect(429);
    assert_eq!(refused.code(), "TooManyRequests");
    assert_eq!(refused.header("retry-after"), Some("10"));
    world.settle().await;
    assert_eq!(ended(&world, &replies).await, replies.len());
    world.finish().await;
}

/// Ten groups, one of which wants as much as all others together, and was first.
#[apply(on_every_store)]
async fn a_greedy_group_does_not_starve_others(kind: StoreKind) {
    let Some(builder) = World::builder().on(kind).await else {
        return;
    };
    let world = builder.paced(Pacing::default()).build().await;
    quota(&world, 5.0, 5);
    let each = match kind {
        StoreKind::Memory => 20,
        StoreKind::Sqlite | StoreKind::Postgres => 8,
    };
    let mut groups: Vec<Vec<Reply>> = Vec::new();
    for number in 0..10 {
        // This steps what is due.
        world.put_group(&format!("group-{number}")).await;
    }
    for number in 0..10 {
        let name = format!("group-{number}");
        let wanted = if number == 0 { 9 * each } else { each };
        let mut replies = Vec::new();
        for alias in 0..wanted {
            replies.push(put(&world, &name, &alias.to_string()).await);
        }
        groups.push(replies);
    }
    // In this time half of what the others want can be made.
    run_for(&world, Duration::from_secs(each)).await;
    let mut shares = Vec::new();
    for replies in &groups {
        shares.push(ended(&world, replies).await as f64);
    }
    let (sum, squares) = (
        shares.iter().sum::<f64>(),
        shares.iter().map(|share| share * share).sum::<f64>(),
    );
    let jain = sum * sum / (shares.len() as f64 * squares);
    println!("{shares:?}: {jain:.3}");
    assert!(jain >= 0.95, "{shares:?}: {jain}");
    world.settle().await;
    world.finish().await;
}
