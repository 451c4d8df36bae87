//! `:import` of one resource (contract section 8, D8, D13, D29, D31), and later puts of it.

use serde_json::{Value, json};
use ucp_simulator::faults::{fail, fault, refuse};
use ucp_simulator::{Action, ExceptionCode, HandlerErrorCode};
use ucp_testkit::{ACCOUNT, REGION, Reply, World, apply, on_every_store, tracked_by};

const VPC: &str = "AWS.EC2/VPC";
const API: &str = "AWS.ApiGateway/Resource";

/// Creates a VPC that no alias tracks.
async fn stray_vpc(world: &World) -> String {
    let before = world.live("AWS::EC2::VPC");
    let body = json!({"properties": {"CidrBlock": "10.0.0.0/16", "EnableDnsSupport": true}});
    world.post(VPC, "put", &body).await.expect(201);
    world.settle().await;
    let mut now = world.live("AWS::EC2::VPC");
    now.retain(|vpc| !before.contains(vpc));
    now.remove(0)
}

async fn import(world: &World, alias: &str, identifier: &str, more: Value) -> Reply {
    let mut body = json!({"alias": alias, "trackedBy": tracked_by(VPC, alias), "primaryIdentifier": identifier});
    for (name, value) in more.as_object().expect("members") {
        body[name] = value.clone();
    }
    world.post(VPC, "import", &body).await
}

#[apply(on_every_store)]
async fn an_import_answers_the_reference_and_a_later_put_is_an_update(world: &World) {
    let vpc = stray_vpc(world).await;
    let reply = import(world, "main", &vpc, json!({})).await.expect(201);
    assert!(reply.header("azure-asyncoperation").is_none());
    let [reference] = &world.references().await[..] else {
        panic!("expected one reference")
    };
    let mut answered = reply.body.clone();
    answered.as_object_mut().unwrap().shift_remove("warnings");
    assert_eq!(&answered, reference, "the reference itself");
    assert_eq!(answered["mapsTo"]["primaryIdentifier"], vpc);
    assert_eq!(
        answered["ownedResource"], false,
        "D13: never without being told"
    );
    assert_eq!(answered["properties"]["CidrBlock"], "10.0.0.0/16");
    assert_eq!(answered["provisioningState"], "Succeeded");
    assert!(answered["observedAt"].is_string());
    assert_eq!(world.calls("CreateResource"), 1, "only the stray one's own");

    // There is no earlier declaration, so nothing undeclared is removed.
    let changed = world
        .put_and_settle(
            VPC,
            "main",
            json!({"CidrBlock": "10.0.0.0/16", "EnableDnsHostnames": true}),
        )
        .await;
    assert_eq!(changed["status"], "Succeeded");
    let properties = &world.references().await[0]["properties"];
    assert_eq!(properties["EnableDnsHostnames"], true);
    assert_eq!(
        properties["EnableDnsSupport"], true,
        "it was never declared here"
    );
    assert_eq!(world.live("AWS::EC2::VPC"), [vpc]);
    assert_eq!(world.references().await[0]["ownedResource"], false);
    assert_eq!(world.events(VPC, "main").await[0].kind, "import");
}

#[apply(on_every_store)]
async fn what_aws_does_not_have_is_404_and_leaves_no_reference(world: &World) {
    let reply = import(world, "main", "vpc-0123", json!({}))
        .await
        .expect(404);
    assert_eq!(reply.code(), "NotFound");
    assert!(world.references().await.is_empty());
    // The alias can be reused at once.
    let vpc = stray_vpc(world).await;
    import(world, "main", &vpc, json!({})).await.expect(201);
}

#[apply(on_every_store)]
async fn a_referenced_or_busy_alias_is_409_and_stays_as_it_is(world: &World) {
    let vpc = stray_vpc(world).await;
    import(world, "main", &vpc, json!({})).await.expect(201);
    let before = world.references().await;
    for identifier in [vpc.as_str(), "vpc-0123"] {
        let reply = import(world, "main", identifier, json!({}))
            .await
            .expect(409);
        assert_eq!(reply.code(), "Conflict");
    }
    assert_eq!(world.references().await, before);

    let path = format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{VPC}/:put");
    let put =
        json!({"trackedBy": tracked_by(VPC, "busy"), "properties": {"CidrBlock": "10.1.0.0/16"}});
    world
        .send_without_waiting("POST", &path, &put.to_string())
        .await
        .expect(201);
    let reply = import(world, "busy", &vpc, json!({})).await.expect(409);
    assert_eq!(
        reply.body["error"]["details"][0]["code"],
        "OperationInProgress"
    );
    world.settle().await;
    assert_ne!(
        world.references().await[0]["mapsTo"]["primaryIdentifier"],
        vpc
    );
}

#[apply(on_every_store)]
async fn what_is_missing_or_contradicts_itself_is_400(world: &World) {
    let vpc = json!("vpc-1");
    for (body, named) in [
        (
            json!({"alias": "main", "primaryIdentifier": vpc}),
            "trackedBy",
        ),
        (
            json!({"trackedBy": tracked_by(VPC, "main")}),
            "primaryIdentifier",
        ),
        (
            json!({"trackedBy": tracked_by(VPC, "main"), "properties": {"CidrBlock": "x"}}),
            "VpcId",
        ),
        (
            json!({"trackedBy": "main", "primaryIdentifier": vpc}),
            "trackedBy",
        ),
        (
            json!({"trackedBy": tracked_by("AWS.EC2/Subnet", "main"), "primaryIdentifier": vpc}),
            "trackedBy",
        ),
        (
            json!({"trackedBy": tracked_by(VPC, "main"), "primaryIdentifier": 7}),
            "/primaryIdentifier",
        ),
        (
            json!({"trackedBy": tracked_by(VPC, "main"), "primaryIdentifier": vpc, "ownedResource": "yes"}),
            "/ownedResource",
        ),
        (
            json!({"trackedBy": tracked_by(VPC, "main"), "primaryIdentifier": vpc, "properties": {"VpcId": "vpc-2"}}),
            "/properties/VpcId",
        ),
    ] {
        let reply = world.post(VPC, "import", &body).await.expect(400);
        assert_eq!(reply.code(), "BadRequest");
        let message = reply.body["error"]["message"].as_str().unwrap();
        assert!(message.contains(named), "{body}: {message}");
    }
    let body = json!({"trackedBy": tracked_by(API, "a"), "primaryIdentifier": "only-one-part"});
    let reply = world.post(API, "import", &body).await.expect(400);
    assert!(reply.text.contains("joined by '|'"), "{}", reply.text);
    let elsewhere = tracked_by(VPC, "main").replace("/rg/", "/nowhere/");
    let body = json!({"trackedBy": elsewhere, "primaryIdentifier": vpc});
    assert_eq!(
        world.post(VPC, "import", &body).await.expect(404).code(),
        "ResourceGroupNotFound"
    );
    assert!(world.references().await.is_empty());
}

#[apply(on_every_store)]
async fn a_composite_identifier_is_given_as_text_or_in_parts(world: &World) {
    let body = json!({"properties": {"RestApiId": "api-1", "ParentId": "root", "PathPart": "p"}});
    world.post(API, "put", &body).await.expect(201);
    world.settle().await;
    let [resource] = &world.live("AWS::ApiGateway::Resource")[..] else {
        panic!("expected one resource")
    };
    let (rest_api, id) = resource.split_once('|').expect("two parts");
    let whole = json!({"trackedBy": tracked_by(API, "whole"), "primaryIdentifier": resource});
    world.post(API, "import", &whole).await.expect(201);
    let parts = json!({"RestApiId": rest_api, "ResourceId": id});
    let in_parts = json!({"trackedBy": tracked_by(API, "parts"), "properties": parts});
    let reply = world.post(API, "import", &in_parts).await.expect(201);
    assert_eq!(&reply.body["mapsTo"]["primaryIdentifier"], resource);
    let both = json!({"trackedBy": tracked_by(API, "both"), "primaryIdentifier": resource, "properties": parts});
    world.post(API, "import", &both).await.expect(201);
    assert_eq!(
        world.references().await.len(),
        3,
        "D29: several references may map one resource"
    );
}

#[apply(on_every_store)]
async fn aws_refusing_the_read_is_told_and_leaves_no_reference(world: &World) {
    let vpc = stray_vpc(world).await;
    world.aws.add_fault(
        fault(refuse(ExceptionCode::AccessDenied).saying("not yours"))
            .on(Action::GetResource)
            .times(2),
    );
    let reply = import(world, "main", &vpc, json!({})).await.expect(403);
    assert!(reply.text.contains("not yours"), "{}", reply.text);
    assert!(world.references().await.is_empty());
}

#[apply(on_every_store)]
async fn an_import_that_cannot_decide_yet_answers_202_and_is_polled(world: &World) {
    let vpc = stray_vpc(world).await;
    let path =
        format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{VPC}/:import");
    let body = json!({"trackedBy": tracked_by(VPC, "main"), "primaryIdentifier": vpc});
    let reply = world
        .send_without_waiting("POST", &path, &body.to_string())
        .await
        .expect(202);
    assert_eq!(reply.body, json!({}));
    assert_eq!(world.status(&reply).await["status"], "Accepted");
    world.settle().await;
    let status = world.status(&reply).await;
    assert_eq!(status["status"], "Succeeded");
    assert!(status["resourceId"].as_str().unwrap().ends_with(&vpc));
    let location = reply
        .header("location")
        .unwrap()
        .trim_start_matches("http://localhost:8787");
    let mut result = world.get(location).await.expect(200).body;
    result.as_object_mut().unwrap().shift_remove("warnings");
    assert_eq!(result, world.references().await[0]);
}

#[apply(on_every_store)]
async fn what_aws_never_tells_is_warned_of(world: &World) {
    let properties = json!({"DBInstanceIdentifier": "db", "Engine": "mysql", "DBInstanceClass": "db.t3.micro",
        "AllocatedStorage": "20", "MasterUsername": "admin", "MasterUserPassword": "canary-1234"});
    let reply = world
        .post(
            "AWS.RDS/DBInstance",
            "put",
            &json!({"properties": properties}),
        )
        .await;
    assert!(reply.status == 201, "{}", reply.text);
    world.settle().await;
    let body =
        json!({"trackedBy": tracked_by("AWS.RDS/DBInstance", "db"), "primaryIdentifier": "db"});
    let reply = world
        .post("AWS.RDS/DBInstance", "import", &body)
        .await
        .expect(201);
    let warnings = reply.body["warnings"].as_array().expect("warnings");
    let password = warnings
        .iter()
        .find(|warning| warning["target"] == "/properties/MasterUserPassword");
    assert_eq!(password.expect("the password")["code"], "WriteOnlyProperty");
    assert!(!reply.text.contains("canary"));
}

#[apply(on_every_store)]
async fn a_type_that_cannot_be_read_cannot_be_imported(world: &World) {
    let body =
        json!({"trackedBy": tracked_by("AWS.IAM/AccessKey", "key"), "primaryIdentifier": "AKIA"});
    let reply = world
        .post("AWS.IAM/AccessKey", "import", &body)
        .await
        .expect(400);
    assert_eq!(reply.code(), "UnsupportedActionException");
}

/// The table "Who owns what", row by row (D11, D13, D29).
#[apply(on_every_store)]
async fn who_owns_what(world: &World) {
    let owned = async |alias: &str| {
        let references = world.references().await;
        let reference = references
            .iter()
            .find(|reference| reference["name"] == alias);
        reference.map(|reference| reference["ownedResource"].clone())
    };
    // Created by us, also after an out-of-band deletion.
    world
        .put_and_settle(VPC, "made", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    assert_eq!(owned("made").await, Some(json!(true)));
    let made = world.live("AWS::EC2::VPC").remove(0);
    world.vanish("AWS::EC2::VPC", &made);
    world
        .put_and_settle(VPC, "made", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    assert_eq!(owned("made").await, Some(json!(true)));

    // An import, without and with `ownedResource`; a second owner is rejected.
    let vpc = stray_vpc(world).await;
    import(world, "kept", &vpc, json!({})).await.expect(201);
    assert_eq!(owned("kept").await, Some(json!(false)));
    import(world, "taken", &vpc, json!({"ownedResource": true}))
        .await
        .expect(201);
    assert_eq!(owned("taken").await, Some(json!(true)));
    let second = import(world, "second", &vpc, json!({"ownedResource": true}))
        .await
        .expect(409);
    assert_eq!(second.body["error"]["details"][0]["code"], "OwnedElsewhere");
    assert_eq!(owned("second").await, None);

    // An adoption, without and with `ownedResource`.
    let logs = "AWS.Logs/LogGroup";
    let stray = json!({"properties": {"LogGroupName": "stray"}});
    world.post(logs, "put", &stray).await.expect(201);
    world.settle().await;
    world
        .put_and_settle(
            logs,
            "adopted",
            json!({"LogGroupName": "stray", "RetentionInDays": 7}),
        )
        .await;
    assert_eq!(owned("adopted").await, Some(json!(false)));
    let told = json!({"trackedBy": tracked_by(logs, "told"), "ownedResource": true,
        "properties": {"LogGroupName": "stray", "LogGroupClass": "STANDARD", "DeletionProtectionEnabled": true}});
    world.post(logs, "put", &told).await.expect(201);
    world.settle().await;
    assert_eq!(owned("told").await, Some(json!(true)));

    // A create that failed but left a resource.
    world.aws.add_fault(
        fault(fail(HandlerErrorCode::NotStabilized).made())
            .on(Action::CreateResource)
            .times(1),
    );
    world
        .put_and_settle(VPC, "salvaged", json!({"CidrBlock": "10.9.0.0/16"}))
        .await;
    assert_eq!(owned("salvaged").await, Some(json!(true)));
}
