//! Cancelling operations: `Canceled` only if AWS confirms; the remaining resource is read and recorded.

use serde_json::{Value, json};
use ucp_simulator::Action;
use ucp_simulator::faults::{Effect, fault};
use ucp_testkit::{Reply, World, apply, on_every_store};

const VPC: &str = "AWS.EC2/VPC";

async fn cancel(world: &World, reply: &Reply) -> Reply {
    let url = reply.status_url();
    let path = &url[url.find("/planes/").expect("an absolute URL")..];
    world.call("POST", &format!("{path}/:cancel"), "").await
}

/// Cancels the operation of `reply` while it is in progress. Returns the final status.
async fn cancel_in_flight(world: &World, reply: &Reply) -> Value {
    world.step().await;
    let running = world.status(reply).await;
    assert_eq!(running.get("cancelRequested"), None);
    let asked = cancel(world, reply).await.expect(202);
    assert_eq!(asked.status_url(), reply.status_url());
    assert_eq!(asked.body["cancelRequested"], true, "D49: {}", asked.text);
    assert_eq!(asked.body["id"], running["id"]);
    assert_eq!(asked.body["status"], running["status"]);
    world.settle().await;
    world.status(reply).await
}

fn slow(world: &World, operation: Action) {
    world.aws.add_fault(
        fault(Effect::Latency {
            least_millis: 60_000,
            most_millis: 60_000,
        })
        .on(operation)
        .times(1),
    );
}

#[apply(on_every_store)]
async fn a_cancelled_create_leaves_nothing(world: &World) {
    slow(world, Action::CreateResource);
    let reply = world
        .put(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    let status = cancel_in_flight(world, &reply).await;
    assert_eq!(status["status"], "Canceled", "{status}");
    assert_eq!(status["error"]["code"], "Canceled");
    assert!(world.live("AWS::EC2::VPC").is_empty());
    assert!(world.references().await.is_empty());
    let result = reply
        .header("location")
        .expect("a location")
        .replace("http://localhost:8787", "");
    assert_eq!(world.get(&result).await.status, 409);
}

#[apply(on_every_store)]
async fn a_cancelled_update_keeps_the_reference_and_records_what_is_left(world: &World) {
    world
        .put_and_settle(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    slow(world, Action::UpdateResource);
    let changed = json!({"CidrBlock": "10.0.0.0/16", "EnableDnsSupport": false});
    let reply = world.put(VPC, "main", changed.clone()).await.expect(201);
    let status = cancel_in_flight(world, &reply).await;
    assert_eq!(status["status"], "Canceled", "{status}");
    let reference = &world.references().await[0];
    assert_eq!(reference["provisioningState"], "Canceled");
    assert_eq!(reference["ownedResource"], true);
    assert_ne!(reference["properties"]["EnableDnsSupport"], false);
    assert_eq!(
        world.put_and_settle(VPC, "main", changed).await["status"],
        "Succeeded"
    );
}

#[apply(on_every_store)]
async fn a_cancelled_delete_keeps_the_reference(world: &World) {
    world
        .put_and_settle(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    slow(world, Action::DeleteResource);
    let reply = world.delete(VPC, "main").await.expect(202);
    let status = cancel_in_flight(world, &reply).await;
    assert_eq!(status["status"], "Canceled", "{status}");
    assert_eq!(world.live("AWS::EC2::VPC").len(), 1);
    assert_eq!(world.references().await.len(), 1);
}

#[apply(on_every_store)]
async fn an_operation_that_ends_before_the_cancel_ends_as_it_would_have(world: &World) {
    let reply = world
        .put(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    world.settle().await;
    assert_eq!(world.status(&reply).await["status"], "Succeeded");
    let late = cancel(world, &reply).await.expect(409);
    assert_eq!(late.code(), "Conflict");
    let id = "00000000-0000-4000-8000-000000000000";
    let url = reply.status_url().rsplit_once('/').expect("an id").0;
    let path = &url[url.find("/planes/").expect("a path")..];
    world
        .call("POST", &format!("{path}/{id}/:cancel"), "")
        .await
        .expect(404);
}

#[apply(on_every_store)]
async fn nothing_is_sent_for_an_operation_that_is_cancelled_in_time(world: &World) {
    let path = format!(
        "/planes/aws/aws/accounts/{}/regions/{}/providers/{VPC}/:put",
        ucp_testkit::ACCOUNT,
        ucp_testkit::REGION
    );
    let body = json!({"trackedBy": ucp_testkit::tracked_by(VPC, "main"),
        "properties": {"CidrBlock": "10.0.0.0/16"}});
    let reply = world
        .send_without_waiting("POST", &path, &body.to_string())
        .await
        .expect(201);
    let url = reply.status_url();
    let cancel = format!("{}/:cancel", &url[url.find("/planes/").expect("a path")..]);
    world
        .send_without_waiting("POST", &cancel, "")
        .await
        .expect(202);
    world.settle().await;
    assert_eq!(world.status(&reply).await["status"], "Canceled");
    assert_eq!(world.calls("CreateResource"), 0);
    assert!(world.references().await.is_empty());
}

#[apply(on_every_store)]
async fn a_cancelled_deletion_leaves_the_group_with_what_is_left(world: &World) {
    for alias in ["a", "b"] {
        world
            .put_and_settle(VPC, alias, json!({"CidrBlock": "10.0.0.0/16"}))
            .await;
    }
    slow(world, Action::DeleteResource);
    slow(world, Action::DeleteResource);
    let group = format!("{}?api-version=2023-10-01-preview", ucp_testkit::GROUP);
    let reply = world
        .send_without_waiting("DELETE", &group, "")
        .await
        .expect(202);
    world.step().await;
    let status = cancel_in_flight(world, &reply).await;
    assert_eq!(status["status"], "Canceled", "{status}");
    assert_eq!(status["error"]["code"], "Canceled");
    assert_eq!(world.live("AWS::EC2::VPC").len(), 2);
    assert_eq!(world.references().await.len(), 2);

    world
        .call_until_settled("DELETE", &group, "")
        .await
        .expect(200);
    assert!(world.live("AWS::EC2::VPC").is_empty());
    let late = cancel(world, &reply).await;
    assert_eq!(late.status, 409, "{}", late.text);
    world.put_group("rg").await;
}

#[apply(on_every_store)]
async fn a_cancelled_replacement_leaves_one_resource_or_says_that_there_is_none(world: &World) {
    let replace = |policy: &str| {
        json!({"trackedBy": ucp_testkit::tracked_by(VPC, "main"), "replacementPolicy": policy,
            "properties": {"CidrBlock": "10.1.0.0/16"}})
    };
    world
        .put_and_settle(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    let old = world.live("AWS::EC2::VPC");
    for (policy, operation) in [
        ("createBeforeDelete", Action::CreateResource),
        ("deleteBeforeCreate", Action::DeleteResource),
    ] {
        slow(world, operation);
        let reply = world.post(VPC, "put", &replace(policy)).await.expect(201);
        let status = cancel_in_flight(world, &reply).await;
        assert_eq!(status["status"], "Canceled", "{policy}: {status}");
        assert_eq!(world.live("AWS::EC2::VPC"), old, "{policy}");
        let reference = &world.references().await[0];
        assert_eq!(reference["mapsTo"]["primaryIdentifier"], old[0].as_str());
        assert_eq!(reference["ownedResource"], true);
    }
}
