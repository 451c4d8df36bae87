//! Workers that run by themselves: their slots, their leases, and what they hand back.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::json;
use tokio::sync::watch;
use tokio::task::yield_now;
use ucp_app::resealing::reseal;
use ucp_model::{Clock, SeededEntropy};
use ucp_seal::{Keyring, SealingKey};
use ucp_store::{Claimed, LeaseTerm, SUSPECTED, TRIED_ALONE};
use ucp_testkit::{ACCOUNT, REGION, Reply, World, apply, on_every_store, tracked_by};

const OTHER_ACCOUNT: &str = "222222222222";
const LOG_GROUP: &str = "AWS.Logs/LogGroup";
const VPC: &str = "AWS.EC2/VPC";

/// Puts a resource without waiting for it.
async fn put(world: &World, account: &str, resource_type: &str, alias: &str) -> Reply {
    let path = format!(
        "/planes/aws/aws/accounts/{account}/regions/{REGION}/providers/{resource_type}/:put"
    );
    let properties = match resource_type {
        VPC => json!({"CidrBlock": "10.0.0.0/16"}),
        _ => json!({"LogGroupName": alias}),
    };
    let tracked_by = tracked_by(resource_type, alias);
    let body = json!({"alias": alias, "trackedBy": tracked_by, "properties": properties});
    let body = body.to_string();
    let put = world.send_without_waiting("POST", &path, &body);
    put.await.expect(201)
}

/// Runs workers until `done`, then stops them. The deadline is for a failing test only.
async fn run_until(world: &World, slots: usize, done: impl AsyncFnOnce()) {
    let (stop, shutdown) = watch::channel(false);
    let workers = tokio::spawn(world.workers(slots).run(shutdown));
    let done = tokio::time::timeout(Duration::from_secs(60), done()).await;
    world.hang(None);
    stop.send_replace(true);
    workers.await.expect("they stop");
    done.expect("it is done in time");
}

#[apply(on_every_store)]
async fn a_hanging_account_leaves_slots_to_others(world: &World) {
    world.hang(Some(ACCOUNT));
    for number in 0..40 {
        put(world, ACCOUNT, LOG_GROUP, &format!("log-{number}")).await;
    }
    world.clock.advance(Duration::from_secs(1));
    let other = put(world, OTHER_ACCOUNT, VPC, "vpc").await;
    run_until(world, 8, async || {
        while world.status(&other).await["status"] == "Accepted" || world.creates() == 0 {
            yield_now().await;
        }
    })
    .await;
    world.settle().await;
    assert_eq!(world.status(&other).await["status"], "Succeeded");
    assert_eq!(world.live("AWS::Logs::LogGroup").len(), 40);
}

#[tokio::test(start_paused = true)]
async fn a_lease_is_renewed_while_a_call_runs() {
    const THIRD: Duration = Duration::from_secs(10);
    let world = World::builder().build().await;
    world.hang(Some(ACCOUNT));
    let reply = put(&world, ACCOUNT, LOG_GROUP, "log").await;
    run_until(&world, 1, async || {
        while world.asked_store("renew_lease") < 5 {
            let before = world.asked_store("renew_lease");
            tokio::time::sleep(Duration::from_millis(1)).await;
            if world.asked_store("renew_lease") == before {
                continue;
            }
            world.clock.advance(THIRD);
            let term = LeaseTerm(THIRD);
            let now = world.clock.now();
            let claim = world.store.claim_due_operations("thief", now, term, 1);
            assert!(claim.await.unwrap().is_empty(), "the lease was not renewed");
        }
    })
    .await;
    world.settle().await;
    assert_eq!(world.status(&reply).await["status"], "Succeeded");
    assert_eq!(world.live("AWS::Logs::LogGroup").len(), 1);
    world.finish().await;
}

/// Seals everything under another key.
async fn rotate(world: &World, current: u8, previous: u8) {
    let key = |byte| SealingKey::new([byte; 32]);
    let ring = Keyring::new(key(current), vec![key(previous)]);
    let entropy = SeededEntropy::new(9);
    let resealed = reseal(world.store.as_ref(), &ring, &entropy);
    resealed.await.expect("the store answers");
}

/// A process that was given the new key too late hands back what it cannot open.
#[apply(on_every_store)]
async fn what_another_key_seals_is_handed_back(world: &World) {
    let reply = put(world, ACCOUNT, VPC, "vpc").await;
    rotate(world, 8, 7).await;
    world.expect_log("sealed under the encryption key");
    world.step().await;
    let next = world.store.next_claimable_at().await.unwrap();
    let wait = next.expect("it is live").since(world.clock.now());
    assert_eq!(wait, Duration::from_secs(5));
    // From here on the key is known.
    rotate(world, 7, 8).await;
    assert_eq!(world.status(&reply).await["status"], "Accepted");
    world.clock.advance(wait);
    world.settle().await;
    assert_eq!(world.status(&reply).await["status"], "Succeeded");
}

/// Whoever reads the log is told of the key, not of each operation.
#[tokio::test]
async fn a_missing_key_is_reported_as_such() {
    let world = World::builder().build().await;
    for alias in ["one", "two", "three"] {
        put(&world, ACCOUNT, VPC, alias).await;
    }
    rotate(&world, 8, 7).await;
    world.expect_log("operations wait for a process that has their encryption key");
    run_until(&world, 2, async || {
        while world.asked_store("hand_back") < 3 {
            yield_now().await;
        }
    })
    .await;
    rotate(&world, 7, 8).await;
    world.clock.advance(Duration::from_secs(5));
    world.settle().await;
    world.finish().await;
}

/// A process whose machine shows another time than the database is not ready.
#[tokio::test]
async fn a_machine_with_a_wrong_clock_is_not_ready() {
    let world = World::builder().build().await;
    world.clock.set_skew(Duration::from_secs(5));
    world.get("/readyz").await.expect(200);
    world.expect_log("not ready");
    world.clock.set_skew(Duration::from_millis(5_001));
    world.get("/readyz").await.expect(503);
    world.get("/healthz").await.expect(200);
    world.clock.set_skew(Duration::ZERO);
    world.get("/readyz").await.expect(200);
    world.finish().await;
}

const TERM: LeaseTerm = LeaseTerm(Duration::from_secs(30));

/// Claims everything as soon as something can be claimed.
async fn claim(world: &World) -> Vec<Claimed> {
    let due = world.store.next_claimable_at().await;
    let due = due.expect("the store answers").expect("a live operation");
    world.clock.move_to(due);
    let claim = world
        .store
        .claim_due_operations("lost", world.clock.now(), TERM, 100);
    claim.await.expect("the store answers")
}

/// Claims the only live operation as a worker that begins its step and never ends it, again and again.
async fn take_over(world: &World, times: usize) {
    for _ in 0..times {
        let claimed = claim(world).await;
        assert_eq!(claimed.len(), 1);
        if claimed[0].takeovers == SUSPECTED {
            let tried = world
                .store
                .try_alone(&claimed[0].lease, world.clock.now(), TERM);
            tried.await.expect("the store answers");
        }
    }
}

#[apply(on_every_store)]
async fn a_step_that_nobody_can_finish_ends_its_operation(world: &World) {
    let lost = put(world, ACCOUNT, VPC, "lost").await;
    take_over(world, 3).await;
    let other = put(world, ACCOUNT, LOG_GROUP, "other").await;
    world.settle().await;
    let status = world.status(&lost).await;
    assert_eq!(status["status"], "Failed");
    assert_eq!(status["error"]["code"], "Abandoned");
    let message = status["error"]["message"].as_str().expect("a message");
    assert!(message.contains("Nothing was sent to AWS."), "{message}");
    assert_eq!(world.calls("CreateResource"), 1, "the other one");
    assert_eq!(world.status(&other).await["status"], "Succeeded");
    // Its alias is free.
    let again = put(world, ACCOUNT, VPC, "lost").await;
    world.settle().await;
    assert_eq!(world.status(&again).await["status"], "Succeeded");
}

/// Workers that claim and come to nothing, as on a machine that is far too busy, are no reason to give anything up.
#[apply(on_every_store)]
async fn what_is_only_claimed_again_and_again_goes_on(world: &World) {
    let reply = put(world, ACCOUNT, VPC, "slow").await;
    for _ in 0..20 {
        assert_eq!(claim(world).await.len(), 1);
    }
    world.settle().await;
    assert_eq!(world.status(&reply).await["status"], "Succeeded");
}

/// A process whose end comes again and again takes along all that it is at work on. Only the suspect that it stepped alone
/// is given up.
#[apply(on_every_store)]
async fn suspects_are_stepped_one_at_a_time(world: &World) {
    const SUSPECTS: usize = 5;
    let mut puts = Vec::new();
    for number in 0..SUSPECTS {
        puts.push(put(world, ACCOUNT, LOG_GROUP, &format!("log-{number}")).await);
    }
    for _ in 0..=SUSPECTED {
        assert_eq!(claim(world).await.len(), SUSPECTS);
    }
    let due = world.store.next_claimable_at().await;
    let due = due.expect("the store answers").expect("a live operation");
    world.clock.move_to(due);

    world.hold_next_step();
    let (stop, shutdown) = watch::channel(false);
    let workers = tokio::spawn(world.workers(SUSPECTS).run(shutdown));
    world.is_step_held().await;
    // The others have every opportunity.
    for _ in 0..1_000 {
        yield_now().await;
    }
    assert_eq!(world.asked_store("try_alone"), 1);
    // It dies.
    workers.abort();
    let died = workers.await.expect_err("it was aborted");
    assert!(died.is_cancelled());
    drop(stop);

    let (mut seen, mut tried) = (BTreeSet::new(), 0);
    while seen.len() < SUSPECTS {
        for claimed in claim(world).await {
            let is_new = seen.insert(claimed.operation.header.id);
            tried += usize::from(is_new && claimed.takeovers == TRIED_ALONE);
        }
    }
    assert_eq!(tried, 1);
    world.settle().await;
    let mut given_up = Vec::new();
    for put in &puts {
        let status = world.status(put).await;
        if status["status"] != "Succeeded" {
            given_up.push(status["error"]["code"].clone());
        }
    }
    assert_eq!(given_up, ["Abandoned"]);
}

/// Whoever takes over for the third time goes on if the second one has written a step.
#[apply(on_every_store)]
async fn a_step_that_is_written_begins_the_count_anew(world: &World) {
    let reply = put(world, ACCOUNT, VPC, "slow").await;
    take_over(world, 2).await;
    let due = world
        .store
        .next_claimable_at()
        .await
        .expect("the store answers");
    world.clock.move_to(due.expect("a live operation"));
    world.step().await;
    take_over(world, 2).await;
    world.settle().await;
    assert_eq!(world.status(&reply).await["status"], "Succeeded");
}

/// The outcome of a create that was sent is unknown, and its alias is not free.
#[apply(on_every_store)]
async fn what_was_sent_before_a_step_that_nobody_can_finish_is_unknown(world: &World) {
    let lost = put(world, ACCOUNT, VPC, "lost").await;
    world.step().await;
    assert_eq!(world.calls("CreateResource"), 1);
    take_over(world, 4).await;
    world.settle().await;
    let status = world.status(&lost).await;
    assert_eq!(status["status"], "Failed");
    assert_eq!(status["error"]["code"], "OutcomeUnknown");
    let message = status["error"]["message"].as_str().expect("a message");
    assert!(
        message.contains("No worker could finish a step"),
        "{message}"
    );
    let references = world.references().await;
    assert_eq!(references[0]["provisioningState"], "Unknown");
}
