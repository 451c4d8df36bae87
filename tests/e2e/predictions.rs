//! How good plans were: what puts were to make of resources, compared with what AWS shows after them.

use std::time::Duration;

use serde_json::{Value, json};
use ucp_simulator::Action;
use ucp_simulator::faults::{Effect, fault};
use ucp_testkit::{World, apply, on_every_store, tracked_by};

const LOGS: &str = "AWS.Logs/LogGroup";
const PREDICTIONS: &str = "/planes/aws/aws/providers/System.AWS/predictions";
const VPC: &str = "AWS.EC2/VPC";

fn logs(retention: u32) -> Value {
    json!({"LogGroupName": "logs", "RetentionInDays": retention})
}

fn record(name: &str, applies: u64, exact: u64, accuracy: f64) -> Value {
    let properties = json!({"applies": applies, "exact": exact, "accuracy": accuracy});
    json!({"name": name, "properties": properties})
}

async fn records(world: &World) -> Value {
    let list = world.get(PREDICTIONS).await.expect(200);
    list.body["value"].clone()
}

/// The track record of the only change of a what-if.
async fn foretold(world: &World, declared: Value) -> Value {
    let body = json!({"trackedBy": tracked_by(LOGS, "logs"), "properties": declared});
    let reply = world.post(LOGS, "whatIf", &body).await.expect(200);
    reply.body["properties"]["changes"][0]["trackRecord"].clone()
}

#[apply(on_every_store)]
async fn each_put_that_sends_something_counts(world: &World) {
    assert_eq!(records(world).await, json!([]));
    let path = format!("{PREDICTIONS}/AWS::Logs::LogGroup");
    let missing = world.get(&path).await.expect(404);
    assert_eq!(missing.code(), "NotFound");
    assert_eq!(foretold(world, logs(7)).await, Value::Null);

    world.put_and_settle(LOGS, "logs", logs(7)).await;
    let exact = record("AWS::Logs::LogGroup", 1, 1, 1.0);
    assert_eq!(world.get(&path).await.expect(200).body, exact);
    assert_eq!(foretold(world, logs(14)).await, exact["properties"]);
    // A put that has nothing to do was not planned to do anything.
    assert_eq!(foretold(world, logs(7)).await, Value::Null);
    world.put_and_settle(LOGS, "logs", logs(7)).await;
    assert_eq!(records(world).await, json!([exact]));

    let paths = vec!["/RetentionInDays".to_owned()];
    let dropping = fault(Effect::DropPaths { paths });
    let dropping = dropping.on(Action::UpdateResource).times(1);
    world.aws.add_fault(dropping);
    world.put_and_settle(LOGS, "logs", logs(14)).await;
    world.put_and_settle(LOGS, "logs", logs(14)).await;
    let vpc = json!({"CidrBlock": "10.0.0.0/16"});
    world.put_and_settle(VPC, "vpc", vpc).await;
    let all = json!([
        record("AWS::EC2::VPC", 1, 1, 1.0),
        record("AWS::Logs::LogGroup", 3, 2, 0.6667),
    ]);
    assert_eq!(records(world).await, all);
    // What is added up stays when the operations are gone.
    world.sweep(Duration::ZERO).await;
    assert_eq!(records(world).await, all);
}

/// What is no type is refused, and a type without a put is not there.
#[apply(on_every_store)]
async fn what_is_no_type_is_refused(world: &World) {
    let asked = |name: &str| format!("{PREDICTIONS}/{name}");
    let refused = world.get(&asked("VPC")).await.expect(400);
    assert!(refused.text.contains("AWS::EC2::VPC"), "{}", refused.text);
    world.get(&asked("AWS::EC2::VPC")).await.expect(404);
}

/// A put that resets what nobody has declared was not planned so.
#[tokio::test]
async fn what_an_update_resets_was_planned_to_stay() {
    let world = World::builder().build().await;
    world.put_group("rg").await;
    world.put_and_settle(LOGS, "logs", logs(7)).await;
    let change = |properties: &Value| {
        let target = ("AWS::Logs::LogGroup", "logs");
        let changed = world.aws.patch_out_of_band(None, None, target, properties);
        changed.expect("it is there");
    };
    change(&json!({"LogGroupClass": "DELIVERY"}));
    let reply = world.put(LOGS, "logs", logs(14)).await.expect(201);
    while world.calls("UpdateResource") == 0 {
        world.step().await;
    }
    change(&json!({"LogGroupClass": "STANDARD"}));
    world.settle().await;
    let status = world.status(&reply).await;
    assert_eq!(status["status"], "Succeeded", "{status}");
    let expected = json!({"exact": false, "confirmed": 2, "unreadable": [], "differences": [
        {"path": "/LogGroupClass", "kind": "different", "planned": "DELIVERY", "live": "STANDARD"}]});
    assert_eq!(status["prediction"], expected);
    world.finish().await;
}
