//! What a put changes and what it preserves, from a client's view.

use serde_json::{Value, json};
use ucp_testkit::{World, apply, on_every_store, tracked_by};

const LOG_GROUP: &str = "AWS.Logs/LogGroup";
const ROLE: &str = "AWS.IAM/Role";
const VPC: &str = "AWS.EC2/VPC";

/// The live properties of the only resource in AWS.
fn live(world: &World) -> Value {
    let resources = serde_json::to_value(world.aws.resources()).expect("the resources are JSON");
    resources[0]["properties"].clone()
}

#[apply(on_every_store)]
async fn what_is_no_longer_declared_is_taken_away(world: &World) {
    let declare = |retention: Value| json!({"LogGroupName": "g", "RetentionInDays": retention});
    world
        .put_and_settle(LOG_GROUP, "g", declare(json!(7)))
        .await;
    assert_eq!(live(world)["RetentionInDays"], 7);
    let ended = world
        .put_and_settle(LOG_GROUP, "g", declare(Value::Null))
        .await;
    assert_eq!(ended["status"], "Succeeded", "{ended}");
    assert!(live(world).get("RetentionInDays").is_none());
    let history = world.events(LOG_GROUP, "g").await;
    let changes = &history.last().expect("an event").changes;
    assert_eq!(
        (changes[0].op.as_str(), changes[0].path.as_str()),
        ("remove", "/RetentionInDays")
    );
    let again = world
        .put(LOG_GROUP, "g", json!({"LogGroupName": "g"}))
        .await;
    assert_eq!((again.status, world.calls("UpdateResource")), (200, 1));
}

#[apply(on_every_store)]
async fn the_same_in_another_form_is_no_change(world: &World) {
    let statement = |action: Value, principal: &str| json!({"Effect": "Allow", "Action": action, "Principal": {"AWS": principal}});
    let role = |statement: Value, tags: Value| {
        let policy = json!({"Version": "2012-10-17", "Statement": [statement]});
        json!({"RoleName": "ci", "AssumeRolePolicyDocument": policy, "Tags": tags})
    };
    let one = role(
        statement(json!("sts:AssumeRole"), "111122223333"),
        json!([{"Key": "a", "Value": "1"}, {"Key": "b", "Value": "2"}]),
    );
    let other = role(
        statement(json!(["sts:AssumeRole"]), "arn:aws:iam::111122223333:root"),
        json!([{"Value": "2", "Key": "b"}, {"Key": "a", "Value": "1"}]),
    );
    let ended = world.put_and_settle(ROLE, "ci", one).await;
    assert_eq!(ended["status"], "Succeeded", "{ended}");
    assert_eq!(world.put(ROLE, "ci", other).await.status, 200);
    assert_eq!(world.calls("UpdateResource"), 0);
}

#[apply(on_every_store)]
async fn tags_of_others_survive_unless_the_put_is_strict(world: &World) {
    let tags = |keys: &[&str]| -> Value {
        let tag = |key: &&str| json!({"Key": key, "Value": "x"});
        json!({"LogGroupName": "g", "Tags": keys.iter().map(tag).collect::<Vec<_>>()})
    };
    world
        .put_and_settle(LOG_GROUP, "ours", tags(&["team"]))
        .await;
    // Another alias tracks the same log group.
    world
        .put_and_settle(LOG_GROUP, "theirs", tags(&["cost"]))
        .await;
    let keys = || -> Vec<String> {
        let live = live(world);
        let tags = live["Tags"].as_array().cloned().unwrap_or_default();
        let mut keys: Vec<String> = tags
            .iter()
            .filter_map(|tag| Some(tag["Key"].as_str()?.to_owned()))
            .collect();
        keys.sort();
        keys
    };
    assert_eq!(keys(), ["cost", "team", "ucp:reference"]);
    let strict = json!({
        "trackedBy": tracked_by(LOG_GROUP, "ours"),
        "properties": tags(&["team"]),
        "updateMode": "replace",
    });
    let reply = world.post(LOG_GROUP, "put", &strict).await;
    assert!(reply.status < 300, "{reply:?}");
    world.settle().await;
    assert_eq!(keys(), ["team", "ucp:reference"]);
}

#[apply(on_every_store)]
async fn what_can_never_be_is_refused_with_its_place(world: &World) {
    let refused = world
        .put(
            VPC,
            "main",
            json!({"CidrBlock": "10.0.0.0/16", "DefaultNetworkAcl": "acl-1"}),
        )
        .await
        .expect(400);
    assert_eq!(
        refused.body["error"]["details"][0]["code"],
        "ReadOnlyProperty"
    );
    assert_eq!(
        refused.body["error"]["details"][0]["target"],
        "/properties/DefaultNetworkAcl"
    );
    let refused = world
        .put(VPC, "main", json!({"CidrBlock": {"$unknown": true}}))
        .await
        .expect(400);
    assert_eq!(
        refused.body["error"]["details"][0]["target"],
        "/properties/CidrBlock"
    );
    assert_eq!(world.calls("CreateResource"), 0);

    world
        .put_and_settle(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    let mut exported = live(world);
    // D51: but not with the tag that is ours.
    let refused = world.put(VPC, "main", exported.clone()).await.expect(400);
    assert!(
        refused.text.contains("/properties/Tags/0"),
        "{}",
        refused.text
    );
    exported
        .as_object_mut()
        .expect("an object")
        .shift_remove("Tags");
    let again = world.put(VPC, "main", exported.clone()).await;
    assert_eq!(again.status, 200, "what was exported may be put: {again:?}");
    exported["DefaultNetworkAcl"] = json!("acl-other");
    let refused = world.put(VPC, "main", exported).await.expect(400);
    assert_eq!(
        refused.body["error"]["details"][0]["target"],
        "/properties/DefaultNetworkAcl"
    );
    assert_eq!(world.calls("UpdateResource"), 0);
}
