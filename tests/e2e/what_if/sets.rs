//! What the apply of a set would do.

use serde_json::{Value, json};
use ucp_testkit::{World, apply, on_every_store, tracked_by};

use super::{LOGS, VPC, deny_reads};
use crate::judging::in_time;
use crate::sets::{applied, send, set};

const SUBNET: &str = "AWS.EC2/Subnet";

async fn asked(world: &World, set: &Value) -> Value {
    send(world, "whatIf", set).await.expect(200).body
}

/// The kinds of the changes, with the aliases.
fn kinds(result: &Value) -> Vec<(&str, &str)> {
    let changes = result["properties"]["changes"].as_array();
    let changes = changes.unwrap_or_else(|| panic!("no changes: {result}"));
    changes
        .iter()
        .map(|change| {
            let id = change["trackedBy"].as_str().expect("a reference");
            let alias = id.rsplit('/').next().expect("an alias");
            (alias, change["changeType"].as_str().expect("a kind"))
        })
        .collect()
}

fn network(block: &str, tag: &str) -> Value {
    set(json!([
        {"alias": "sub", "type": SUBNET, "properties": {"VpcId": {"$reference": "net#/VpcId"}, "CidrBlock": "10.0.1.0/24",
            "Tags": [{"Key": "of", "Value": {"$concat": ["vpc ", {"$reference": "net"}]}}]}},
        {"alias": "net", "type": VPC, "replacementPolicy": "createBeforeDelete",
            "properties": {"CidrBlock": block, "Tags": [{"Key": "t", "Value": tag}]}},
    ]))
}

#[apply(on_every_store)]
async fn a_reference_takes_the_planned_value(world: &World) {
    let unknown = json!({"$unknown": true});
    let new = asked(world, &network("10.0.0.0/16", "a")).await;
    assert_eq!(new["status"], "Succeeded", "{new}");
    assert_eq!(kinds(&new), [("net", "Create"), ("sub", "Create")]);
    let subnet = &new["properties"]["changes"][1]["after"]["properties"];
    assert_eq!(subnet["VpcId"], unknown);
    assert_eq!(subnet["Tags"][0]["Value"], unknown);
    assert!(world.references().await.is_empty());
    assert!(world.aws.resources().is_empty());

    applied(world, &network("10.0.0.0/16", "a")).await;
    let same = asked(world, &network("10.0.0.0/16", "a")).await;
    assert_eq!(
        kinds(&same),
        [("net", "NoChange"), ("sub", "NoChange")],
        "{same}"
    );

    // An update keeps what it does not change.
    let updated = asked(world, &network("10.0.0.0/16", "b")).await;
    assert_eq!(
        kinds(&updated),
        [("net", "Modify"), ("sub", "NoChange")],
        "{updated}"
    );

    // What takes its place has another name.
    let replaced = asked(world, &network("10.0.0.0/8", "a")).await;
    assert_eq!(replaced["status"], "Succeeded", "{replaced}");
    assert_eq!(
        kinds(&replaced),
        [("net", "Modify"), ("sub", "Modify")],
        "{replaced}"
    );
    let subnet = &replaced["properties"]["changes"][1];
    assert_eq!(subnet["after"]["properties"]["VpcId"], unknown, "{subnet}");
    let warned = subnet["warnings"].as_array().expect("warnings");
    let warned = warned.iter().map(|warning| &warning["code"]);
    assert!(warned.into_iter().any(|code| code == "MayForceReplacement"));
}

/// What only a look shows is told with the changes, at its place in the body.
#[apply(on_every_store)]
async fn what_would_fail_is_told_with_the_changes(world: &World) {
    applied(world, &network("10.0.0.0/16", "a")).await;
    let mut refused = network("10.0.0.0/8", "a");
    refused["resources"][1]["replacementPolicy"] = Value::Null;
    let result = asked(world, &refused).await;
    assert_eq!(result["status"], "Failed", "{result}");
    assert_eq!(result["error"]["code"], "ApplyFailed");
    let detail = &result["error"]["details"][0];
    assert_eq!(detail["code"], "RequiresReplacement");
    assert_eq!(detail["target"], "/resources/1/properties/CidrBlock");
    assert_eq!(kinds(&result)[0], ("net", "Modify"));
}

#[apply(on_every_store)]
async fn what_is_not_listed_is_ignored_or_deleted(world: &World) {
    let log_group =
        |alias: &str| json!({"alias": alias, "type": LOGS, "properties": {"LogGroupName": alias}});
    applied(
        world,
        &set(json!([log_group("a"), log_group("b"), log_group("c")])),
    )
    .await;
    // One that the group does not own.
    let body = json!({"trackedBy": tracked_by(LOGS, "other"), "primaryIdentifier": "a"});
    world.post(LOGS, "import", &body).await.expect(201);

    let mut next = set(
        json!([log_group("a"), {"alias": "b", "type": LOGS, "delete": true},
        {"alias": "never", "type": LOGS, "delete": true}]),
    );
    let result = asked(world, &next).await;
    assert_eq!(
        kinds(&result),
        [
            ("a", "NoChange"),
            ("b", "Delete"),
            ("never", "NoChange"),
            ("c", "Ignore"),
            ("other", "Ignore")
        ],
        "{result}"
    );
    let deleted = &result["properties"]["changes"][1];
    assert_eq!(deleted["before"]["properties"]["LogGroupName"], "b");
    assert_eq!(deleted.get("after"), None);

    next["mode"] = json!("Complete");
    let result = asked(world, &next).await;
    assert_eq!(
        kinds(&result),
        [
            ("a", "NoChange"),
            ("b", "Delete"),
            ("never", "NoChange"),
            ("c", "Delete"),
            ("other", "Ignore")
        ],
        "{result}"
    );
    assert_eq!(world.aws.resources().len(), 3);
}

/// Nothing else deletes it but a delete of its own name.
#[apply(on_every_store)]
async fn a_delete_of_what_the_group_does_not_own_is_warned_of(world: &World) {
    let logs =
        |alias: &str| json!({"alias": alias, "type": LOGS, "properties": {"LogGroupName": alias}});
    applied(world, &set(json!([logs("ours"), logs("theirs")]))).await;
    let theirs = tracked_by(LOGS, "theirs");
    let path = format!("{theirs}?api-version=2023-10-01-preview");
    let given_up = json!({"ownedResource": false}).to_string();
    world.call("PATCH", &path, &given_up).await.expect(200);
    let gone = |alias: &str| json!({"alias": alias, "type": LOGS, "delete": true});
    let result = asked(world, &set(json!([gone("ours"), gone("theirs")]))).await;
    let changes = &result["properties"]["changes"];
    assert_eq!(changes[0].get("warnings"), None, "{result}");
    assert_eq!(changes[1]["changeType"], "Delete", "{result}");
    assert_eq!(changes[1]["warnings"][0]["code"], "NotOwned", "{result}");
}

#[apply(on_every_store)]
async fn one_that_cannot_be_read_leaves_its_values_unknown(world: &World) {
    applied(world, &network("10.0.0.0/16", "a")).await;
    deny_reads(world);
    world.tolerate_log("AWS did not answer a read");
    let result = asked(world, &network("10.0.0.0/16", "a")).await;
    assert_eq!(result["status"], "Succeeded", "{result}");
    assert_eq!(
        kinds(&result),
        [("net", "Unsupported"), ("sub", "Unsupported")]
    );
}

/// Nobody could say what such a plan does, so there is none.
#[apply(on_every_store)]
async fn what_refers_to_what_cannot_be_read_is_not_planned(world: &World) {
    applied(world, &network("10.0.0.0/16", "a")).await;
    let refers = set(json!([{"alias": "other", "type": SUBNET, "properties":
        {"VpcId": {"$reference": "net#/VpcId"}, "CidrBlock": "10.0.9.0/24"}}]));
    let result = asked(world, &refers).await;
    assert_eq!(kinds(&result)[0], ("other", "Create"));
    assert!(result["properties"]["planId"].is_string());
    deny_reads(world);
    world.tolerate_log("AWS did not answer a read");
    let result = asked(world, &refers).await;
    assert_eq!(kinds(&result)[0], ("other", "Unsupported"), "{result}");
    assert!(result["properties"].get("planId").is_none(), "{result}");
}

#[apply(on_every_store)]
async fn all_that_is_wrong_is_refused_as_by_an_apply(world: &World) {
    let wrong = set(json!([
        {"alias": "a", "type": LOGS, "properties": {"LogGroupName": "a", "KmsKeyId": {"$reference": "b"}}},
        {"alias": "b", "type": LOGS, "properties": {"LogGroupName": {"$reference": "a"}, "RetentionInDays": "soon"}},
    ]));
    let refused = send(world, "apply", &wrong).await.expect(400);
    let asked = send(world, "whatIf", &wrong).await.expect(400);
    assert_eq!(asked.body, refused.body);
    // Unknown values may be asked about, and not be applied.
    let unknown = set(json!([
        {"alias": "a", "type": LOGS, "properties": {"LogGroupName": "a", "KmsKeyId": {"$unknown": true}}},
    ]));
    let reply = send(world, "apply", &unknown).await.expect(400);
    assert_eq!(
        reply.body["error"]["details"][0]["target"],
        "/resources/0/properties/KmsKeyId"
    );
    let result = send(world, "whatIf", &unknown).await.expect(200).body;
    assert_eq!(kinds(&result), [("a", "Create")]);
}

/// Reads that hang hold up the answer only for a while. What was not looked at by then is told.
#[tokio::test(start_paused = true)]
async fn what_was_not_looked_at_in_time_is_unsupported() {
    const MANY: usize = 70;
    let world = World::builder().build().await;
    let log_group = |index: usize| {
        let name = format!("logs-{index:0>2}");
        json!({"alias": name, "type": LOGS, "properties": {"LogGroupName": name}})
    };
    let many = set((0..MANY).map(log_group).collect());
    applied(&world, &many).await;
    for _ in 0..MANY {
        world.hold_next_read();
    }
    let result = in_time(asked(&world, &many)).await;
    let changes = result["properties"]["changes"].as_array().expect("changes");
    let late = changes.iter().filter(|change| {
        let reason = change["unsupportedReason"].as_str().unwrap_or_default();
        reason.starts_with("AWS was not asked in time")
    });
    let late = late.count();
    assert!(late > 0 && late < MANY, "{late} of {MANY}");
    assert!(
        kinds(&result)
            .iter()
            .all(|(_, kind)| *kind == "Unsupported")
    );
    world.release_reads();
    world.finish().await;
}
