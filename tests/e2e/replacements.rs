//! Replacement on request (contract D35): in both orders, through failures, and through a crash at every step.

use serde_json::{Value, json};
use ucp_model::{CrashPoint, CrashTurn};
use ucp_testkit::{ACCOUNT, REGION, Reply, World, on_every_store, tracked_by};

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

fn fault(world: &World, operation: &str, effect: Value) {
    let fault = json!({"match": {"operation": operation}, "count": 1, "effect": effect});
    world
        .aws
        .add_fault(serde_json::from_value(fault).expect("a fault"));
}

/// The one live VPC, which the alias stands for and owns.
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

#[tokio::test]
async fn a_resource_is_replaced_in_either_order_by_one_operation() {
    on_every_store(async |world| {
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
    })
    .await;
}

#[tokio::test]
async fn the_alias_stands_for_the_old_resource_until_the_new_one_stands() {
    on_every_store(async |world| {
        let old = with_vpc(world).await;
        let reply = replace(world, VPC, json!({"CidrBlock": "10.1.0.0/16"}), ORDERS[0]).await;
        assert_eq!(reply.status, 201, "{}", reply.text);
        let reference = &world.references().await[0];
        assert_eq!(reference["mapsTo"]["primaryIdentifier"], old.as_str());
        world.settle().await;
    })
    .await;
}

#[tokio::test]
async fn a_crash_anywhere_leaves_one_mapped_resource_and_no_orphan() {
    for policy in ORDERS {
        let mut reached = Vec::new();
        for point in CrashPoint::all() {
            for turn in 1..=3 {
                let crash = CrashTurn { point, turn };
                let what = format!("{policy} {crash}");
                let world = World::new(std::sync::Arc::new(ucp_store::Memory::new())).await;
                with_vpc(&world).await;
                world.crash_at(crash);
                let body = json!({"trackedBy": tracked_by(VPC, "main"), "replacementPolicy": policy,
                    "properties": {"CidrBlock": "10.1.0.0/16"}});
                let path = format!(
                    "/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{VPC}/:put"
                );
                let reply = world
                    .send_without_waiting("POST", &path, &body.to_string())
                    .await
                    .expect(201);
                world.settle().await;
                if world.has_crashed() {
                    reached.push(crash.to_string());
                }
                assert_eq!(world.status(&reply).await["status"], "Succeeded", "{what}");
                assert_one(&world, "10.1.0.0/16", &what).await;
                assert_eq!(world.creates(), 2, "{what}");
            }
        }
        for moment in [
            "create",
            "delete",
            "record-intent",
            "record-intent",
            "finish",
        ] {
            for edge in ["before", "after"] {
                assert!(reached.contains(&format!("{edge}-{moment}")), "{moment}");
            }
        }
        for again in [
            "before-record-intent#2",
            "after-record-intent#2",
            "after-poll#2",
        ] {
            assert!(reached.contains(&again.to_owned()), "{policy}: {again}");
        }
    }
}

#[tokio::test]
async fn a_failed_create_leaves_the_old_resource_and_nothing_else() {
    on_every_store(async |world| {
        let old = with_vpc(world).await;
        let not_made = json!({"kind": "fail", "errorCode": "ServiceLimitExceeded", "message": "five VPCs"});
        let left_behind = json!({"kind": "fail", "errorCode": "NotStabilized", "message": "later", "change": "made"});
        for (effect, code) in [(not_made, "ServiceLimitExceeded"), (left_behind, "NotStabilized")] {
            fault(world, "CreateResource", effect);
            let reply = replace(world, VPC, json!({"CidrBlock": "10.1.0.0/16"}), ORDERS[0]).await;
            let reply = reply.expect(201);
            world.settle().await;
            let status = world.status(&reply).await;
            assert_eq!(status["error"]["code"], code, "{status}");
            assert_eq!(world.live("AWS::EC2::VPC"), [old.as_str()], "{code}");
            assert_one(world, "10.0.0.0/16", code).await;
        }
    })
    .await;
}

#[tokio::test]
async fn an_old_resource_that_cannot_be_deleted_is_named() {
    on_every_store(async |world| {
        let old = with_vpc(world).await;
        let kept =
            json!({"kind": "fail", "errorCode": "ResourceConflict", "message": "has dependencies"});
        fault(world, "DeleteResource", kept.clone());
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

        fault(world, "DeleteResource", kept);
        let reply = replace(world, VPC, json!({"CidrBlock": "10.2.0.0/16"}), ORDERS[1]).await;
        world.settle().await;
        assert_eq!(
            world.status(&reply).await["error"]["code"],
            "ResourceConflict"
        );
        let reference = &world.references().await[0];
        assert_eq!(reference["properties"]["CidrBlock"], "10.1.0.0/16");
        assert_eq!(
            world.calls("CreateResource"),
            2,
            "the old one stayed, so no new one was made"
        );
    })
    .await;
}

#[tokio::test]
async fn an_old_resource_that_is_not_owned_is_left_alone() {
    on_every_store(async |world| {
        let path = format!(
            "/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{LOG_GROUP}/:put"
        );
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
    })
    .await;
}

#[tokio::test]
async fn two_resources_cannot_have_one_identifier() {
    on_every_store(async |world| {
        let declared = |encryption: &str| {
            json!({"RepositoryName": "app", "EncryptionConfiguration": {"EncryptionType": encryption}})
        };
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
    })
    .await;
}

#[tokio::test]
async fn only_what_has_an_alias_can_be_replaced() {
    on_every_store(async |world| {
        let body = json!({"replacementPolicy": "createBeforeDelete", "properties": {"CidrBlock": "10.0.0.0/16"}});
        world.post(VPC, "put", &body).await.expect(400);
        let body = json!({"trackedBy": tracked_by(VPC, "main"), "replacementPolicy": "yes",
            "properties": {"CidrBlock": "10.0.0.0/16"}});
        world.post(VPC, "put", &body).await.expect(400);
        assert_eq!(world.calls("CreateResource"), 0);
    })
    .await;
}

#[tokio::test]
async fn what_has_the_declared_name_already_is_never_touched() {
    on_every_store(async |world| {
        let logs = |name: &str| json!({"LogGroupName": name});
        let path = format!(
            "/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{LOG_GROUP}/:put"
        );
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

        // It may also be made between the look and the create.
        let left = json!({"kind": "fail", "errorCode": "NotStabilized", "message": "later", "change": "made"});
        fault(world, "CreateResource", left);
        let reply = replace(world, LOG_GROUP, logs("new"), ORDERS[0]).await.expect(201);
        world.settle().await;
        let error = &world.status(&reply).await["error"];
        assert_eq!(error["code"], "NotStabilized", "{error}");
        assert!(error["message"].as_str().unwrap().contains("'new'"), "{error}");
        assert_eq!(world.live("AWS::Logs::LogGroup"), ["foreign", "mine", "new"]);
        let reference = &world.references().await[0];
        assert_eq!(reference["mapsTo"]["primaryIdentifier"], "mine");
    })
    .await;
}

#[tokio::test]
async fn other_aliases_of_the_old_resource_go_with_it() {
    on_every_store(async |world| {
        let old = with_vpc(world).await;
        let import = json!({"trackedBy": tracked_by(VPC, "guest"), "primaryIdentifier": old});
        world.post(VPC, "import", &import).await.expect(201);
        let reply = replace(world, VPC, json!({"CidrBlock": "10.1.0.0/16"}), ORDERS[1]).await;
        world.settle().await;
        assert_eq!(world.status(&reply).await["status"], "Succeeded");
        assert_one(world, "10.1.0.0/16", "only the alias that was put is left").await;
    })
    .await;
}

#[tokio::test]
async fn an_old_resource_that_is_gone_already_is_named() {
    on_every_store(async |world| {
        let old = with_vpc(world).await;
        let not_made =
            json!({"kind": "fail", "errorCode": "ServiceLimitExceeded", "message": "five VPCs"});
        fault(world, "CreateResource", not_made);
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
    })
    .await;
}
