//! Sets of resources that refer to each other: `:validate`, and `:apply` on a resource group (contract D50).

mod graphs;
mod moves;
mod referred;

use serde_json::{Value, json};
use ucp_simulator::faults::{Effect, fail, fault, refuse};
use ucp_simulator::{Action, ExceptionCode, HandlerErrorCode};
use ucp_testkit::{
    ACCOUNT, GROUP, REGION, Reply, StoreKind, World, apply, crash_everywhere, on_every_store,
    tracked_by,
};

const VPC: &str = "AWS.EC2/VPC";
const SUBNET: &str = "AWS.EC2/Subnet";
const LOGS: &str = "AWS.Logs/LogGroup";
const SECRET: &str = "AWS.SecretsManager/Secret";

pub(crate) fn scope() -> String {
    format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}")
}

pub(crate) fn set(resources: Value) -> Value {
    json!({"scope": scope(), "resources": resources})
}

pub(crate) async fn send(world: &World, action: &str, set: &Value) -> Reply {
    let path = format!("{GROUP}/:{action}");
    world.call("POST", &path, &set.to_string()).await
}

/// Applies a set and returns the status of its operation at the end.
pub(crate) async fn applied(world: &World, set: &Value) -> Value {
    let reply = send(world, "apply", set).await.expect(202);
    world.settle().await;
    world.status(&reply).await
}

/// The names of the resources of a status, with their statuses.
pub(crate) fn states(status: &Value) -> Vec<(&str, &str)> {
    let resources = status["properties"]["resources"].as_array();
    let resources = resources.unwrap_or_else(|| panic!("no resources: {status}"));
    resources
        .iter()
        .map(|resource| {
            let name = resource["symbolicName"].as_str().expect("a name");
            (name, resource["status"].as_str().expect("a status"))
        })
        .collect()
}

/// A subnet, and the VPC that it is in.
fn network() -> Value {
    let mut set = set(json!([
        {"alias": "sub", "type": SUBNET, "properties": {"VpcId": {"$reference": "net#/VpcId"}, "CidrBlock": "10.0.1.0/24",
            "Tags": [{"Key": "of", "Value": {"$concat": ["vpc ", {"$reference": "net"}]}}]}},
        {"alias": "net", "type": VPC, "properties": {"CidrBlock": "10.0.0.0/16"}},
    ]));
    set["outputs"] = json!({"subnet": {"$reference": "sub#/SubnetId"}, "text": "as it is"});
    set
}

fn live(world: &World, type_name: &str) -> Vec<Value> {
    let resources = world.aws.resources().into_iter();
    resources
        .filter(|resource| resource.type_name.as_str() == type_name)
        .map(|resource| resource.properties)
        .collect()
}

#[apply(on_every_store)]
async fn what_is_referred_to_comes_first_and_its_value_is_put_in(world: &World) {
    let reply = send(world, "apply", &network()).await.expect(202);
    assert!(reply.header("location").is_some());
    assert_eq!(reply.header("retry-after"), Some("1"));
    world.settle().await;
    let status = world.status(&reply).await;
    assert_eq!(status["status"], "Succeeded", "{status}");
    assert_eq!(status["kind"], "applyGroup");
    assert_eq!(status["percentComplete"], 100);
    assert_eq!(
        states(&status),
        [("net", "Succeeded"), ("sub", "Succeeded")]
    );
    let first = &status["properties"]["resources"][0];
    assert_eq!(
        first["trackedBy"].as_str().unwrap().to_lowercase(),
        tracked_by(VPC, "net").to_lowercase()
    );
    assert!(first["operationId"].is_string(), "{status}");

    let vpc = world.live("AWS::EC2::VPC").remove(0);
    let subnet = live(world, "AWS::EC2::Subnet").remove(0);
    assert_eq!(subnet["VpcId"], json!(vpc));
    let tags = subnet["Tags"].as_array().unwrap();
    assert!(
        tags.contains(&json!({"Key": "of", "Value": format!("vpc {vpc}")})),
        "{tags:?}"
    );
    let outputs = json!({"subnet": subnet["SubnetId"], "text": "as it is"});
    assert_eq!(status["properties"]["outputs"], outputs);
    let location = reply.header("location").unwrap();
    let location = location.trim_start_matches("http://localhost:8787");
    assert_eq!(
        world.get(location).await.expect(200).body,
        status["properties"]
    );

    // Once more: nothing is to be done.
    let creates = world.calls("CreateResource");
    let again = send(world, "apply", &network()).await.expect(200);
    assert_eq!(again.header("location"), None);
    assert_eq!(again.body["status"], "Succeeded");
    assert_eq!(
        states(&again.body),
        [("net", "Unchanged"), ("sub", "Unchanged")]
    );
    assert_eq!(again.body["properties"]["outputs"], outputs);
    assert_eq!(world.calls("CreateResource"), creates);
    assert_eq!(world.calls("UpdateResource"), 0);

    // Only what has changed has an operation.
    let mut changed = network();
    changed["resources"][0]["properties"]["MapPublicIpOnLaunch"] = json!(true);
    let status = applied(world, &changed).await;
    assert_eq!(
        states(&status),
        [("net", "Unchanged"), ("sub", "Succeeded")]
    );
    assert!(
        status["properties"]["resources"][0]
            .get("operationId")
            .is_none()
    );
    assert_eq!(
        live(world, "AWS::EC2::Subnet")[0]["MapPublicIpOnLaunch"],
        true
    );

    let list = world
        .get(&format!("{GROUP}/operations"))
        .await
        .expect(200)
        .body;
    let apply = list["value"]
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["kind"] == "applyGroup");
    assert!(apply.unwrap()["properties"].get("resources").is_none());
}

#[apply(on_every_store)]
async fn everything_that_is_wrong_with_a_set_is_told_at_once(world: &World) {
    world.expect_log("no schema");
    let wrong = set(json!([
        {"alias": "a", "type": VPC, "properties": {"CidrBlock": {"$reference": "b#/CidrBlock"}}},
        {"alias": "b", "type": VPC, "properties": {"CidrBlock": {"$reference": "a#/CidrBlock"}, "Nothing": 1}},
        {"alias": "b", "type": VPC, "properties": {"CidrBlock": 5}},
        {"alias": "c", "type": SUBNET, "properties": {"VpcId": {"$reference": "a#/Vpc"}}},
        {"alias": "gone", "type": VPC, "delete": true, "properties": {}},
        {"alias": "d", "type": "AWS.EC2/VCP"},
        {"alias": "e/f", "type": VPC},
        7,
        {"alias": "g", "type": SECRET, "properties": {"SecretString": {"$unknown": true}}},
        {"alias": "h", "type": LOGS, "properties": {"KmsKeyId": {"$reference": "g#/SecretString"}}},
    ]));
    let expected = json!([
        ["Cycle", "/resources/0/properties/CidrBlock"],
        ["UnknownProperty", "/resources/1/properties/Nothing"],
        ["DuplicateName", "/resources/2/alias"],
        ["WrongType", "/resources/2/properties/CidrBlock"],
        ["UnknownPath", "/resources/3/properties/VpcId"],
        ["BadRequest", "/resources/4/properties"],
        ["TypeNotFoundException", "/resources/5/type"],
        ["BadRequest", "/resources/6/alias"],
        ["BadRequest", "/resources/7"],
        ["InvalidReference", "/resources/8/properties/SecretString"],
        ["WriteOnly", "/resources/9/properties/KmsKeyId"],
    ]);
    for action in ["validate", "apply"] {
        let reply = send(world, action, &wrong).await.expect(400);
        assert_eq!(reply.code(), "InvalidRequest");
        assert_eq!(json!(reply.details()), expected, "{}", reply.text);
    }
    assert!(world.references().await.is_empty());
    // Only the registry is asked, for the type that is not known.
    assert_eq!(
        world.calls("GetResource") + world.calls("CreateResource"),
        0
    );
}

/// A resource with a name may be there already. What is declared of it is judged all the same, before anything is made.
#[apply(on_every_store)]
async fn declared_values_are_judged_whatever_aws_has(world: &World) {
    let set = set(json!([
        {"alias": "net", "type": VPC, "properties": {"CidrBlock": "10.0.0.0/16"}},
        {"alias": "eight", "type": LOGS, "properties": {"LogGroupName": "eight", "RetentionInDays": 8}},
        {"alias": "nine", "type": LOGS, "properties": {"LogGroupName": "a b", "RetentionInDays": 9, "Nothing": 1}},
        {"alias": "of", "type": LOGS, "properties": {"LogGroupName": {"$reference": "net"}, "RetentionInDays": 8}},
    ]));
    let expected = json!([
        ["InvalidValue", "/resources/1/properties/RetentionInDays"],
        ["InvalidValue", "/resources/2/properties/LogGroupName"],
        ["UnknownProperty", "/resources/2/properties/Nothing"],
        ["InvalidValue", "/resources/2/properties/RetentionInDays"],
        ["InvalidValue", "/resources/3/properties/RetentionInDays"],
    ]);
    for action in ["validate", "apply"] {
        let reply = send(world, action, &set).await.expect(400);
        assert_eq!(reply.code(), "InvalidRequest");
        assert_eq!(json!(reply.details()), expected, "{}", reply.text);
    }
    let declared = json!({"LogGroupName": "eight", "RetentionInDays": 8, "Nothing": 1});
    let body = json!({"trackedBy": tracked_by(LOGS, "eight"), "properties": declared});
    let expected = json!([
        ["UnknownProperty", "/properties/Nothing"],
        ["InvalidValue", "/properties/RetentionInDays"],
    ]);
    for action in ["validate", "whatIf", "put"] {
        let reply = world.post(LOGS, action, &body).await.expect(400);
        assert_eq!(reply.code(), "InvalidRequest");
        assert_eq!(json!(reply.details()), expected, "{}", reply.text);
    }
    assert!(world.references().await.is_empty());
    assert!(world.aws.log().is_empty(), "AWS was called");
}

#[apply(on_every_store)]
async fn what_is_valid_is_so_without_aws(world: &World) {
    let reply = send(world, "validate", &network()).await.expect(200);
    assert_eq!(reply.body, json!({"status": "Succeeded"}));
    let body =
        json!({"trackedBy": tracked_by(VPC, "a"), "properties": {"CidrBlock": "10.0.0.0/16"}});
    let reply = world.post(VPC, "validate", &body).await.expect(200);
    assert_eq!(reply.body, json!({"status": "Succeeded"}));
    let body =
        json!({"trackedBy": tracked_by(SUBNET, "a"), "properties": {"CidrBlock": 5, "X": 1}});
    let reply = world.post(VPC, "validate", &json!({})).await.expect(400);
    assert!(reply.text.contains("declares nothing"), "{}", reply.text);
    let reply = world.post(SUBNET, "validate", &body).await.expect(400);
    assert_eq!(reply.code(), "InvalidRequest");
    let expected = json!([
        ["WrongType", "/properties/CidrBlock"],
        ["UnknownProperty", "/properties/X"],
        ["MissingProperty", "/properties/VpcId"],
    ]);
    assert_eq!(json!(reply.details()), expected, "{}", reply.text);
    // An ordinary put cannot refer to others.
    let refers = json!({"VpcId": {"$reference": "net"}, "CidrBlock": "10.0.1.0/24"});
    let reply = world.put(SUBNET, "a", refers).await.expect(400);
    assert!(reply.text.contains(":apply"), "{}", reply.text);
    assert!(world.references().await.is_empty());
    assert!(world.aws.log().is_empty(), "AWS was called");
    let elsewhere = format!("{}/:validate", GROUP.replace("/rg", "/nowhere"));
    let reply = world.call("POST", &elsewhere, &network().to_string()).await;
    assert_eq!(reply.expect(404).code(), "ResourceGroupNotFound");
}

/// The resource has a name, so it is looked for after a refusal, which is told meanwhile.
#[apply(on_every_store)]
async fn what_aws_has_answered_of_a_resource_is_told_at_once(world: &World) {
    let refusal = fault(fail(HandlerErrorCode::AccessDenied).saying("Not allowed."));
    world.aws.add_fault(refusal.on(Action::CreateResource));
    let set = set(json!([
        {"alias": "logs", "type": LOGS, "properties": {"LogGroupName": "logs"}},
        {"alias": "more", "type": LOGS, "dependsOn": ["logs"], "properties": {"LogGroupName": "more"}},
    ]));
    let reply = send(world, "apply", &set).await.expect(202);
    let mut status = world.status(&reply).await;
    for _ in 0..100 {
        if status["properties"]["resources"][0]
            .get("lastError")
            .is_some()
        {
            break;
        }
        world.clock.advance(std::time::Duration::from_secs(1));
        world.step().await;
        status = world.status(&reply).await;
    }
    assert_eq!(states(&status), [("logs", "Running"), ("more", "Waiting")]);
    let resources = &status["properties"]["resources"];
    let told = json!({"code": "AccessDenied", "message": "Not allowed."});
    assert_eq!(resources[0]["lastError"], told, "{status}");
    assert_eq!(resources[1].get("lastError"), None);
    world.settle().await;
    let status = world.status(&reply).await;
    assert_eq!(states(&status), [("logs", "Failed"), ("more", "Skipped")]);
    let resources = &status["properties"]["resources"];
    assert_eq!(resources[0]["error"]["code"], "AccessDenied");
    assert_eq!(resources[0].get("lastError"), None);
}

#[apply(on_every_store)]
async fn what_depends_on_a_failed_resource_is_skipped_and_the_rest_goes_on(world: &World) {
    let refused = fault(fail(HandlerErrorCode::InvalidRequest).saying("No."));
    let refused = refused.on(Action::CreateResource).of_type("AWS::EC2::VPC");
    world.aws.add_fault(refused.times(1));
    let mut set = network();
    let resources = set["resources"].as_array_mut().unwrap();
    resources.push(json!({"alias": "logs", "type": LOGS, "properties": {"LogGroupName": "logs"}}));
    resources.push(json!({"alias": "late", "type": LOGS, "properties": {"LogGroupName": "late"}, "dependsOn": ["SUB"]}));
    let status = applied(world, &set).await;
    assert_eq!(status["status"], "Failed");
    assert_eq!(status["error"]["code"], "ApplyFailed");
    let details = status["error"]["details"].as_array().unwrap();
    // The last one is the link to the page.
    assert_eq!(details.len(), 2, "{status}");
    assert_eq!(details[0]["code"], "InvalidRequest");
    let mut states = states(&status);
    states.sort_unstable();
    let expected = [
        ("late", "Skipped"),
        ("logs", "Succeeded"),
        ("net", "Failed"),
        ("sub", "Skipped"),
    ];
    assert_eq!(states, expected);
    let resources = status["properties"]["resources"].as_array().unwrap();
    let skipped = resources
        .iter()
        .find(|it| it["symbolicName"] == "late")
        .unwrap();
    assert_eq!(skipped["error"]["code"], "DependencyFailed");
    assert_eq!(world.live("AWS::Logs::LogGroup"), ["logs"]);

    // Again: it goes on from what is there.
    let status = applied(world, &set).await;
    assert_eq!(status["status"], "Succeeded", "{status}");
    assert_eq!(world.live("AWS::Logs::LogGroup").len(), 2);
    assert_eq!(world.live("AWS::EC2::VPC").len(), 1);
}

#[apply(on_every_store)]
async fn deletes_come_last_and_complete_deletes_what_is_not_listed(world: &World) {
    applied(world, &network()).await;
    world
        .put_and_settle(LOGS, "kept", json!({"LogGroupName": "kept"}))
        .await;
    let body = json!({"properties": {"LogGroupName": "foreign"}});
    world.post(LOGS, "put", &body).await.expect(201);
    world.settle().await;
    let import = json!({"trackedBy": tracked_by(LOGS, "imported"), "primaryIdentifier": "foreign"});
    world.post(LOGS, "import", &import).await.expect(201);

    let deletes = set(json!([
        {"alias": "net", "type": VPC, "delete": true},
        {"alias": "sub", "type": SUBNET, "delete": true},
        {"alias": "never", "type": VPC, "delete": true},
        {"alias": "logs", "type": LOGS, "properties": {"LogGroupName": "logs"}},
    ]));
    let status = applied(world, &deletes).await;
    assert_eq!(status["status"], "Succeeded", "{status}");
    assert!(
        states(&status).contains(&("never", "Unchanged")),
        "{status}"
    );
    assert!(world.live("AWS::EC2::VPC").is_empty() && world.live("AWS::EC2::Subnet").is_empty());

    let mut complete =
        set(json!([{"alias": "logs", "type": LOGS, "properties": {"LogGroupName": "logs"}}]));
    complete["mode"] = json!("Complete");
    let status = applied(world, &complete).await;
    let expected = [("logs", "Unchanged"), ("kept", "Succeeded")];
    assert_eq!(states(&status), expected);
    assert_eq!(world.live("AWS::Logs::LogGroup"), ["foreign", "logs"]);

    let mut needed = set(json!([{"alias": "other", "type": LOGS, "properties":
        {"LogGroupName": {"$concat": [{"$reference": "logs"}, "-2"]}}}]));
    needed["mode"] = json!("Complete");
    let reply = send(world, "apply", &needed).await.expect(400);
    assert_eq!(reply.body["error"]["details"][0]["code"], "StillNeeded");
}

/// A resource that is released while its delete starts stays.
#[tokio::test]
async fn what_is_released_meanwhile_is_not_deleted() {
    let world = World::builder().build().await;
    world.put_group("rg").await;
    let group = json!({"LogGroupName": "logs"});
    world.put_and_settle(LOGS, "logs", group).await;
    let mut complete = set(json!([]));
    complete["mode"] = json!("Complete");
    let path = format!("{GROUP}/:apply");
    let body = complete.to_string();
    let reply = world.send_without_waiting("POST", &path, &body).await;
    let reply = reply.expect(202);
    world.hold_next_accept();
    let released = async {
        world.is_accept_held().await;
        let release = json!({"ownedResource": false}).to_string();
        let path = tracked_by(LOGS, "logs");
        let patched = world.send_without_waiting("PATCH", &path, &release).await;
        patched.expect(200);
        world.release_accepts();
    };
    tokio::join!(world.step(), released);
    world.settle().await;
    let status = world.status(&reply).await;
    assert_eq!(states(&status), [("logs", "Unchanged")], "{status}");
    assert_eq!(world.live("AWS::Logs::LogGroup"), ["logs"]);
    assert_eq!(world.calls("DeleteResource"), 0);
    world.finish().await;
}

#[apply(on_every_store)]
async fn names_of_other_groups_and_unlisted_aliases_are_read_from_aws(world: &World) {
    world.put_group("base").await;
    let shared = "/planes/radius/local/resourceGroups/base/providers/AWS.EC2/VPC:reference/shared";
    let body = json!({"trackedBy": shared, "properties": {"CidrBlock": "10.1.0.0/16"}});
    world.post(VPC, "put", &body).await.expect(201);
    world.settle().await;
    world
        .put_and_settle(VPC, "mine", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    let subnet = |alias: &str, name: &str, block: &str| {
        json!({"alias": alias, "type": SUBNET, "properties":
        {"VpcId": {"$reference": format!("{name}#/VpcId")}, "CidrBlock": block}})
    };
    let set = set(json!([
        subnet("one", shared, "10.1.0.0/24"),
        subnet("two", "mine", "10.0.0.0/24"),
        subnet("three", "AWS.EC2/VPC/MINE", "10.0.1.0/24"),
    ]));
    let status = applied(world, &set).await;
    assert_eq!(status["status"], "Succeeded", "{status}");
    let mut blocks: Vec<(Value, Value)> = live(world, "AWS::EC2::Subnet")
        .into_iter()
        .map(|subnet| (subnet["CidrBlock"].clone(), subnet["VpcId"].clone()))
        .collect();
    blocks.sort_by_key(|(block, _)| block.to_string());
    assert_eq!(blocks[0].1, blocks[1].1);
    assert_ne!(blocks[0].1, blocks[2].1);
    send(world, "apply", &set).await.expect(200);
}

#[apply(on_every_store)]
async fn one_set_at_a_time_is_applied_and_a_cancel_starts_nothing_more(world: &World) {
    let slow = Effect::Latency {
        least_millis: 600_000,
        most_millis: 600_000,
    };
    world
        .aws
        .add_fault(fault(slow).on(Action::CreateResource).times(1));
    let reply = send(world, "apply", &network()).await.expect(202);
    for _ in 0..3 {
        world.step().await;
    }
    let status = world.status(&reply).await;
    assert_eq!(states(&status), [("net", "Running"), ("sub", "Waiting")]);
    assert_eq!(status["status"], "Updating");
    let busy = send(world, "apply", &network()).await.expect(409);
    assert_eq!(busy.code(), "Conflict");
    assert_eq!(
        busy.body["error"]["details"][0]["target"],
        reply.status_url()
    );

    let path = reply.status_url().replace("http://localhost:8787", "");
    world
        .call("POST", &format!("{path}/:cancel"), "")
        .await
        .expect(202);
    world.settle().await;
    let status = world.status(&reply).await;
    assert_eq!(status["status"], "Canceled", "{status}");
    assert_eq!(states(&status), [("net", "Canceled"), ("sub", "Canceled")]);
    assert_eq!(world.calls("CreateResource"), 1);
    let status = applied(world, &network()).await;
    assert_eq!(status["status"], "Succeeded", "{status}");
}

/// The secret waits for the VPC. It is in no reply, and erased at the end (`World::finish`).
#[apply(on_every_store)]
async fn secrets_that_wait_are_not_shown(world: &World) {
    const CANARY: &str = "canary-4711";
    let set = set(json!([
        {"alias": "net", "type": VPC, "properties": {"CidrBlock": "10.0.0.0/16"}},
        {"alias": "key", "type": SECRET, "properties": {"Name": "key", "SecretString": CANARY, "Description": {"$reference": "net"}}},
    ]));
    let reply = send(world, "apply", &set).await.expect(202);
    let before = world.status(&reply).await.to_string();
    world.settle().await;
    let after = world.status(&reply).await;
    assert_eq!(after["status"], "Succeeded", "{after}");
    let group = world.group().await.to_string();
    for told in [&reply.text, &before, &after.to_string(), &group] {
        assert!(!told.contains(CANARY), "{told}");
    }
    // What is write-only cannot be compared, but it has not changed.
    send(world, "apply", &set).await.expect(200);
}

/// A put that fails leaves a resource that refers to what is to be deleted: that is kept.
#[apply(on_every_store)]
async fn what_a_failed_resource_refers_to_is_not_deleted(world: &World) {
    applied(world, &network()).await;
    let refused = fault(fail(HandlerErrorCode::InvalidRequest).saying("No."));
    let refused = refused
        .on(Action::UpdateResource)
        .of_type("AWS::EC2::Subnet");
    world.aws.add_fault(refused.times(1));
    let vpc = world.live("AWS::EC2::VPC").remove(0);
    let set = set(json!([
        {"alias": "sub", "type": SUBNET, "properties": {"VpcId": vpc, "CidrBlock": "10.0.1.0/24", "MapPublicIpOnLaunch": true}},
        {"alias": "net", "type": VPC, "delete": true},
    ]));
    let status = applied(world, &set).await;
    assert_eq!(states(&status), [("sub", "Failed"), ("net", "Skipped")]);
    assert_eq!(world.live("AWS::EC2::VPC").len(), 1);
}

#[apply(on_every_store)]
async fn an_apply_survives_a_crash_anywhere(kind: StoreKind) {
    crash_everywhere(kind, async |world| {
        world
            .put_and_settle(LOGS, "old", json!({"LogGroupName": "old"}))
            .await;
        let mut set = network();
        set["mode"] = json!("Complete");
        world.may_crash();
        let path = format!("{GROUP}/:apply");
        let ended = world.see_through("POST", &path, &set.to_string()).await;
        if let Some(ended) = ended {
            assert_eq!(ended["status"], "Succeeded", "{ended}");
            assert!(
                ended["properties"]["outputs"]["subnet"].is_string(),
                "{ended}"
            );
        }
        assert_eq!(world.live("AWS::EC2::VPC").len(), 1);
        assert_eq!(world.live("AWS::EC2::Subnet").len(), 1);
        assert!(world.live("AWS::Logs::LogGroup").is_empty());
        assert_eq!(world.references().await.len(), 2);
    })
    .await;
}

/// The last number of types that a set may have, and the first that it may not.
#[apply(on_every_store)]
async fn the_types_of_a_set_are_limited(world: &World) {
    let catalogue = ucp_schema::Catalogue::embedded();
    let types = catalogue.type_names().take(101);
    let resources: Vec<Value> = types
        .map(|name| json!({"alias": "a", "type": name.arm(), "delete": true}))
        .collect();
    for (count, is_allowed) in [(100, true), (101, false)] {
        let reply = send(world, "validate", &set(json!(resources[..count]))).await;
        let told = reply.text.contains("types already");
        assert_eq!(told, !is_allowed, "{}", reply.text);
    }
}

#[apply(on_every_store)]
async fn so_many_names_outside_of_a_set_and_no_more(world: &World) {
    let referring = |count: usize| {
        let names: Vec<usize> = (0..count).collect();
        let resources = names.chunks(200).enumerate().map(|(index, names)| {
            let tag = |name: &usize| json!({"Key": name.to_string(), "Value": {"$reference": format!("out{name}")}});
            let tags: Vec<Value> = names.iter().map(tag).collect();
            json!({"alias": format!("a{index}"), "type": VPC, "properties": {"CidrBlock": "10.0.0.0/16", "Tags": tags}})
        });
        set(resources.collect())
    };
    let code = async |count| {
        let reply = send(world, "validate", &referring(count)).await.expect(400);
        reply.body["error"]["details"][0]["code"].clone()
    };
    assert_eq!(code(500).await, "UnknownName");
    assert_eq!(code(501).await, "TooMany");
}

/// Whoever reads the operation may not be allowed to read the other group.
#[apply(on_every_store)]
async fn the_status_does_not_name_resources_of_other_groups(world: &World) {
    world.put_group("other").await;
    let elsewhere = tracked_by(VPC, "hidden").replace("/rg/", "/other/");
    let body = json!({"trackedBy": elsewhere, "properties": {"CidrBlock": "10.0.0.0/16"}});
    world.post(VPC, "put", &body).await.expect(201);
    world.settle().await;
    let denied = refuse(ExceptionCode::AccessDenied).saying("not you");
    world.aws.add_fault(fault(denied).on(Action::GetResource));
    world.tolerate_log("AWS did not answer a read");
    let reference = json!({"$reference": format!("{elsewhere}#/DefaultSecurityGroup")});
    let declared = json!({"LogGroupName": {"$concat": ["of-", reference]}});
    let set = set(json!([{"alias": "logs", "type": LOGS, "properties": declared}]));
    let status = applied(world, &set).await;
    assert_eq!(status["status"], "Failed", "{status}");
    let text = status.to_string();
    assert!(text.contains("not you"), "{text}");
    assert!(!text.contains("hidden"), "{text}");
}

/// An identifier of several parts is hardly ever meant as a whole.
#[apply(on_every_store)]
async fn a_reference_to_an_identifier_of_several_parts_is_warned_of(world: &World) {
    let set = set(json!([
        {"alias": "api", "type": "AWS.ApiGateway/RestApi", "properties": {"Name": "api"}},
        {"alias": "stage", "type": "AWS.ApiGateway/Stage", "properties": {"RestApiId": {"$reference": "api"}, "StageName": "s"}},
        {"alias": "p", "type": "AWS::SSM::Parameter", "properties": {"Name": "p", "Type": "String", "Value": {"$reference": "stage"}}},
    ]));
    let told = send(world, "whatIf", &set).await.expect(200);
    let changes = told.body["properties"]["changes"]
        .as_array()
        .expect("changes");
    let of = |alias: &str| {
        let mut changes = changes.iter();
        let end = format!("/{alias}");
        let change = changes.find(|it| {
            it["trackedBy"]
                .as_str()
                .is_some_and(|id| id.ends_with(&end))
        });
        change.expect("a change")["warnings"].to_string()
    };
    let warned = of("p");
    assert!(warned.contains("CompositeIdentifier"), "{warned}");
    assert!(
        warned.contains("stage#/RestApiId, stage#/StageName"),
        "{warned}"
    );
    assert!(
        !of("stage").contains("CompositeIdentifier"),
        "{}",
        told.text
    );
}

/// What is created may be nobody's from the start.
#[apply(on_every_store)]
async fn what_is_created_need_not_be_owned(world: &World) {
    let put = json!({"trackedBy": tracked_by(LOGS, "a"), "ownedResource": false, "properties": {"LogGroupName": "l"}});
    world.post(LOGS, "put", &put).await.expect(201);
    world.settle().await;
    assert_eq!(world.references().await[0]["ownedResource"], false);
    // The same again says nothing of what stands.
    world.post(LOGS, "put", &put).await.expect(200);
    let path = format!("{GROUP}?api-version=2023-10-01-preview");
    world
        .call_until_settled("DELETE", &path, "")
        .await
        .expect(200);
    assert_eq!(world.live("AWS::Logs::LogGroup"), ["l"]);
    let path = format!(
        "/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{LOGS}/l?api-version=2023-10-01-preview"
    );
    world
        .call_until_settled("DELETE", &path, "")
        .await
        .expect(202);
    world.settle().await;
}

#[apply(on_every_store)]
async fn a_misspelt_reference_has_a_suggestion(world: &World) {
    for (value, meant) in [
        (json!({"$refrence": "net"}), "did you mean `$reference`?"),
        (json!({"Ref": "net"}), "CloudFormation"),
    ] {
        let set = set(json!([
            {"alias": "net", "type": VPC, "properties": {"CidrBlock": "10.0.0.0/16"}},
            {"alias": "sub", "type": SUBNET, "properties": {"VpcId": value, "CidrBlock": "10.0.1.0/24"}},
        ]));
        let refused = send(world, "validate", &set).await.expect(400);
        assert!(refused.text.contains(meant), "{}", refused.text);
    }
}
