//! Puts and deletes by name (contract sections 4.1, 4.3 and 4.4, D15, D17, D18, D31, D34, D36).

use serde_json::{Value, json};
use ucp_model::ids::encode_segment;
use ucp_simulator::faults::{Effect, fail, fault};
use ucp_simulator::{Action, HandlerErrorCode};
use ucp_testkit::{ACCOUNT, REGION, Reply, World, apply, on_every_store, tracked_by};

const LOG_GROUP: &str = "AWS.Logs/LogGroup";
const STAGE: &str = "AWS.ApiGateway/Stage";
const VPC: &str = "AWS.EC2/VPC";

/// The id of a resource, which is also the path of its PUT and DELETE.
fn id(resource_type: &str, identifier: &str) -> String {
    format!(
        "/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{resource_type}/{}",
        encode_segment(identifier)
    )
}

async fn put(world: &World, resource_type: &str, name: &str, properties: Value) -> Reply {
    let body = json!({ "properties": properties }).to_string();
    world.call("PUT", &id(resource_type, name), &body).await
}

async fn delete(world: &World, resource_type: &str, name: &str) -> Reply {
    world.call("DELETE", &id(resource_type, name), "").await
}

/// The number of mutations that AWS received.
fn changes(world: &World) -> [usize; 3] {
    ["CreateResource", "UpdateResource", "DeleteResource"].map(|call| world.calls(call))
}

/// D47: AWS answers the create with another identifier.
#[apply(on_every_store)]
async fn d47_a_create_under_another_name_fails_and_names_it(world: &World) {
    let rename = || {
        let identifier = "real/name".to_owned();
        let renamed = fault(Effect::Rename { identifier });
        renamed.on(Action::CreateResource).times(1)
    };
    let by_name = async || put(world, LOG_GROUP, "asked", json!({"RetentionInDays": 7})).await;
    let in_properties = async || {
        let body = json!({"properties": {"LogGroupName": "asked"}});
        world.post(LOG_GROUP, "put", &body).await
    };
    let fails = async |reply: Reply| {
        let reply = reply.expect(201);
        world.settle().await;
        let status = world.status(&reply).await;
        assert_eq!(status["status"], "Failed", "{status}");
        assert_eq!(status["error"]["code"], "IdentifierMismatch");
        let message = status["error"]["message"].as_str().unwrap();
        assert!(message.contains("'real/name'") && message.contains("'asked'"));
        let real = id(LOG_GROUP, "real/name");
        assert_eq!(status["error"]["target"], real);
        assert_eq!(status["resourceId"], real);
        world.get(&real).await.expect(200);
        delete(world, LOG_GROUP, "real/name").await.expect(202);
        world.settle().await;
    };
    world.aws.add_fault(rename());
    fails(by_name().await).await;
    world.aws.add_fault(rename());
    fails(in_properties().await).await;

    // Under an alias the reference stands for what AWS made.
    world.aws.add_fault(rename());
    let tracked = json!({"LogGroupName": "asked"});
    let ended = world.put_and_settle(LOG_GROUP, "a", tracked).await;
    assert_eq!(ended["status"], "Succeeded", "{ended}");
    let reference = &world.references().await[0];
    assert_eq!(reference["mapsTo"]["primaryIdentifier"], "real/name");
}

#[apply(on_every_store)]
async fn section_4_1_absent_is_created_different_is_updated_same_is_left_alone(world: &World) {
    let declared = json!({"RetentionInDays": 7});
    let created = put(world, LOG_GROUP, "a/b", declared.clone())
        .await
        .expect(201);
    assert_eq!(created.body["id"], id(LOG_GROUP, "a/b"));
    assert_eq!(
        (&created.body["name"], &created.body["type"]),
        (&json!("a/b"), &json!(LOG_GROUP))
    );
    assert_eq!(
        created.body["properties"],
        json!({"RetentionInDays": 7, "LogGroupName": "a/b", "provisioningState": "Provisioning"})
    );
    let base = format!(
        "http://localhost:8787/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/AWS.Logs/locations/global"
    );
    assert!(
        created
            .status_url()
            .starts_with(&format!("{base}/operationStatuses/")),
        "{created:?}"
    );
    let location = created.header("location").expect("a Location");
    assert!(
        location.starts_with(&format!("{base}/operationResults/")),
        "{location}"
    );
    assert_eq!(created.header("retry-after"), Some("1"));
    world.settle().await;
    let status = world.status(&created).await;
    assert_eq!(
        (&status["status"], &status["resourceId"]),
        (&json!("Succeeded"), &json!(id(LOG_GROUP, "a/b")))
    );
    let read = world.get(&id(LOG_GROUP, "a/b")).await.expect(200);
    assert_eq!(
        read.body["properties"]["RetentionInDays"], 7,
        "the original URL has the final result"
    );

    let same = put(world, LOG_GROUP, "a/b", declared).await.expect(200);
    assert_eq!(same.body["properties"]["provisioningState"], "Succeeded");
    for header in ["azure-asyncoperation", "location", "retry-after"] {
        assert!(same.header(header).is_none(), "{header}");
    }
    assert_eq!(changes(world), [1, 0, 0]);

    let tags = json!([{"Key": "team", "Value": "net"}]);
    let updated = put(world, LOG_GROUP, "a/b", json!({ "Tags": tags }))
        .await
        .expect(201);
    assert_eq!(
        updated.body["properties"]["provisioningState"],
        "Provisioning"
    );
    assert_eq!(updated.body["properties"]["Tags"], tags);
    assert_eq!(
        updated.body["properties"]["RetentionInDays"], 7,
        "what is live stands below: {}",
        updated.text
    );
    world.settle().await;
    let read = world.get(&id(LOG_GROUP, "a/b")).await.expect(200);
    assert_eq!(
        read.body["properties"]["RetentionInDays"], 7,
        "what is not declared stays (D17)"
    );
    assert_eq!(read.body["properties"]["Tags"], tags);
    assert_eq!(changes(world), [1, 1, 0]);

    let replaced =
        json!({"updateMode": "replace", "properties": {"RetentionInDays": 7}}).to_string();
    world
        .call("PUT", &id(LOG_GROUP, "a/b"), &replaced)
        .await
        .expect(201);
    world.settle().await;
    let read = world.get(&id(LOG_GROUP, "a/b")).await.expect(200);
    assert!(
        read.body["properties"]
            .get("Tags")
            .is_none_or(|tags| *tags == json!([])),
        "{}",
        read.text
    );
    assert!(
        world.references().await.is_empty(),
        "a put by name is not tracked"
    );
}

/// D42: PATCH is PUT in merge mode on what exists.
#[apply(on_every_store)]
async fn a_patch_updates_what_exists_and_creates_nothing(world: &World) {
    let path = id(LOG_GROUP, "logs");
    let patch = async |body: Value| world.call("PATCH", &path, &body.to_string()).await;
    let declared = json!({"properties": {"RetentionInDays": 14}});
    let absent = patch(declared.clone()).await.expect(404);
    assert_eq!(absent.code(), "NotFound");
    assert_eq!(absent.body["error"]["target"], path);
    assert_eq!(changes(world), [0, 0, 0]);

    let tags = json!([{"Key": "team", "Value": "net"}]);
    put(
        world,
        LOG_GROUP,
        "logs",
        json!({"RetentionInDays": 7, "Tags": tags}),
    )
    .await
    .expect(201);
    world.settle().await;
    let patched = patch(declared.clone()).await.expect(202);
    assert_eq!(patched.body["id"], path);
    assert_eq!(
        patched.body["properties"]["provisioningState"],
        "Provisioning"
    );
    assert_eq!(patched.header("retry-after"), Some("1"));
    world.settle().await;
    assert_eq!(world.status(&patched).await["status"], "Succeeded");
    let read = world.get(&path).await.expect(200);
    assert_eq!(read.body["properties"]["RetentionInDays"], 14);
    assert_eq!(read.body["properties"]["Tags"], tags);
    let same = patch(declared.clone()).await.expect(200);
    assert_eq!(same.body["properties"]["provisioningState"], "Succeeded");
    assert_eq!(changes(world), [1, 1, 0]);

    let replace = json!({"updateMode": "replace", "properties": {}});
    let refused = patch(replace).await.expect(400);
    assert!(refused.text.contains("/updateMode"), "{}", refused.text);
    let tracked = json!({"trackedBy": tracked_by(LOG_GROUP, "logs"), "properties": {}});
    assert_eq!(patch(tracked).await.expect(400).code(), "BadRequest");

    delete(world, LOG_GROUP, "logs").await.expect(202);
    world.settle().await;
    let gone = world
        .send_without_waiting("PATCH", &path, &declared.to_string())
        .await;
    let gone = gone.expect(202);
    world.settle().await;
    let status = world.status(&gone).await;
    assert_eq!(status["status"], "Failed");
    assert_eq!(status["error"]["code"], "NotFound");
    assert_eq!(changes(world), [1, 1, 1], "nothing was created");
}

#[apply(on_every_store)]
async fn section_4_1_bodies_of_puts(world: &World) {
    let path = id(LOG_GROUP, "logs");
    for body in [
        "",
        "{",
        "[]",
        r#"{"properties":7}"#,
        r#"{"properties":{"a":1,"a":2}}"#,
    ] {
        let refused = world.call("PUT", &path, body).await.expect(400);
        assert_eq!(refused.code(), "BadRequest", "{body}");
    }
    let tracked = json!({"trackedBy": tracked_by(LOG_GROUP, "logs"), "properties": {}});
    let refused = world
        .call("PUT", &path, &tracked.to_string())
        .await
        .expect(400);
    assert!(refused.text.contains(":put"), "{}", refused.text);
    assert_eq!(world.calls("GetResource"), 0);
    let declared = json!({"alias": "a label (D7)", "properties": null}).to_string();
    world.call("PUT", &path, &declared).await.expect(201);
    world.settle().await;
    world.call("PUT", &path, "{}").await.expect(200);
    assert_eq!(world.live("AWS::Logs::LogGroup"), ["logs"]);
}

#[apply(on_every_store)]
async fn d18_the_url_declares_the_identifier(world: &World) {
    put(world, STAGE, "r1|prod", json!({"StageName": "prod"}))
        .await
        .expect(201);
    world.settle().await;
    assert_eq!(world.live("AWS::ApiGateway::Stage"), ["r1|prod"]);
    let read = world.get(&id(STAGE, "r1|prod")).await.expect(200);
    assert_eq!(read.body["properties"]["RestApiId"], "r1");

    let contradicting = json!({"StageName": "test", "RestApiId": "r1", "Description": 7});
    let refused = put(world, STAGE, "r1|prod", contradicting)
        .await
        .expect(400);
    assert_eq!(refused.code(), "InvalidRequest");
    let details = refused.body["error"]["details"]
        .as_array()
        .expect("details");
    let targets: Vec<&Value> = details.iter().map(|detail| &detail["target"]).collect();
    assert_eq!(
        targets,
        ["/properties/StageName", "/properties/Description"],
        "all at once (D36)"
    );
    for name in ["r1", "r1|prod|x", "r1|"] {
        let refused = put(world, STAGE, name, json!({})).await.expect(400);
        assert!(
            refused.text.contains("RestApiId|StageName"),
            "{}",
            refused.text
        );
    }
    assert_eq!(changes(world), [1, 0, 0]);
}

#[apply(on_every_store)]
async fn d18_parts_have_the_type_of_their_property(world: &World) {
    const ENTRY: &str = "AWS.EC2/TransitGatewayMeteringPolicyEntry";
    let refused = put(world, ENTRY, "p|seven", json!({})).await.expect(400);
    assert!(
        refused.text.contains("PolicyRuleNumber"),
        "{}",
        refused.text
    );
    let declared = json!({"MeteredAccount": "source-attachment-owner"});
    let created = put(world, ENTRY, "p|7", declared).await.expect(201);
    assert_eq!(created.body["properties"]["PolicyRuleNumber"], 7);
    world.settle().await;
    assert_eq!(
        world.live("AWS::EC2::TransitGatewayMeteringPolicyEntry"),
        ["p|7"]
    );
    let text = json!({"PolicyRuleNumber": "7"});
    put(world, ENTRY, "p|7", text).await.expect(400);
}

#[apply(on_every_store)]
async fn what_aws_names_is_updated_by_name_and_never_created(world: &World) {
    let refused = put(world, VPC, "vpc-1", json!({"CidrBlock": "10.0.0.0/16"}))
        .await
        .expect(404);
    assert_eq!(refused.code(), "NotFound");
    assert_eq!(refused.body["error"]["target"], id(VPC, "vpc-1"));
    assert!(
        refused.text.contains("AWS assigns VpcId") && refused.text.contains(":put"),
        "{}",
        refused.text
    );
    assert_eq!(changes(world), [0, 0, 0]);

    world
        .put_and_settle(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    let [vpc] = &world.live("AWS::EC2::VPC")[..] else {
        panic!("expected one VPC")
    };
    put(world, VPC, vpc, json!({"EnableDnsSupport": false}))
        .await
        .expect(201);
    world.settle().await;
    put(
        world,
        VPC,
        vpc,
        json!({"EnableDnsSupport": false, "VpcId": vpc}),
    )
    .await
    .expect(200);
    let refused = put(world, VPC, vpc, json!({"VpcId": "vpc-other"}))
        .await
        .expect(400);
    assert_eq!(
        refused.body["error"]["details"][0]["target"],
        "/properties/VpcId"
    );
    assert_eq!(changes(world), [1, 1, 0]);
}

#[apply(on_every_store)]
async fn a_new_alias_cannot_ask_for_a_name_that_aws_assigns(world: &World) {
    let declared = json!({"CidrBlock": "10.0.0.0/16", "VpcId": "vpc-1"});
    let refused = world.put(VPC, "main", declared).await.expect(404);
    assert!(
        refused.text.contains("AWS assigns VpcId"),
        "{}",
        refused.text
    );
    assert!(world.references().await.is_empty());
    let untracked = json!({"properties": {"CidrBlock": "10.0.0.0/16", "VpcId": "vpc-1"}});
    world.post(VPC, "put", &untracked).await.expect(404);
    assert_eq!(changes(world), [0, 0, 0]);
}

#[apply(on_every_store)]
async fn a_put_by_name_leaves_the_reference_alone(world: &World) {
    let declared = json!({"LogGroupName": "logs", "RetentionInDays": 7});
    world
        .put_and_settle(LOG_GROUP, "logs", declared.clone())
        .await;
    let before = world.references().await;
    put(world, LOG_GROUP, "logs", json!({"RetentionInDays": 30}))
        .await
        .expect(201);
    world.settle().await;
    let refused = json!({"LogGroupName": "logs", "RetentionInDays": 8});
    put(world, LOG_GROUP, "logs", refused).await;
    world.settle().await;
    assert_eq!(world.references().await, before);
    assert_eq!(world.events(LOG_GROUP, "logs").await.len(), 1);
    let ended = world.put_and_settle(LOG_GROUP, "logs", declared).await;
    assert_eq!(
        ended["properties"]["RetentionInDays"], 7,
        "the alias still leads there"
    );
    assert_eq!(world.live("AWS::Logs::LogGroup"), ["logs"]);
}

#[apply(on_every_store)]
async fn d15_a_busy_resource_answers_409_with_the_running_operation(world: &World) {
    let running = put(world, LOG_GROUP, "logs", json!({})).await.expect(201);
    let by_alias = world
        .put(LOG_GROUP, "logs", json!({"LogGroupName": "logs"}))
        .await;
    for refused in [
        put(world, LOG_GROUP, "logs", json!({"RetentionInDays": 7})).await,
        delete(world, LOG_GROUP, "logs").await,
        by_alias,
    ] {
        let refused = refused.expect(409);
        assert_eq!(refused.code(), "Conflict");
        assert_eq!(
            refused.body["error"]["details"][0]["target"],
            running.status_url()
        );
        assert_eq!(refused.header("retry-after"), Some("1"));
    }
    put(world, LOG_GROUP, "Logs", json!({})).await.expect(201);
    world.settle().await;
    assert_eq!(
        world.live("AWS::Logs::LogGroup"),
        ["Logs", "logs"],
        "names compare byte for byte (D34)"
    );
    let running = delete(world, LOG_GROUP, "logs").await.expect(202);
    let refused = put(world, LOG_GROUP, "logs", json!({})).await.expect(409);
    assert_eq!(
        refused.body["error"]["details"][0]["target"],
        running.status_url()
    );
    world.settle().await;
}

#[apply(on_every_store)]
async fn section_4_1_deletes(world: &World) {
    delete(world, LOG_GROUP, "logs").await.expect(204);
    assert_eq!(world.calls("DeleteResource"), 0);
    world
        .put_and_settle(LOG_GROUP, "logs", json!({"LogGroupName": "logs"}))
        .await;
    let reply = delete(world, LOG_GROUP, "logs").await.expect(202);
    assert_eq!(reply.body, json!({}));
    assert!(
        reply.header("location").is_some() && reply.header("retry-after") == Some("1"),
        "{reply:?}"
    );
    world.step().await;
    assert_eq!(world.status(&reply).await["status"], "Deleting");
    world.settle().await;
    assert_eq!(world.status(&reply).await["status"], "Succeeded");
    assert!(world.live("AWS::Logs::LogGroup").is_empty());
    assert!(
        world.references().await.is_empty(),
        "the reference goes with the resource"
    );
    let gone = delete(world, LOG_GROUP, "logs").await.expect(204);
    assert!(
        gone.text.is_empty() && gone.header("location").is_none(),
        "{gone:?}"
    );

    let [create, _, _] = changes(world);
    put(world, STAGE, "r1|prod", json!({})).await.expect(201);
    world.settle().await;
    delete(world, STAGE, "r1|prod").await.expect(202);
    world.settle().await;
    assert!(world.live("AWS::ApiGateway::Stage").is_empty());
    assert_eq!(changes(world), [create + 1, 0, 2]);
}

#[apply(on_every_store)]
async fn a_delete_that_aws_refuses_is_a_failed_operation(world: &World) {
    put(world, LOG_GROUP, "logs", json!({})).await.expect(201);
    world.settle().await;
    world.aws.add_fault(
        fault(fail(HandlerErrorCode::InvalidRequest).saying("in use"))
            .on(Action::DeleteResource)
            .times(1),
    );
    let reply = delete(world, LOG_GROUP, "logs").await.expect(202);
    world.settle().await;
    assert_eq!(
        world.status(&reply).await["error"]["code"],
        "InvalidRequest"
    );
    let result = reply.header("location").expect("a Location");
    let result = result
        .strip_prefix("http://localhost:8787")
        .expect("an absolute URL");
    assert_eq!(world.get(result).await.expect(400).code(), "InvalidRequest");
    assert_eq!(world.live("AWS::Logs::LogGroup"), ["logs"]);
}

#[apply(on_every_store)]
async fn d31_respond_async_does_not_wait_for_the_verdict(world: &World) {
    let path = id(LOG_GROUP, "logs");
    let declared = json!({"properties": {"RetentionInDays": 7}}).to_string();
    let reply = world
        .send_without_waiting("PUT", &path, &declared)
        .await
        .expect(201);
    assert_eq!(reply.header("preference-applied"), None);
    assert_eq!(world.status(&reply).await["status"], "Accepted");
    world.settle().await;
    let reply = world
        .send_without_waiting("PUT", &path, &declared)
        .await
        .expect(201);
    assert_eq!(
        reply.body["properties"]["provisioningState"],
        "Provisioning"
    );
    world.settle().await;
    assert_eq!(world.status(&reply).await["status"], "Succeeded");
    let reply = world
        .send_without_waiting("DELETE", &path, "")
        .await
        .expect(202);
    world.settle().await;
    assert_eq!(world.status(&reply).await["status"], "Succeeded");
    assert_eq!(changes(world), [1, 0, 1]);
}
