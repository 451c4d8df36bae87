//! Replacement on request (contract D35): in both orders, with failures, and with a crash at every step.

use serde_json::{Value, json};
use ucp_simulator::faults::{Failure, fail, fault};
use ucp_simulator::{Action, HandlerErrorCode};
use ucp_testkit::{
    ACCOUNT, GROUP, REGION, Reply, StoreKind, World, apply, crash_everywhere, on_every_store,
    tracked_by,
};

const VPC: &str = "AWS.EC2/VPC";
const LOG_GROUP: &str = "AWS.Logs/LogGroup";
const REPOSITORY: &str = "AWS.ECR/Repository";
const ORDERS: [&str; 2] = ["createBeforeDelete", "deleteBeforeCreate"];

async fn replace(world: &World, resource_type: &str, properties: Value, policy: &str) -> Reply {
    let body = json!({
        "trackedBy": tracked_by(resource_type, "main"),
        "replacementPolicy": policy,
        "properties": properties,
    });
    world.post(resource_type, "put", &body).await
}

fn fail_once(world: &World, operation: Action, failure: Failure) {
    world.aws.add_fault(fault(failure).on(operation).times(1));
}

/// The only live VPC, which the alias stands for and owns.
async fn assert_one(world: &World, cidr_block: &str, what: &str) {
    let [vpc] = &world.live("AWS::EC2::VPC")[..] else {
        panic!("{what}: {:?}", world.live("AWS::EC2::VPC"))
    };
    let [reference] = &world.references().await[..] else {
        panic!("{what}: expected one reference")
    };
    assert_eq!(
        reference["mapsTo"]["primaryIdentifier"],
        vpc.as_str(),
        "{what}"
    );
    assert_eq!(reference["ownedResource"], true, "{what}");
    assert_eq!(reference["properties"]["CidrBlock"], cidr_block, "{what}");
}

async fn with_vpc(world: &World) -> String {
    world
        .put_and_settle(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    world.live("AWS::EC2::VPC").remove(0)
}

#[apply(on_every_store)]
async fn a_resource_is_replaced_in_either_order_by_one_operation(world: &World) {
    let mut old = with_vpc(world).await;
    for (policy, cidr_block) in [(ORDERS[0], "10.1.0.0/16"), (ORDERS[1], "10.2.0.0/16")] {
        let reply = replace(world, VPC, json!({"CidrBlock": cidr_block}), policy).await;
        let reply = reply.expect(201);
        world.settle().await;
        let status = world.status(&reply).await;
        assert_eq!(status["status"], "Succeeded", "{policy}: {status}");
        assert_one(world, cidr_block, policy).await;
        let new = world.live("AWS::EC2::VPC").remove(0);
        assert_ne!(new, old, "{policy}");
        assert!(status["resourceId"].as_str().unwrap().ends_with(&new));
        replace(world, VPC, json!({"CidrBlock": cidr_block}), policy)
            .await
            .expect(200);
        old = new;
    }
}

#[apply(on_every_store)]
async fn the_alias_stands_for_the_old_resource_until_the_new_one_stands(world: &World) {
    let old = with_vpc(world).await;
    let reply = replace(world, VPC, json!({"CidrBlock": "10.1.0.0/16"}), ORDERS[0]).await;
    assert_eq!(reply.status, 201, "{}", reply.text);
    let reference = &world.references().await[0];
    assert_eq!(reference["mapsTo"]["primaryIdentifier"], old.as_str());
    world.settle().await;
}

#[apply(on_every_store)]
async fn a_crash_anywhere_leaves_one_referenced_resource_and_no_orphan(kind: StoreKind) {
    for policy in ORDERS {
        let crashed = crash_everywhere(kind, async |world| {
            with_vpc(world).await;
            world.may_crash();
            let body = json!({"trackedBy": tracked_by(VPC, "main"), "replacementPolicy": policy,
                "properties": {"CidrBlock": "10.1.0.0/16"}});
            let path =
                format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{VPC}/:put");
            let ended = world.see_through("POST", &path, &body.to_string()).await;
            if let Some(ended) = ended {
                assert_eq!(ended["status"], "Succeeded", "{policy}: {ended}");
            }
            assert_one(world, "10.1.0.0/16", policy).await;
            assert_eq!(world.creates(), 2, "{policy}");
        });
        let crashed = crashed.await;
        for point in ["accept", "create", "delete", "record-intent", "finish"] {
            for edge in ["before", "after"] {
                let point = format!("{edge}-{point}");
                assert!(crashed.contains(&point), "{policy}: {point}");
            }
        }
        for again in [
            "before-record-intent#2",
            "after-record-intent#2",
            "after-poll#2",
        ] {
            assert!(crashed.contains(&again.to_owned()), "{policy}: {again}");
        }
    }
}

#[apply(on_every_store)]
async fn a_failed_create_leaves_the_old_resource_and_nothing_else(world: &World) {
    let old = with_vpc(world).await;
    let not_made = fail(HandlerErrorCode::ServiceLimitExceeded).saying("five VPCs");
    let left_behind = fail(HandlerErrorCode::NotStabilized).saying("later").made();
    for (effect, code) in [
        (not_made, "ServiceLimitExceeded"),
        (left_behind, "NotStabilized"),
    ] {
        fail_once(world, Action::CreateResource, effect);
        let reply = replace(world, VPC, json!({"CidrBlock": "10.1.0.0/16"}), ORDERS[0]).await;
        let reply = reply.expect(201);
        world.settle().await;
        let status = world.status(&reply).await;
        assert_eq!(status["error"]["code"], code, "{status}");
        assert_eq!(world.live("AWS::EC2::VPC"), [old.as_str()], "{code}");
        assert_one(world, "10.0.0.0/16", code).await;
    }
}

/// Somebody has imported it meanwhile.
#[apply(on_every_store)]
async fn what_a_failed_create_has_left_stays_while_others_stand_for_it(world: &World) {
    let old = with_vpc(world).await;
    world.put_group("other").await;
    let left_behind = fail(HandlerErrorCode::NotStabilized).saying("later").made();
    fail_once(world, Action::CreateResource, left_behind);
    let reply = replace(world, VPC, json!({"CidrBlock": "10.1.0.0/16"}), ORDERS[0]).await;
    let reply = reply.expect(201);
    world.hold_next_step();
    let imported = async {
        world.are_steps_held(1).await;
        let mut left = world.live("AWS::EC2::VPC");
        left.retain(|vpc| *vpc != old);
        let tracked_by = tracked_by(VPC, "theirs").replace("/rg/", "/other/");
        let import = json!({"trackedBy": tracked_by, "primaryIdentifier": left[0]});
        let imported = world.post(VPC, "import", &import).await;
        imported.expect(201);
        world.release_steps();
    };
    tokio::join!(world.settle(), imported);
    let status = world.status(&reply).await;
    assert_eq!(status["error"]["code"], "NotStabilized", "{status}");
    let message = status["error"]["message"].as_str().expect("a message");
    assert!(message.contains("another reference"), "{message}");
    assert_eq!(world.calls("DeleteResource"), 0);
    let references = world.references().await;
    assert_eq!(references[0]["mapsTo"]["primaryIdentifier"], old.as_str());
}

/// Types whose names AWS has once, although their identifiers are others, each with a change that replaces the resource.
fn with_custom_names() -> [(&'static str, Value, Value); 4] {
    let service = |strategy| json!({"ServiceName": "web", "Cluster": "prod", "TaskDefinition": "t:1", "SchedulingStrategy": strategy});
    let queue = |fifo| json!({"QueueName": "jobs.fifo", "FifoQueue": fifo});
    let topic = |fifo| json!({"TopicName": "news.fifo", "FifoTopic": fifo});
    let machine = |kind| json!({"StateMachineName": "m", "StateMachineType": kind, "DefinitionString": "{}", "RoleArn": "arn:aws:iam::123456789012:role/m"});
    [
        ("AWS.ECS/Service", service("REPLICA"), service("DAEMON")),
        ("AWS.SQS/Queue", queue(true), queue(false)),
        ("AWS.SNS/Topic", topic(true), topic(false)),
        (
            "AWS.StepFunctions/StateMachine",
            machine("STANDARD"),
            machine("EXPRESS"),
        ),
    ]
}

/// AWS refuses a new one of that name, because of the old one, which bears the mark of the reference.
#[apply(on_every_store)]
async fn an_old_resource_that_has_the_name_is_not_what_the_create_has_left(world: &World) {
    for hides in [None, Some(true), Some(false)] {
        for (resource_type, before, after) in with_custom_names() {
            let what = format!("{resource_type} {hides:?}");
            world
                .put_and_settle(resource_type, "main", before.clone())
                .await;
            let live = world.aws.resources();
            if let Some(hides) = hides {
                let failure = fail(HandlerErrorCode::AlreadyExists).saying("It is there.");
                let failure = if hides { failure.hidden() } else { failure };
                fail_once(world, Action::CreateResource, failure);
            }
            let shown = json!({"trackedBy": tracked_by(resource_type, "main"),
                "replacementPolicy": ORDERS[0], "properties": after});
            let shown = world
                .post(resource_type, "whatIf", &shown)
                .await
                .expect(200);
            let warnings = &shown.body["properties"]["changes"][0]["warnings"];
            assert_eq!(warnings[0]["code"], "KeepsName", "{what}: {}", shown.text);
            let reply = replace(world, resource_type, after.clone(), ORDERS[0]).await;
            let reply = reply.expect(201);
            world.settle().await;
            let status = world.status(&reply).await;
            assert_eq!(status["error"]["code"], "AlreadyExists", "{what}: {status}");
            let message = status["error"]["message"].as_str().unwrap();
            for part in ["another name", "deleteBeforeCreate"] {
                assert!(message.contains(part), "{what}: {message}");
            }
            assert_eq!(world.calls("DeleteResource"), 0, "{what}");
            assert_eq!(world.aws.resources(), live, "{what}");
            world.put(resource_type, "main", before).await.expect(200);
        }
    }
    let leftovers = world.get(&format!("{GROUP}/leftovers")).await.expect(200);
    assert_eq!(leftovers.body["value"], json!([]));
    // The two ways out.
    let (resource_type, _, mut after) = with_custom_names().into_iter().next().unwrap();
    let reply = replace(world, resource_type, after.clone(), ORDERS[1]).await;
    world.settle().await;
    assert_eq!(
        world.status(&reply.expect(201)).await["status"],
        "Succeeded"
    );
    after["ServiceName"] = "web-2".into();
    let reply = replace(world, resource_type, after, ORDERS[0]).await;
    world.settle().await;
    assert_eq!(
        world.status(&reply.expect(201)).await["status"],
        "Succeeded"
    );
    assert_eq!(world.live("AWS::ECS::Service").len(), 1);
}

#[apply(on_every_store)]
async fn an_old_resource_that_cannot_be_deleted_is_named(world: &World) {
    let old = with_vpc(world).await;
    let kept = fail(HandlerErrorCode::InvalidRequest).saying("has dependencies");
    // As often as it is tried.
    let refused = fault(kept.clone()).on(Action::DeleteResource);
    world.aws.add_fault(refused.times(5));
    let reply = replace(world, VPC, json!({"CidrBlock": "10.1.0.0/16"}), ORDERS[0]).await;
    let reply = reply.expect(201);
    world.settle().await;
    let error = &world.status(&reply).await["error"];
    assert_eq!(error["code"], "PartiallyApplied");
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains(&old) && message.contains("has dependencies"),
        "{message}"
    );
    let reference = &world.references().await[0];
    assert_ne!(reference["mapsTo"]["primaryIdentifier"], old.as_str());
    assert_eq!(reference["properties"]["CidrBlock"], "10.1.0.0/16");
    assert_eq!(world.live("AWS::EC2::VPC").len(), 2);

    fail_once(world, Action::DeleteResource, kept);
    let reply = replace(world, VPC, json!({"CidrBlock": "10.2.0.0/16"}), ORDERS[1]).await;
    world.settle().await;
    assert_eq!(
        world.status(&reply).await["error"]["code"],
        "InvalidRequest"
    );
    let reference = &world.references().await[0];
    assert_eq!(reference["properties"]["CidrBlock"], "10.1.0.0/16");
    assert_eq!(
        world.calls("CreateResource"),
        2,
        "the old one stayed, so no new one was made"
    );
}

#[apply(on_every_store)]
async fn an_old_resource_that_is_not_owned_is_left_alone(world: &World) {
    let path =
        format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{LOG_GROUP}/:put");
    let logs = |name: &str| json!({"LogGroupName": name});
    let body = json!({"properties": logs("old")}).to_string();
    world.call("POST", &path, &body).await.expect(201);
    world.settle().await;
    world.put(LOG_GROUP, "main", logs("old")).await.expect(200);
    for (policy, name) in [(ORDERS[0], "new"), (ORDERS[1], "newer")] {
        let reply = replace(world, LOG_GROUP, logs(name), policy).await;
        world.settle().await;
        assert_eq!(
            world.status(&reply).await["status"],
            "Succeeded",
            "{policy}"
        );
    }
    assert_eq!(
        world.live("AWS::Logs::LogGroup"),
        ["newer", "old"],
        "only what was owned was deleted"
    );
}

#[apply(on_every_store)]
async fn two_resources_cannot_have_one_identifier(world: &World) {
    let declared = |encryption: &str| json!({"RepositoryName": "app", "EncryptionConfiguration": {"EncryptionType": encryption}});
    world
        .put_and_settle(REPOSITORY, "main", declared("AES256"))
        .await;
    let changed = declared("KMS");
    let reply = replace(world, REPOSITORY, changed.clone(), ORDERS[0])
        .await
        .expect(409);
    assert_eq!(reply.code(), "RequiresReplacement");
    assert!(reply.text.contains("deleteBeforeCreate"), "{}", reply.text);
    assert_eq!(world.calls("DeleteResource"), 0);
    let reply = replace(world, REPOSITORY, changed, ORDERS[1])
        .await
        .expect(201);
    world.settle().await;
    assert_eq!(world.status(&reply).await["status"], "Succeeded");
    assert_eq!(world.live("AWS::ECR::Repository"), ["app"]);
    assert_eq!(
        world.references().await[0]["properties"]["EncryptionConfiguration"]["EncryptionType"],
        "KMS"
    );
}

#[apply(on_every_store)]
async fn only_what_has_an_alias_can_be_replaced(world: &World) {
    let body = json!({"replacementPolicy": "createBeforeDelete", "properties": {"CidrBlock": "10.0.0.0/16"}});
    world.post(VPC, "put", &body).await.expect(400);
    let body = json!({"trackedBy": tracked_by(VPC, "main"), "replacementPolicy": "yes",
        "properties": {"CidrBlock": "10.0.0.0/16"}});
    world.post(VPC, "put", &body).await.expect(400);
    assert_eq!(world.calls("CreateResource"), 0);
}

#[apply(on_every_store)]
async fn what_has_the_declared_name_already_is_never_touched(world: &World) {
    let logs = |name: &str| json!({"LogGroupName": name});
    let path =
        format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{LOG_GROUP}/:put");
    let foreign = json!({"properties": logs("foreign")}).to_string();
    world.call("POST", &path, &foreign).await.expect(201);
    world.settle().await;
    world.put_and_settle(LOG_GROUP, "main", logs("mine")).await;
    let creates = world.creates();
    for policy in ORDERS {
        let reply = replace(world, LOG_GROUP, logs("foreign"), policy)
            .await
            .expect(409);
        assert_eq!(reply.code(), "Conflict", "{policy}");
    }
    assert_eq!(world.live("AWS::Logs::LogGroup"), ["foreign", "mine"]);
    assert_eq!(world.creates(), creates);

    // What the failed create has left is ours if it carries our mark, and goes.
    let left = fail(HandlerErrorCode::NotStabilized).saying("later").made();
    fail_once(world, Action::CreateResource, left);
    let reply = replace(world, LOG_GROUP, logs("new"), ORDERS[0])
        .await
        .expect(201);
    world.settle().await;
    let error = &world.status(&reply).await["error"];
    assert_eq!(error["code"], "NotStabilized", "{error}");
    assert_eq!(world.live("AWS::Logs::LogGroup"), ["foreign", "mine"]);
    let reference = &world.references().await[0];
    assert_eq!(reference["mapsTo"]["primaryIdentifier"], "mine");
}

#[apply(on_every_store)]
async fn what_has_the_declared_name_and_no_mark_stays(world: &World) {
    const FILTER: &str = "AWS.Logs/MetricFilter";
    let filter = |name: &str| {
        json!({"LogGroupName": "g", "FilterName": name, "FilterPattern": "",
            "MetricTransformations": [{"MetricName": "m", "MetricNamespace": "n", "MetricValue": "1"}]})
    };
    world.put_and_settle(FILTER, "main", filter("mine")).await;
    // It may have been created between the look and the create.
    let left = fail(HandlerErrorCode::NotStabilized).saying("later").made();
    fail_once(world, Action::CreateResource, left);
    let reply = replace(world, FILTER, filter("new"), ORDERS[0])
        .await
        .expect(201);
    world.settle().await;
    let error = &world.status(&reply).await["error"];
    assert_eq!(error["code"], "NotStabilized", "{error}");
    assert!(
        error["message"].as_str().unwrap().contains("g|new'"),
        "{error}"
    );
    assert_eq!(world.live("AWS::Logs::MetricFilter"), ["g|mine", "g|new"]);
    let reference = &world.references().await[0];
    assert_eq!(reference["mapsTo"]["primaryIdentifier"], "g|mine");
}

#[apply(on_every_store)]
async fn what_other_aliases_stand_for_is_not_replaced(world: &World) {
    let old = with_vpc(world).await;
    let import = json!({"trackedBy": tracked_by(VPC, "guest"), "primaryIdentifier": old});
    world.post(VPC, "import", &import).await.expect(201);
    for policy in ORDERS {
        let reply = replace(world, VPC, json!({"CidrBlock": "10.1.0.0/16"}), policy).await;
        world.settle().await;
        let error = match reply.status {
            409 => reply.body["error"].clone(),
            _ => world.status(&reply).await["error"].clone(),
        };
        assert_eq!(error["code"], "Conflict", "{policy}: {error}");
        let detail = &error["details"][0];
        assert_eq!(detail["code"], "ResourceShared", "{policy}: {error}");
        let target = detail["target"].as_str().expect("a target");
        let guest = tracked_by(VPC, "guest");
        assert!(target.eq_ignore_ascii_case(&guest), "{policy}: {error}");
    }
    assert_eq!(world.creates(), 1);
    assert_eq!(world.live("AWS::EC2::VPC"), [old.as_str()]);
    let path = format!(
        "{}?api-version=2023-10-01-preview",
        tracked_by(VPC, "guest")
    );
    world.call("DELETE", &path, "").await.expect(200);
    let reply = replace(world, VPC, json!({"CidrBlock": "10.1.0.0/16"}), ORDERS[1]).await;
    world.settle().await;
    assert_eq!(world.status(&reply).await["status"], "Succeeded");
    assert_one(world, "10.1.0.0/16", "nobody else stands for it any more").await;
}

#[apply(on_every_store)]
async fn an_old_resource_that_is_gone_already_is_named(world: &World) {
    let old = with_vpc(world).await;
    let not_made = fail(HandlerErrorCode::ServiceLimitExceeded).saying("five VPCs");
    fail_once(world, Action::CreateResource, not_made);
    let reply = replace(world, VPC, json!({"CidrBlock": "10.1.0.0/16"}), ORDERS[1]).await;
    let reply = reply.expect(201);
    assert!(
        !reply.text.contains(&old),
        "it only makes room: {}",
        reply.text
    );
    world.settle().await;
    let status = world.status(&reply).await;
    assert_eq!(status["error"]["code"], "ServiceLimitExceeded", "{status}");
    let message = status["error"]["message"].as_str().unwrap();
    assert!(
        message.contains(&format!("'{old}' was deleted already")),
        "{message}"
    );
    assert_eq!(status["resourceId"], Value::Null);
    assert!(world.references().await.is_empty());
}
