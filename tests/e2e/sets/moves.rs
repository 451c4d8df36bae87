//! A set that lists a resource under another alias than the group: one reference moves, and AWS is sent nothing.

use serde_json::{Value, json};
use ucp_testkit::{
    ACCOUNT, GROUP, REGION, Reply, StoreKind, World, apply, crash_everywhere, on_every_store,
    tracked_by,
};

use super::{send, set, states};

const API: &str = "api-version=2023-10-01-preview";
const BUCKET: &str = "AWS.S3/Bucket";
const LIVE: &str = "AWS::S3::Bucket";
const DATABASE: &str = "AWS.RDS/DBInstance";

fn complete(resources: Value) -> Value {
    let mut set = set(resources);
    set["mode"] = json!("Complete");
    set
}

fn bucket(alias: &str, name: &str) -> Value {
    json!({"alias": alias, "type": BUCKET, "properties": {"BucketName": name}})
}

async fn ended(world: &World, reply: &Reply) -> Value {
    world.settle().await;
    world.status(reply).await
}

/// How often AWS was asked to change something.
fn changes(world: &World) -> usize {
    let calls = ["CreateResource", "UpdateResource", "DeleteResource"];
    calls.iter().map(|call| world.calls(call)).sum()
}

/// Ids are compared without regard to letter case.
#[track_caller]
fn is(id: &Value, resource_type: &str, alias: &str) {
    let id = id.as_str().expect("an id").to_lowercase();
    assert_eq!(id, tracked_by(resource_type, alias).to_lowercase());
}

async fn aliases(world: &World) -> Vec<String> {
    let references = world.references().await;
    let alias = |it: &Value| it["name"].as_str().expect("a name").to_owned();
    references.iter().map(alias).collect()
}

#[apply(on_every_store)]
async fn a_new_alias_in_a_complete_set_moves_the_reference(world: &World) {
    let before = complete(json!([bucket("a", "data"), bucket("stays", "other")]));
    let reply = send(world, "apply", &before).await.expect(202);
    assert_eq!(ended(world, &reply).await["status"], "Succeeded");
    let sent = changes(world);
    let after = complete(json!([bucket("b", "data"), bucket("stays", "other")]));
    let what_if = send(world, "whatIf", &after).await.expect(200);
    let change = &what_if.body["properties"]["changes"][0];
    assert_eq!(change["changeType"], "Move", "{}", what_if.text);
    is(&change["trackedBy"], BUCKET, "b");
    is(&change["movedFrom"], BUCKET, "a");
    assert!(!what_if.text.contains("\"Delete\""), "{}", what_if.text);

    let reply = send(world, "apply", &after).await.expect(202);
    let end = ended(world, &reply).await;
    assert_eq!(end["status"], "Succeeded", "{end}");
    assert_eq!(states(&end), [("b", "Unchanged"), ("stays", "Unchanged")]);
    is(&end["properties"]["resources"][0]["movedFrom"], BUCKET, "a");
    assert_eq!(changes(world), sent);
    assert_eq!(aliases(world).await, ["b", "stays"]);
    let path = format!("{}?{API}", tracked_by(BUCKET, "b"));
    let reference = world.call("GET", &path, "").await.expect(200);
    assert_eq!(reference.body["ownedResource"], true, "{}", reference.text);
    // It is a refactor as every other one, and can be taken back.
    let path =
        format!("/planes/radius/local/providers/System.Resources/refactors?{API}&group={GROUP}");
    let refactors = world.call("GET", &path, "").await.expect(200);
    let refactor = &refactors.body["value"][0];
    assert_eq!(
        refactor["moves"][0]["reason"], "Identity",
        "{}",
        refactors.text
    );
    let name = refactor["name"].as_str().expect("a name");
    let undo =
        format!("/planes/radius/local/providers/System.Resources/refactors/{name}/:undo?{API}");
    world.call("POST", &undo, "{}").await.expect(200);
    assert_eq!(aliases(world).await, ["a", "stays"]);
    assert_eq!(changes(world), sent);
}

/// What changes besides is changed in AWS.
#[apply(on_every_store)]
async fn what_moves_is_changed_as_declared(world: &World) {
    let logs = |alias: &str, days: u32| {
        complete(json!([{"alias": alias, "type": "AWS.Logs/LogGroup",
            "properties": {"LogGroupName": "logs", "RetentionInDays": days}}]))
    };
    let reply = send(world, "apply", &logs("a", 7)).await.expect(202);
    ended(world, &reply).await;
    let after = logs("b", 14);
    let what_if = send(world, "whatIf", &after).await.expect(200);
    let properties = &what_if.body["properties"];
    let change = &properties["changes"][0];
    assert_eq!(change["changeType"], "Modify", "{}", what_if.text);
    is(&change["movedFrom"], "AWS.Logs/LogGroup", "a");
    // Under its plan, without the set.
    let plan = json!({"planId": properties["planId"]});
    let reply = send(world, "apply", &plan).await.expect(202);
    let end = ended(world, &reply).await;
    assert_eq!(end["status"], "Succeeded", "{end}");
    assert_eq!(world.calls("UpdateResource"), 1);
    assert_eq!((world.creates(), world.calls("DeleteResource")), (1, 0));
    assert_eq!(aliases(world).await, ["b"]);
}

/// A plan whose reference has moved meanwhile is stale.
#[apply(on_every_store)]
async fn a_plan_of_a_move_holds_while_the_reference_is_there(world: &World) {
    world
        .put_and_settle(BUCKET, "a", json!({"BucketName": "data"}))
        .await;
    let after = complete(json!([bucket("b", "data")]));
    let what_if = send(world, "whatIf", &after).await.expect(200);
    let plan = json!({"planId": what_if.body["properties"]["planId"]});
    let other = complete(json!([bucket("c", "data")]));
    let reply = send(world, "apply", &other).await.expect(202);
    ended(world, &reply).await;
    let reply = send(world, "apply", &plan).await.expect(412);
    assert_eq!(reply.code(), "StalePlan", "{}", reply.text);
    assert_eq!(aliases(world).await, ["c"]);
}

/// Whoever does not own the resource does not come to own it.
#[apply(on_every_store)]
async fn what_is_not_owned_moves_too(world: &World) {
    let path = format!(
        "/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{BUCKET}/data?{API}"
    );
    let body = json!({"properties": {"BucketName": "data"}}).to_string();
    world
        .call_until_settled("PUT", &path, &body)
        .await
        .expect(201);
    world.settle().await;
    world
        .put(BUCKET, "a", json!({"BucketName": "data"}))
        .await
        .expect(200);
    let sent = changes(world);
    let reply = send(world, "apply", &complete(json!([bucket("b", "data")])))
        .await
        .expect(202);
    assert_eq!(ended(world, &reply).await["status"], "Succeeded");
    let references = world.references().await;
    assert_eq!(aliases(world).await, ["b"]);
    assert_eq!(references[0]["ownedResource"], false);
    assert_eq!(changes(world), sent);
}

/// What is secret is known as what was declared, and not sent again.
#[apply(on_every_store)]
async fn what_moves_keeps_its_secrets(world: &World) {
    let database = |alias: &str| {
        complete(
            json!([{"alias": alias, "type": DATABASE, "properties": {"DBInstanceIdentifier": "db",
            "DBInstanceClass": "db.t3.micro", "Engine": "postgres", "MasterUsername": "admin1",
            "MasterUserPassword": "canary-password"}}]),
        )
    };
    let reply = send(world, "apply", &database("a")).await.expect(202);
    assert_eq!(ended(world, &reply).await["status"], "Succeeded");
    let sent = changes(world);
    let reply = send(world, "apply", &database("b")).await.expect(202);
    let end = ended(world, &reply).await;
    assert_eq!(states(&end), [("b", "Unchanged")], "{end}");
    assert_eq!(changes(world), sent);
}

/// AWS keeps this identifier in lower case.
#[apply(on_every_store)]
async fn what_aws_spells_otherwise_moves_too(world: &World) {
    let database = |alias: &str| {
        complete(
            json!([{"alias": alias, "type": DATABASE, "properties": {"DBInstanceIdentifier": "Orders",
            "DBInstanceClass": "db.t3.micro", "Engine": "postgres", "MasterUsername": "admin1",
            "MasterUserPassword": "canary-password"}}]),
        )
    };
    let reply = send(world, "apply", &database("a")).await.expect(202);
    assert_eq!(ended(world, &reply).await["status"], "Succeeded");
    assert_eq!(world.live("AWS::RDS::DBInstance"), ["orders"]);
    let sent = changes(world);
    let reply = send(world, "apply", &database("b")).await.expect(202);
    let end = ended(world, &reply).await;
    assert_eq!(end["status"], "Succeeded", "{end}");
    assert_eq!(aliases(world).await, ["b"]);
    assert_eq!(changes(world), sent);
}

/// A listed alias keeps its reference: only what the set does not list moves.
#[apply(on_every_store)]
async fn nothing_moves_unless_the_set_lists_all(world: &World) {
    world
        .put_and_settle(BUCKET, "a", json!({"BucketName": "data"}))
        .await;
    let reply = send(world, "apply", &set(json!([bucket("b", "data")]))).await;
    assert!(matches!(reply.status, 200 | 202), "{}", reply.text);
    world.settle().await;
    assert_eq!(aliases(world).await, ["a", "b"]);
    assert_eq!(world.live(LIVE), ["data"]);
}

#[apply(on_every_store)]
async fn what_is_under_way_does_not_move(world: &World) {
    let logs = |alias: &str, days: u32| {
        json!({"alias": alias, "type": "AWS.Logs/LogGroup",
            "properties": {"LogGroupName": "logs", "RetentionInDays": days}})
    };
    let reply = send(world, "apply", &complete(json!([logs("a", 7)])))
        .await
        .expect(202);
    ended(world, &reply).await;
    let other = json!({"LogGroupName": "logs", "RetentionInDays": 14});
    world.put("AWS.Logs/LogGroup", "a", other).await.expect(201);
    let after = complete(json!([logs("b", 14)]));
    let busy = send(world, "apply", &after).await.expect(409);
    assert_eq!(busy.code(), "Conflict", "{}", busy.text);
    assert_eq!(aliases(world).await, ["a"]);
    world.settle().await;
    let reply = send(world, "apply", &after).await.expect(202);
    assert_eq!(ended(world, &reply).await["status"], "Succeeded");
    assert_eq!(aliases(world).await, ["b"]);
}

/// Everything moves with the operation, or nothing.
#[apply(on_every_store)]
async fn a_policy_refuses_the_moves_with_the_set(world: &World) {
    world
        .put_and_settle(BUCKET, "a", json!({"BucketName": "data"}))
        .await;
    let policy = json!({"properties": {"planPolicy": "required"}}).to_string();
    world
        .call("PATCH", &format!("{GROUP}?{API}"), &policy)
        .await
        .expect(200);
    let after = complete(json!([bucket("b", "data")]));
    let refused = send(world, "apply", &after).await.expect(409);
    assert_eq!(refused.code(), "PlanRequired", "{}", refused.text);
    assert_eq!(aliases(world).await, ["a"]);
    let what_if = send(world, "whatIf", &after).await.expect(200);
    let plan = json!({"planId": what_if.body["properties"]["planId"]});
    let reply = send(world, "apply", &plan).await.expect(202);
    assert_eq!(ended(world, &reply).await["status"], "Succeeded");
    assert_eq!(aliases(world).await, ["b"]);
}

/// What refers to it takes its values from where it has moved to.
#[apply(on_every_store)]
async fn what_refers_to_it_stays_as_it_is(world: &World) {
    let stack = |alias: &str| {
        complete(json!([
            bucket(alias, "data"),
            {"alias": "p", "type": "AWS.SSM/Parameter", "properties": {"Name": "p", "Type": "String",
                "Value": {"$reference": format!("{alias}#/Arn")}}},
        ]))
    };
    let reply = send(world, "apply", &stack("a")).await.expect(202);
    assert_eq!(ended(world, &reply).await["status"], "Succeeded");
    let sent = changes(world);
    let what_if = send(world, "whatIf", &stack("b")).await.expect(200);
    let changes_of = what_if.body["properties"]["changes"]
        .as_array()
        .expect("changes");
    let kinds: Vec<_> = changes_of
        .iter()
        .map(|it| it["changeType"].as_str().expect("a type"))
        .collect();
    assert_eq!(kinds, ["Move", "NoChange"], "{}", what_if.text);
    let reply = send(world, "apply", &stack("b")).await.expect(202);
    let end = ended(world, &reply).await;
    assert_eq!(
        states(&end),
        [("b", "Unchanged"), ("p", "Unchanged")],
        "{end}"
    );
    assert_eq!(changes(world), sent);
}

/// An identifier may be that of another member, which moves too, or have it as a part.
#[apply(on_every_store)]
async fn what_is_named_by_another_member_moves_with_it(world: &World) {
    let stack = |bucket_alias: &str, policy: &str, stage: &str| {
        complete(json!([
            bucket(bucket_alias, "data"),
            {"alias": policy, "type": "AWS.S3/BucketPolicy", "properties": {
                "Bucket": {"$reference": bucket_alias}, "PolicyDocument": {"Statement": []}}},
            {"alias": "api", "type": "AWS.ApiGateway/RestApi", "properties": {"Name": "api"}},
            {"alias": "deployed", "type": "AWS.ApiGateway/Deployment", "properties": {
                "RestApiId": {"$reference": "api#/RestApiId"}}},
            {"alias": stage, "type": "AWS.ApiGateway/Stage", "properties": {
                "RestApiId": {"$reference": "api#/RestApiId"}, "StageName": "prod",
                "DeploymentId": {"$reference": "deployed#/DeploymentId"}}},
        ]))
    };
    let before = stack("a", "p", "s");
    let reply = send(world, "apply", &before).await.expect(202);
    let end = ended(world, &reply).await;
    assert_eq!(end["status"], "Succeeded", "{end}");
    let sent = changes(world);
    let after = stack("b", "q", "t");
    let reply = send(world, "apply", &after).await.expect(202);
    let end = ended(world, &reply).await;
    assert_eq!(end["status"], "Succeeded", "{end}");
    let moved = end["properties"]["resources"].as_array().expect("members");
    let moved = moved.iter().filter(|it| it.get("movedFrom").is_some());
    assert_eq!(moved.count(), 3, "{end}");
    assert_eq!(changes(world), sent);
    assert_eq!(aliases(world).await, ["deployed", "api", "t", "b", "q"]);
}

#[apply(on_every_store)]
async fn a_crash_anywhere_moves_it_or_not(kind: StoreKind) {
    let points = crash_everywhere(kind, async |world| {
        world
            .put_and_settle(BUCKET, "a", json!({"BucketName": "data"}))
            .await;
        world.may_crash();
        world.tolerate_log("crash");
        let body = complete(json!([bucket("b", "data")])).to_string();
        let path = format!("{GROUP}/:apply?{API}");
        let reply = world.send_without_waiting("POST", &path, &body).await;
        world.settle().await;
        if reply.status == 503 {
            assert!(world.has_crashed());
            let again = send(world, "apply", &complete(json!([bucket("b", "data")]))).await;
            assert!(matches!(again.status, 200 | 202), "{}", again.text);
            world.settle().await;
        }
        assert_eq!(aliases(world).await, ["b"]);
        assert_eq!(world.live(LIVE), ["data"]);
        assert_eq!((world.creates(), world.calls("DeleteResource")), (1, 0));
    });
    points.await;
}
