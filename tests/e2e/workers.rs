//! Workers that run by themselves: their slots, their leases, and what they hand back.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::json;
use tokio::sync::watch;
use tokio::task::yield_now;
use ucp_app::resealing::reseal;
use ucp_model::{Clock, SeededEntropy};
use ucp_seal::{Keyring, SealingKey};
use ucp_store::{CONDEMNED, Claimed, LeaseTerm, SUSPECTED, TAKEN_OVER_OFTEN};
use ucp_testkit::{ACCOUNT, REGION, Reply, World, apply, on_every_store, tracked_by};

const OTHER_ACCOUNT: &str = "222222222222";
const LOG_GROUP: &str = "AWS.Logs/LogGroup";
const VPC: &str = "AWS.EC2/VPC";
/// The alias of a long declaration.
const LONG: &str = "long";

/// Puts a resource without waiting for it.
async fn put(world: &World, account: &str, resource_type: &str, alias: &str) -> Reply {
    let path = format!(
        "/planes/aws/aws/accounts/{account}/regions/{REGION}/providers/{resource_type}/:put"
    );
    let properties = match resource_type {
        VPC => json!({"CidrBlock": "10.0.0.0/16"}),
        // So long that it is not planned at once.
        LOG_GROUP if alias == LONG => {
            let text = "long ".repeat(2_000);
            json!({"LogGroupName": alias, "DataProtectionPolicy": {"Description": text}})
        }
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

/// Moves the clock to when something can be claimed, and returns how long that takes.
async fn wait(world: &World) -> Duration {
    let due = world.store.next_claimable_at().await;
    let due = due.expect("the store answers").expect("a live operation");
    let wait = due.since(world.clock.now());
    world.clock.move_to(due);
    wait
}

/// Claims everything as soon as something can be claimed.
async fn claim(world: &World) -> Vec<Claimed> {
    wait(world).await;
    let claim = world
        .store
        .claim_due_operations("lost", world.clock.now(), TERM, 100);
    claim.await.expect("the store answers")
}

/// Claims everything as a process does, and dies while all is armed that was taken over.
async fn die(world: &World) -> usize {
    let claimed = claim(world).await;
    let taken_over = claimed.iter().filter(|claimed| claimed.lease.takeovers > 0);
    for claimed in taken_over.filter(|claimed| claimed.lease.takeovers < CONDEMNED) {
        let armed = world.store.arm(&claimed.lease, world.clock.now(), TERM);
        armed.await.expect("the store answers");
    }
    claimed.len()
}

/// Claims the only live operation as a worker that begins its step and never ends it, again and again.
async fn take_over(world: &World, times: usize) {
    for _ in 0..times {
        assert_eq!(die(world).await, 1);
    }
}

/// Runs workers, and ends them as their process does when it is killed `at` some point.
async fn kill(world: &World, slots: usize, at: impl AsyncFnOnce()) {
    let (stop, shutdown) = watch::channel(false);
    let workers = tokio::spawn(world.workers(slots).run(shutdown));
    let at = tokio::time::timeout(Duration::from_secs(60), at()).await;
    workers.abort();
    let died = workers.await.expect_err("it was aborted");
    assert!(died.is_cancelled());
    drop(stop);
    world.release_steps();
    at.expect("it gets there");
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

/// A process whose end comes again and again takes along all that it is at work on. Only the suspect that it was at work on
/// alone is given up.
#[apply(on_every_store)]
async fn suspects_are_stepped_one_at_a_time(world: &World) {
    const SUSPECTS: usize = 5;
    let mut puts = Vec::new();
    for number in 0..SUSPECTS {
        puts.push(put(world, ACCOUNT, LOG_GROUP, &format!("log-{number}")).await);
    }
    for _ in 0..2 {
        assert_eq!(die(world).await, SUSPECTS);
    }
    wait(world).await;

    world.hold_next_write();
    kill(world, SUSPECTS, async || {
        world.is_write_held().await;
        // The others have every opportunity.
        for _ in 0..1_000 {
            yield_now().await;
        }
        let armed = world.asked_store("arm") - world.asked_store("disarm");
        assert_eq!(armed, 1);
    })
    .await;

    let (mut seen, mut condemned) = (BTreeSet::new(), 0);
    while seen.len() < SUSPECTS {
        for claimed in claim(world).await {
            let is_new = seen.insert(claimed.operation.header.id);
            condemned += usize::from(is_new && claimed.lease.takeovers == CONDEMNED);
        }
    }
    assert_eq!(condemned, 1);
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

/// Runs workers that die each time that they are at work on the only operation and do not wait for AWS.
async fn die_again_and_again(world: &World, leases: impl IntoIterator<Item = u64>) {
    for lease in leases {
        world.hold_next_write();
        kill(world, 1, async || world.is_write_held().await).await;
        assert_eq!(wait(world).await, Duration::from_secs(lease));
    }
}

/// A plan that takes long may end workers, and the third time it is given up.
#[apply(on_every_store)]
async fn what_kills_its_workers_is_given_up(world: &World) {
    let reply = put(world, ACCOUNT, LOG_GROUP, LONG).await;
    die_again_and_again(world, [30, 30]).await;
    let armed = world.asked_store("arm");
    assert_eq!((armed, world.asked_store("disarm")), (1, 0));
    die_again_and_again(world, [60]).await;
    world.settle().await;
    let status = world.status(&reply).await;
    assert_eq!(status["error"]["code"], "Abandoned");
    assert_eq!(world.creates(), 0);
}

/// The like is not known of short ones, and many processes may be killed in a row. But that has an end too.
#[apply(on_every_store)]
async fn what_kills_its_workers_in_an_unknown_way_is_given_up_later(world: &World) {
    let reply = put(world, ACCOUNT, LOG_GROUP, "short").await;
    let unarmed = [30; TAKEN_OVER_OFTEN as usize];
    die_again_and_again(world, unarmed).await;
    assert_eq!(world.asked_store("arm"), 0);
    die_again_and_again(world, [30, 60]).await;
    world.settle().await;
    let status = world.status(&reply).await;
    assert_eq!(status["error"]["code"], "Abandoned");
    assert_eq!(world.creates(), 0);
}

/// Processes are killed for many reasons, and nearly always while their steps wait for AWS. That says nothing of an
/// operation, not even of a suspect.
#[apply(on_every_store)]
async fn who_dies_while_it_waits_for_aws_holds_nothing_against_an_operation(world: &World) {
    let taken_over = put(world, ACCOUNT, LOG_GROUP, LONG).await;
    let die_waiting = async || {
        world.hold_next_step();
        kill(world, 2, async || world.are_steps_held(1).await).await;
        assert_eq!(wait(world).await, TERM.0, "as long as any other");
    };
    for _ in 0..TAKEN_OVER_OFTEN + 3 {
        die_waiting().await;
    }
    let found = claim(world).await;
    assert_eq!(found[0].lease.takeovers, TAKEN_OVER_OFTEN);
    world.settle().await;
    assert_eq!(world.status(&taken_over).await["status"], "Succeeded");

    let suspect = put(world, ACCOUNT, LOG_GROUP, "suspect").await;
    take_over(world, 2).await;
    wait(world).await;
    for _ in 0..5 {
        die_waiting().await;
    }
    let found = claim(world).await;
    assert_eq!(found[0].lease.takeovers, SUSPECTED);
    world.settle().await;
    assert_eq!(world.status(&suspect).await["status"], "Succeeded");
}

/// A process that takes over a hundred operations waits for AWS on behalf of all of them at once, even if all are
/// suspected.
#[apply(on_every_store)]
async fn what_was_taken_over_waits_for_aws_at_the_same_time(world: &World) {
    const OPERATIONS: usize = 100;
    let mut puts = Vec::new();
    for number in 0..OPERATIONS {
        puts.push(put(world, ACCOUNT, LOG_GROUP, &format!("log-{number}")).await);
    }
    for _ in 0..2 {
        assert_eq!(die(world).await, OPERATIONS);
        wait(world).await;
        for _ in 0..OPERATIONS {
            world.hold_next_step();
        }
        // Half of the slots are for others.
        kill(world, 2 * OPERATIONS, async || {
            world.are_steps_held(OPERATIONS).await;
        })
        .await;
    }
    world.settle().await;
    for put in &puts {
        assert_eq!(world.status(put).await["status"], "Succeeded");
    }
}

/// It costs statements: one for a plan that takes long, and three if it was taken over often. Most operations pay nothing,
/// not even after a crash.
#[apply(on_every_store)]
async fn few_operations_are_armed(world: &World) {
    let asked = || ["arm", "disarm"].map(|method| world.asked_store(method));
    for (alias, takeovers, expected) in [
        ("healthy", 0, [0, 0]),
        ("taken-over", 1, [0, 0]),
        (LONG, 1, [1, 0]),
        ("often", TAKEN_OVER_OFTEN, [2, 1]),
    ] {
        put(world, ACCOUNT, LOG_GROUP, alias).await;
        for _ in 0..takeovers {
            claim(world).await;
        }
        wait(world).await;
        let before = asked();
        world.settle().await;
        let [arm, disarm] = asked();
        assert_eq!([arm - before[0], disarm - before[1]], expected, "{alias}");
    }
    assert_eq!(world.live("AWS::Logs::LogGroup").len(), 4);
}

/// Whoever takes over for the third time goes on if the second one has written a step.
#[apply(on_every_store)]
async fn a_step_that_is_written_begins_the_count_anew(world: &World) {
    let reply = put(world, ACCOUNT, VPC, "slow").await;
    take_over(world, 2).await;
    wait(world).await;
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
