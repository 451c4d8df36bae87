//! Deleting instances, and what becomes of them with ARM's own means.

use serde_json::{Value, json};
use ucp_simulator::faults::{Effect, fail, fault};
use ucp_simulator::{Action, HandlerErrorCode};
use ucp_testkit::{World, apply, on_every_store, tracked_by};

use super::*;

const GROUP: &str = "/planes/radius/local/resourceGroups/cf-space?api-version=2023-10-01-preview";

fn gone(instance: &str, service: &str, plan: &str) -> String {
    format!("{}?service_id={service}&plan_id={plan}", at(instance))
}

#[apply(on_every_store)]
async fn an_instance_goes_with_its_bindings(world: &World) {
    bucket(world, "one").await;
    logs(world, "two", json!({})).await;
    assert_eq!(
        change(world, "PUT", &bound("one", "b"), &bind_bucket()).await,
        succeeded()
    );
    let path = gone("one", BUCKET, DEV);
    let operation = begin(world, "DELETE", &path, &Value::Null).await;
    assert_eq!(begin(world, "DELETE", &path, &Value::Null).await, operation);
    world.settle().await;
    assert_eq!(last(world, &path, &operation).await, succeeded());
    // Also of what is deleted, and of an operation that is not known.
    for operation in ["", "?operation=", "?operation=nothing"] {
        let path = format!("{}/last_operation{operation}", at("one"));
        assert_eq!(get(world, &path).await.expect(200).body, succeeded());
    }
    let reply = ask(world, "DELETE", &path, &Value::Null).await.expect(410);
    assert_eq!(reply.body, json!({}));
    refused(&get(world, &at("one")).await, 404, "NotFound");
    refused(&get(world, &bound("one", "b")).await, 404, "NotFound");
    for type_name in ["AWS::S3::Bucket", "AWS::S3::BucketPolicy", "AWS::IAM::Role"] {
        assert!(live(world, type_name).is_empty(), "{type_name}");
    }
    assert_eq!(live(world, "AWS::Logs::LogGroup").len(), 1);
    // The id may be used again.
    bucket(world, "one").await;
    refused(&get(world, &bound("one", "b")).await, 404, "NotFound");
}

#[apply(on_every_store)]
async fn a_deletion_names_what_it_deletes(world: &World) {
    logs(world, "one", json!({})).await;
    for query in [
        "",
        "?service_id=logs-service",
        "?plan_id=logs-small",
        "?service_id=x&plan_id=y",
        "?service_id=logs-service&plan_id=logs-large",
        "?service_id=5d0f6a1e-93a5-4c2c-8a52-0c5b6c1f0a01&plan_id=5d0f6a1e-93a5-4c2c-8a52-0c5b6c1f0a02",
    ] {
        let reply = ask(
            world,
            "DELETE",
            &format!("{}{query}", at("one")),
            &Value::Null,
        )
        .await;
        refused(&reply, 400, "BadRequest");
    }
    let path = format!("{}&accepts_incomplete=true", gone("two", LOGS, SMALL));
    assert_eq!(
        ask(world, "DELETE", &path, &Value::Null)
            .await
            .expect(410)
            .body,
        json!({})
    );
    get(world, &at("one")).await.expect(200);
}

#[apply(on_every_store)]
async fn a_deletion_cancels_a_creation(world: &World) {
    let slow = Effect::Latency {
        least_millis: 60_000,
        most_millis: 60_000,
    };
    world
        .aws
        .add_fault(fault(slow).on(Action::CreateResource).times(1));
    let creation = begin(world, "PUT", &at("one"), &order(BUCKET, DEV, json!({}))).await;
    for _ in 0..4 {
        world.step().await;
    }
    let deletion = begin(world, "DELETE", &gone("one", BUCKET, DEV), &Value::Null).await;
    assert_ne!(creation, deletion);
    world.settle().await;
    assert_eq!(last(world, &at("one"), &creation).await["state"], "failed");
    assert_eq!(last(world, &at("one"), &deletion).await, succeeded());
    assert!(live(world, "AWS::S3::Bucket").is_empty());
    let group = world.get(GROUP).await.expect(200).body;
    assert!(
        group["resources"].as_array().is_none_or(Vec::is_empty),
        "{group}"
    );
}

#[apply(on_every_store)]
async fn a_creation_that_has_not_begun_is_cancelled_too(world: &World) {
    let creation = begin(world, "PUT", &at("one"), &order(BUCKET, DEV, json!({}))).await;
    let deletion = begin(world, "DELETE", &gone("one", BUCKET, DEV), &Value::Null).await;
    world.settle().await;
    assert_eq!(last(world, &at("one"), &creation).await["state"], "failed");
    assert_eq!(last(world, &at("one"), &deletion).await, succeeded());
    assert!(live(world, "AWS::S3::Bucket").is_empty());
}

/// What others have put under the instance's aliases is forgotten, unless the instance owns it. So is what another reference
/// stands for.
#[apply(on_every_store)]
async fn an_order_takes_away_only_what_the_instance_owns(world: &World) {
    const GROUP_ID: &str = "/planes/radius/local/resourceGroups/cf-space";
    const VPC: &str = "AWS.EC2/VPC";
    let theirs = world
        .put_and_settle(VPC, "theirs", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    assert_eq!(theirs["status"], "Succeeded");
    let identifier = world.live("AWS::EC2::VPC").remove(0);
    logs(world, "one", json!({})).await;
    let tracked = |alias: &str| format!("{GROUP_ID}/providers/{VPC}:reference/one:{alias}");
    let import = async |alias: &str| {
        let body = json!({"trackedBy": tracked(alias), "primaryIdentifier": identifier});
        world.post(VPC, "import", &body).await.expect(201);
        world.settle().await;
    };
    import("net").await;
    // An update deletes what has left the instance.
    let longer = json!({"service_id": LOGS, "parameters": {"retention": 14}});
    assert_eq!(
        change(world, "PATCH", &at("one"), &longer).await,
        succeeded()
    );
    assert_eq!(world.live("AWS::EC2::VPC"), [identifier.as_str()]);
    let path = format!("{}?api-version=2023-10-01-preview", tracked("net"));
    world.get(&path).await.expect(404);

    import("net").await;
    // Somebody else has come to need the instance's own.
    let [own] = &live(world, "AWS::Logs::LogGroup")[..] else {
        panic!("one log group")
    };
    let shared = json!({"trackedBy": tracked_by("AWS.Logs/LogGroup", "shared"), "primaryIdentifier": own["LogGroupName"]});
    world
        .post("AWS.Logs/LogGroup", "import", &shared)
        .await
        .expect(201);
    world.settle().await;
    let deleted = change(world, "DELETE", &gone("one", LOGS, SMALL), &Value::Null).await;
    left_to_others(&deleted, "one:group", "nobody does");
    assert_eq!(world.live("AWS::EC2::VPC"), [identifier.as_str()]);
    let left = live(world, "AWS::Logs::LogGroup");
    assert_eq!(left.len(), 1, "{:?}", world.aws.resources());
    world.get(&path).await.expect(404);
    assert_eq!(world.references().await.len(), 2, "those of others stay");
}

/// The last operation of a deletion that has left one resource to others.
#[track_caller]
fn left_to_others(last: &Value, alias: &str, owner: &str) {
    assert_eq!(last["state"], "succeeded", "{last}");
    let said = last["description"].as_str().unwrap_or_default();
    let is_told = said.starts_with("1 resource was left alone") && said.contains(alias);
    assert!(is_told && said.contains(owner), "{last}");
}

/// Who has put it owns it then, as after a release. A platform that does not poll is told too.
#[apply(on_every_store)]
async fn what_an_order_leaves_to_others_is_told(world: &World) {
    const LOG_GROUP: &str = "AWS.Logs/LogGroup";
    let share = async |alias: &str| {
        let own = live(world, "AWS::Logs::LogGroup").remove(0);
        let name = json!({"LogGroupName": own["LogGroupName"]});
        world.put(LOG_GROUP, alias, name).await.expect(200);
        world.settle().await;
    };
    let is_owned = async |alias: &str| {
        let path = format!(
            "{}?api-version=2023-10-01-preview",
            tracked_by(LOG_GROUP, alias)
        );
        world.get(&path).await.expect(200).body["ownedResource"].clone()
    };
    logs(world, "one", json!({})).await;
    share("one").await;
    assert_eq!(is_owned("one").await, false);
    let path = gone("one", LOGS, SMALL);
    let operation = begin(world, "DELETE", &path, &Value::Null).await;
    world.settle().await;
    let heir = "one of them, in another resource group, owns it";
    left_to_others(&last(world, &path, &operation).await, "one:group", heir);
    let latest = get(world, &format!("{}/last_operation", at("one"))).await;
    left_to_others(&latest.expect(200).body, "one:group", heir);
    assert_eq!(is_owned("one").await, true);
    world.delete(LOG_GROUP, "one").await.expect(202);
    world.settle().await;
    assert!(live(world, "AWS::Logs::LogGroup").is_empty());

    logs(world, "two", json!({})).await;
    share("two").await;
    let path = gone("two", LOGS, SMALL);
    let reply = wait(world, "DELETE", &path, &Value::Null).await.expect(200);
    let said = json!({"state": "succeeded", "description": reply.body["description"]});
    left_to_others(&said, "two:group", heir);
    assert_eq!(is_owned("two").await, true);
}

#[apply(on_every_store)]
async fn what_an_unbinding_leaves_to_others_is_told(world: &World) {
    bucket(world, "one").await;
    let path = bound("one", "b");
    assert_eq!(
        change(world, "PUT", &path, &bind_bucket()).await,
        succeeded()
    );
    let role = world.live("AWS::IAM::Role").remove(0);
    let shared =
        json!({"trackedBy": tracked_by("AWS.IAM/Role", "shared"), "primaryIdentifier": role});
    world
        .post("AWS.IAM/Role", "import", &shared)
        .await
        .expect(201);
    world.settle().await;
    let unbind = format!("{path}?service_id={BUCKET}&plan_id={DEV}");
    let told = change(world, "DELETE", &unbind, &Value::Null).await;
    left_to_others(&told, "one:b:role", "nobody does");
    assert_eq!(world.live("AWS::IAM::Role"), [role]);
}

/// The one that owns it deletes it, once the other one is forgotten.
#[apply(on_every_store)]
async fn what_two_aliases_of_an_instance_stand_for_goes_with_it(world: &World) {
    const LOG_GROUP: &str = "AWS.Logs/LogGroup";
    logs(world, "one", json!({})).await;
    let own = live(world, "AWS::Logs::LogGroup").remove(0);
    let twin = format!(
        "/planes/radius/local/resourceGroups/cf-space/providers/{LOG_GROUP}:reference/one:twin"
    );
    let body = json!({"trackedBy": twin, "primaryIdentifier": own["LogGroupName"]});
    world.post(LOG_GROUP, "import", &body).await.expect(201);
    world.settle().await;
    let twin = format!("{twin}?api-version=2023-10-01-preview");
    world.get(&twin).await.expect(200);
    delete(world, "one", LOGS, SMALL).await;
    assert!(live(world, "AWS::Logs::LogGroup").is_empty());
    world.get(&twin).await.expect(404);
}

#[apply(on_every_store)]
async fn a_failed_deletion_goes_on_from_what_is_there(world: &World) {
    bucket(world, "one").await;
    let refusal = fault(fail(HandlerErrorCode::AccessDenied).saying("Not yours."));
    world.aws.add_fault(
        refusal
            .on(Action::DeleteResource)
            .of_type("AWS::S3::BucketPolicy"),
    );
    let failed = change(world, "DELETE", &gone("one", BUCKET, DEV), &Value::Null).await;
    assert_eq!(failed["state"], "failed", "{failed}");
    assert!(
        failed["description"]
            .as_str()
            .unwrap()
            .contains("Not yours."),
        "{failed}"
    );
    assert!(failed["instance_usable"].is_boolean(), "{failed}");
    assert_eq!(failed.get("update_repeatable"), None);
    world.aws.clear_faults();
    delete(world, "one", BUCKET, DEV).await;
    assert!(live(world, "AWS::S3::Bucket").is_empty());
}

/// Bindings go first. What they handed out is of no use once it is gone, although the instance is still there.
#[apply(on_every_store)]
async fn a_binding_that_a_failed_deletion_has_taken_hands_out_nothing(world: &World) {
    bucket(world, "one").await;
    for (binding, principal) in [("b", PRINCIPAL), ("c", "arn:other")] {
        let body =
            json!({"service_id": BUCKET, "plan_id": DEV, "parameters": {"principal": principal}});
        assert_eq!(
            change(world, "PUT", &bound("one", binding), &body).await,
            succeeded()
        );
    }
    let refusal = fault(fail(HandlerErrorCode::AccessDenied).saying("Not yours."));
    let refusal = refusal.on(Action::DeleteResource);
    let path = gone("one", BUCKET, DEV);
    for (refusing, is_usable) in [("AWS::IAM::Role", true), ("AWS::S3::BucketPolicy", false)] {
        world.aws.add_fault(refusal.clone().of_type(refusing));
        let failed = change(world, "DELETE", &path, &Value::Null).await;
        assert_eq!(
            (&failed["state"], &failed["instance_usable"]),
            (&json!("failed"), &json!(is_usable)),
            "{failed}"
        );
        world.aws.clear_faults();
        for binding in ["b", "c"] {
            let shown = get(world, &bound("one", binding)).await;
            if is_usable {
                drop(shown.expect(200))
            } else {
                refused(&shown, 404, "NotFound")
            }
        }
    }
    let deleted = get(world, &format!("{}/last_operation", bound("one", "b"))).await;
    assert_eq!(deleted.expect(200).body, succeeded());
    let unbind = format!(
        "{}?service_id={BUCKET}&plan_id={DEV}&accepts_incomplete=true",
        bound("one", "b")
    );
    ask(world, "DELETE", &unbind, &Value::Null)
        .await
        .expect(410);
    // The deletion goes on.
    assert_eq!(
        change(world, "DELETE", &path, &Value::Null).await,
        succeeded()
    );
    assert!(world.aws.resources().is_empty());
}

#[apply(on_every_store)]
async fn instances_go_with_their_group(world: &World) {
    bucket(world, "one").await;
    assert_eq!(
        change(world, "PUT", &bound("one", "b"), &bind_bucket()).await,
        succeeded()
    );
    world.call_until_settled("DELETE", GROUP, "").await;
    world.settle().await;
    assert!(world.aws.resources().is_empty());
    refused(&get(world, &at("one")).await, 404, "NotFound");
    let path = format!("{}&accepts_incomplete=true", gone("one", BUCKET, DEV));
    assert_eq!(
        ask(world, "DELETE", &path, &Value::Null)
            .await
            .expect(410)
            .body,
        json!({})
    );
    bucket(world, "one").await;
}

#[apply(on_every_store)]
async fn a_resource_that_arm_changes_is_changed_by_nobody_else(world: &World) {
    logs(world, "one", json!({})).await;
    let group = "/planes/radius/local/resourceGroups/cf-space";
    let tracked = format!("{group}/providers/AWS.Logs/LogGroup:reference/one:group");
    let put = json!({"trackedBy": tracked, "alias": "one:group", "properties": {"LogGroupName": "osb-one", "RetentionInDays": 14}});
    let path =
        "/planes/aws/aws/accounts/123456789012/regions/us-west-2/providers/AWS.Logs/LogGroup/:put";
    let put = world
        .send_without_waiting("POST", path, &put.to_string())
        .await;
    assert!(matches!(put.status, 201 | 202), "{}", put.text);
    // It reads what may be changing.
    refused(
        &ask(world, "PUT", &bound("one", "b"), &bind_logs()).await,
        422,
        "ConcurrencyError",
    );
    let path = format!("{}?accepts_incomplete=true", at("one"));
    let patch = json!({"service_id": LOGS, "parameters": {"retention": 30}});
    refused(
        &ask(world, "PATCH", &path, &patch).await,
        422,
        "ConcurrencyError",
    );
    let deletion = format!("{}&accepts_incomplete=true", gone("one", LOGS, SMALL));
    refused(
        &ask(world, "DELETE", &deletion, &Value::Null).await,
        422,
        "ConcurrencyError",
    );
    world.settle().await;
    assert_eq!(
        change(world, "PATCH", &at("one"), &patch).await,
        succeeded()
    );
    assert_eq!(live(world, "AWS::Logs::LogGroup")[0]["RetentionInDays"], 30);
}

#[apply(on_every_store)]
async fn an_id_is_free_again_however_it_is_spelled(world: &World) {
    logs(world, "ABC", json!({})).await;
    delete(world, "ABC", LOGS, SMALL).await;
    logs(world, "abc", json!({})).await;
    get(world, &at("abc")).await.expect(200);
    refused(&get(world, &at("ABC")).await, 404, "NotFound");
    delete(world, "abc", LOGS, SMALL).await;
    assert!(world.aws.resources().is_empty());
}

/// A refactor leaves alone what the orders of an instance look for.
#[apply(on_every_store)]
async fn what_belongs_to_an_instance_does_not_move(world: &World) {
    logs(world, "one", json!({})).await;
    let group = GROUP.split('?').next().expect("a path");
    let listed = world
        .get(&format!("{group}/resources?api-version=2023-10-01-preview"))
        .await;
    let name = listed.body["value"][0]["name"]
        .as_str()
        .expect("a name")
        .to_owned();
    let declared = json!([{"alias": "taken", "type": "AWS.Logs/LogGroup", "properties": {}}]);
    let moves =
        json!([{"from": format!("AWS.Logs/LogGroup/{name}"), "to": "AWS.Logs/LogGroup/taken"}]);
    let scope = format!(
        "/planes/aws/aws/accounts/{}/regions/{}",
        ucp_testkit::ACCOUNT,
        ucp_testkit::REGION
    );
    let body = |mode: &str| {
        json!({"mode": mode, "scope": scope, "resources": declared, "moves": moves}).to_string()
    };
    let path = format!("{group}/:refactor");
    let plan = world
        .call("POST", &path, &body("plan"))
        .await
        .expect(200)
        .body;
    assert_eq!(plan["refused"][0]["code"], "OfAnInstance", "{plan}");
    assert_eq!(plan["moves"], json!([]), "{plan}");
    let refused = world.call("POST", &path, &body("apply")).await.expect(409);
    assert_eq!(refused.code(), "RefactorRefused");
}

/// What an instance that is gone has had may move, until there is one of its id again.
#[apply(on_every_store)]
async fn what_belonged_to_an_instance_that_is_gone_moves(world: &World) {
    logs(world, "one", json!({})).await;
    delete(world, "one", LOGS, SMALL).await;
    let (group, api) = GROUP.split_once('?').expect("a path");
    let left = format!("{group}/providers/AWS.Logs/LogGroup:reference/one:left");
    let properties = json!({"LogGroupName": "left"});
    let put = json!({"trackedBy": left, "properties": properties});
    world
        .post("AWS.Logs/LogGroup", "put", &put)
        .await
        .expect(201);
    world.settle().await;
    let tags = json!({"tags": {"osb-platform": "cf", "osb-instance": "one"}}).to_string();
    let path = format!("{left}?{api}");
    world.call("PATCH", &path, &tags).await.expect(200);

    let scope = format!(
        "/planes/aws/aws/accounts/{}/regions/{}",
        ucp_testkit::ACCOUNT,
        ucp_testkit::REGION
    );
    let declared =
        json!([{"alias": "taken", "type": "AWS.Logs/LogGroup", "properties": properties}]);
    let body = json!({"mode": "plan", "scope": scope, "resources": declared});
    let path = format!("{group}/:refactor?{api}");
    let plan = world.call("POST", &path, &body.to_string()).await;
    let plan = plan.expect(200).body;
    assert_eq!(plan["refused"], json!([]), "{plan}");
    assert_eq!(plan["moves"][0]["reason"], "Identity", "{plan}");

    logs(world, "one", json!({})).await;
    let path = format!("{}/:apply?{api}", plan["id"].as_str().expect("an id"));
    let refused = world.call("POST", &path, "").await.expect(409);
    assert_eq!(refused.code(), "RefactorRefused");
    assert_eq!(
        refused.body["error"]["details"][0]["code"], "OfAnInstance",
        "{}",
        refused.text
    );
}
