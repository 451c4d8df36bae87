//! D46: an alias whose create may stand is never free.

use serde_json::{Value, json};
use ucp_simulator::faults::{fail, fault, refuse};
use ucp_simulator::{Action, ExceptionCode, HandlerErrorCode};
use ucp_testkit::{GROUP, Reply, World, apply, on_every_store, tracked_by};

const API_VERSION: &str = "api-version=2023-10-01-preview";
const VPC: &str = "AWS.EC2/VPC";

fn declared() -> Value {
    json!({"CidrBlock": "10.0.0.0/16"})
}

async fn leftovers(world: &World) -> Vec<Value> {
    let listed = world.get(&format!("{GROUP}/leftovers")).await.expect(200);
    let value = listed.body["value"].as_array();
    value.expect("a page of leftovers").clone()
}

async fn state(world: &World) -> Value {
    world.references().await[0]["provisioningState"].clone()
}

/// A create of which AWS does not say what came of it. It has made a VPC, which no list may show.
async fn unknown(world: &World) -> String {
    let late = fail(HandlerErrorCode::ServiceTimeout).saying("late");
    let late = fault(late.hidden().made()).on(Action::CreateResource);
    world.aws.add_fault(late.times(1));
    let unlisted = refuse(ExceptionCode::AccessDenied).saying("no");
    world
        .aws
        .add_fault(fault(unlisted).on(Action::ListResources));
    let ended = world.put_and_settle(VPC, "main", declared()).await;
    world.aws.clear_faults();
    assert_eq!(ended["error"]["code"], "OutcomeUnknown", "{ended}");
    let reference = &world.references().await[0];
    assert_eq!(reference["provisioningState"], "Unknown");
    assert_eq!(reference["ownedResource"], false);
    assert_eq!(reference["mapsTo"]["primaryIdentifier"], Value::Null);
    world.live("AWS::EC2::VPC").remove(0)
}

async fn put_again(world: &World) -> Reply {
    world.put(VPC, "main", declared()).await
}

#[apply(on_every_store)]
async fn a_put_is_refused_until_it_is_decided(world: &World) {
    unknown(world).await;
    let listed = leftovers(world).await;
    let [entry] = &listed[..] else {
        panic!("one leftover, not {listed:?}")
    };
    assert_eq!(entry["properties"]["reason"], "OutcomeUnknown");
    let reference = entry["properties"]["reference"].as_str().unwrap();
    assert!(reference.ends_with("VPC:reference/main"), "{reference}");
    for _ in 0..2 {
        let refused = put_again(world).await.expect(409);
        assert_eq!(refused.code(), "OutcomeUnknown");
        for way in [":import", "DELETE", "abandon"] {
            assert!(refused.text.contains(way), "{}", refused.text);
        }
        let detail = &refused.body["error"]["details"][0];
        assert_eq!(detail["target"], entry["id"]);
        assert!(detail["message"].as_str().unwrap().contains("late"));
    }
    assert_eq!(world.creates(), 1);
    assert_eq!(state(world).await, "Unknown");
}

#[apply(on_every_store)]
async fn an_import_decides(world: &World) {
    let made = unknown(world).await;
    let import = |identifier: &str| json!({"trackedBy": tracked_by(VPC, "main"), "primaryIdentifier": identifier});
    let missing = world.post(VPC, "import", &import("vpc-0")).await;
    missing.expect(404);
    assert_eq!(state(world).await, "Unknown");
    assert_eq!(leftovers(world).await.len(), 1);

    let found = world.post(VPC, "import", &import(&made)).await;
    found.expect(201);
    assert_eq!(state(world).await, "Succeeded");
    assert_eq!(leftovers(world).await, [] as [Value; 0]);
    put_again(world).await.expect(200);
    assert_eq!(world.live("AWS::EC2::VPC"), [made]);
    // An alias that stands for something is not imported again.
    let again = world.post(VPC, "import", &import("vpc-0")).await;
    assert_eq!(again.expect(409).code(), "Conflict");
}

#[apply(on_every_store)]
async fn a_delete_decides(world: &World) {
    let made = unknown(world).await;
    let id = tracked_by(VPC, "main");
    world.call("DELETE", &id, "").await.expect(200);
    assert_eq!(leftovers(world).await, [] as [Value; 0]);
    assert!(world.references().await.is_empty());
    assert_eq!(world.live("AWS::EC2::VPC"), [made.as_str()]);
    world.lets_go(&made);

    // The action too.
    unknown(world).await;
    let reply = world.delete(VPC, "main").await;
    assert!(matches!(reply.status, 202 | 204), "{}", reply.text);
    world.settle().await;
    let all = world.live("AWS::EC2::VPC");
    let again = all.iter().filter(|vpc| **vpc != made);
    again.for_each(|made| world.lets_go(made));
    assert_eq!(leftovers(world).await, [] as [Value; 0]);
    assert!(world.references().await.is_empty());
    put_again(world).await.expect(201);
    world.settle().await;
}

/// What is abandoned stays among the leftovers until somebody says otherwise.
#[apply(on_every_store)]
async fn a_put_may_abandon_it(world: &World) {
    unknown(world).await;
    let body = json!({
        "trackedBy": tracked_by(VPC, "main"),
        "resolve": "abandon",
        "properties": declared(),
    });
    let reply = world.post(VPC, "put", &body).await.expect(201);
    world.settle().await;
    assert_eq!(world.status(&reply).await["status"], "Succeeded");
    assert_eq!(state(world).await, "Succeeded");
    assert_eq!(world.creates(), 2);
    let left = leftovers(world).await;
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(left[0]["properties"]["reason"], "OutcomeUnknown");
    put_again(world).await.expect(200);
}

/// Each of two creates under one alias may have made something.
#[apply(on_every_store)]
async fn what_two_creates_may_have_made_stays_known(world: &World) {
    let first = unknown(world).await;
    let abandon = json!({
        "trackedBy": tracked_by(VPC, "main"),
        "resolve": "abandon",
        "properties": declared(),
    });
    let unlisted = refuse(ExceptionCode::AccessDenied).saying("no");
    let unlisted = fault(unlisted).on(Action::ListResources);
    let late = fail(HandlerErrorCode::ServiceTimeout).saying("late");
    let late = fault(late.hidden().made()).on(Action::CreateResource);
    world.aws.add_fault(unlisted);
    world.aws.add_fault(late.times(1));
    let reply = world.post(VPC, "put", &abandon).await.expect(201);
    world.settle().await;
    world.aws.clear_faults();
    assert_eq!(
        world.status(&reply).await["error"]["code"],
        "OutcomeUnknown"
    );
    assert_eq!(leftovers(world).await.len(), 2);
    let refused = put_again(world).await.expect(409);
    let named = refused.body["error"]["details"][0]["target"].clone();

    // The second decides itself. The first is nobody's but the reader's.
    world.clock.advance(std::time::Duration::from_secs(60));
    assert_eq!(world.keep().await, 1);
    world.settle().await;
    assert_eq!(state(world).await, "Failed");
    let mut made = world.live("AWS::EC2::VPC");
    made.retain(|vpc| *vpc != first);
    let stands_for = &world.references().await[0]["mapsTo"]["primaryIdentifier"];
    assert_eq!(*stands_for, made[0].as_str());
    let left = leftovers(world).await;
    let [left] = &left[..] else {
        panic!("one leftover, not {left:?}")
    };
    assert_ne!(left["id"], named);
    assert_eq!(left["properties"]["reason"], "OutcomeUnknown");
    assert_eq!(left["properties"]["nextTryAt"], Value::Null);
    world
        .clock
        .advance(std::time::Duration::from_secs(24 * 3600));
    assert_eq!(world.keep().await, 0);
}

#[apply(on_every_store)]
async fn it_blocks_the_deletion_of_its_group(world: &World) {
    let made = unknown(world).await;
    let path = format!("{GROUP}?{API_VERSION}");
    let blocked = world.call_until_settled("DELETE", &path, "").await;
    let blocked = blocked.expect(409);
    assert_eq!(blocked.code(), "ResourceGroupDeletionBlocked");
    let details = blocked.body["error"]["details"].as_array().unwrap();
    assert_eq!(details.len(), 1, "{details:?}");
    assert_eq!(details[0]["code"], "OutcomeUnknown");
    assert_eq!(state(world).await, "Unknown");
    world
        .call("DELETE", &tracked_by(VPC, "main"), "")
        .await
        .expect(200);
    let status = world.call_until_settled("DELETE", &path, "").await.status;
    assert!(matches!(status, 200 | 204), "{status}");
    world.lets_go(&made);
}
