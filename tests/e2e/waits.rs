//! Requests that wait for their operation (contract section 7) read nothing while a worker of the same process carries
//! it out. Time stands still while anything else can go on.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;
use ucp_simulator::faults::{fault, refuse};
use ucp_simulator::{Action, ExceptionCode};
use ucp_testkit::{ACCOUNT, GROUP, REGION, Reply, World, tracked_by};

const VPC: &str = "AWS.EC2/VPC";

/// How often the server has read operations by their ids.
fn reads(world: &World) -> usize {
    world.asked_store("get_operation") + world.asked_store("get_operations")
}

/// Sends a request that has to wait for a step, and expects the reply right after it, without a read.
async fn waited(world: &World, method: &str, path: &str, body: &str) -> Reply {
    let (began, before) = (Instant::now(), reads(world));
    let sending = async {
        let reply = world.send_with(&[], method, path, body).await;
        (reply, began.elapsed().as_millis())
    };
    let stepping = async {
        tokio::time::sleep(Duration::from_millis(10)).await;
        world.step().await;
        world.clock.advance(Duration::from_secs(60));
        world.settle().await;
    };
    let ((reply, took), ()) = tokio::join!(sending, stepping);
    assert_eq!(took, 10);
    assert_eq!(reads(world), before);
    reply
}

#[tokio::test(start_paused = true)]
async fn a_put_is_woken_by_the_step_that_decides() {
    let world = World::builder().build().await;
    let declared =
        |tag: &str| json!({"CidrBlock": "10.0.0.0/16", "Tags": [{"Key": "is", "Value": tag}]});
    world.put_and_settle(VPC, "main", declared("new")).await;
    let path = format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{VPC}/:put");
    let body = json!({"alias": "main", "trackedBy": tracked_by(VPC, "main"),
        "properties": declared("changed")});
    // The request does not know what is to be done.
    let throttled = fault(refuse(ExceptionCode::Throttling));
    world
        .aws
        .add_fault(throttled.on(Action::GetResource).times(1));
    let changed = waited(&world, "POST", &path, &body.to_string()).await;
    let changed = changed.expect(201);
    assert_eq!(world.status(&changed).await["status"], "Succeeded");
    world.finish().await;
}

/// The put goes on, and the audit has its operation.
#[tokio::test(start_paused = true)]
async fn nobody_waits_for_the_verdict_without_its_client() {
    let world = World::builder().build().await;
    let declared =
        |tag: &str| json!({"CidrBlock": "10.0.0.0/16", "Tags": [{"Key": "is", "Value": tag}]});
    world.put_and_settle(VPC, "main", declared("new")).await;
    let path = format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{VPC}/:put");
    let body = json!({"alias": "main", "trackedBy": tracked_by(VPC, "main"),
        "properties": declared("changed")});
    let body = body.to_string();
    let throttled = fault(refuse(ExceptionCode::Throttling));
    world
        .aws
        .add_fault(throttled.on(Action::GetResource).times(1));
    let before = world.audited().await.len();
    let leaving = Duration::from_millis(10);
    tokio::select! {
        reply = world.send_with(&[], "POST", &path, &body) => panic!("{reply:?}"),
        () = tokio::time::sleep(leaving) => {}
    }
    let left = Instant::now();
    let event = loop {
        if let Some(event) = world.audited().await.split_off(before).pop() {
            break event;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    };
    assert!(left.elapsed() < leaving, "{:?}", left.elapsed());
    assert_eq!(event.status, Some(201));
    assert!(event.operation.is_some());
    world.settle().await;
    world.finish().await;
}

#[tokio::test(start_paused = true)]
async fn the_deletion_of_a_group_is_woken_by_its_end() {
    let world = World::builder().build().await;
    world
        .put_and_settle(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    let path = format!("{GROUP}?api-version=2023-10-01-preview");
    waited(&world, "DELETE", &path, "").await.expect(200);
    world.finish().await;
}
