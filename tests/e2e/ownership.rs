//! The mark of a reference: the AWS tag `ucp:reference`, which proves that a resource was created for it.

mod lost;

use serde_json::{Value, json};
use ucp_model::{Lineage, Mark, ReferenceId};
use ucp_simulator::faults::{fail, fault, refuse};
use ucp_simulator::{Action, ExceptionCode, HandlerErrorCode};
use ucp_testkit::{ACCOUNT, GROUP, REGION, World, apply, on_every_store, tracked_by};

const LOG_GROUP: &str = "AWS.Logs/LogGroup";
const PARAMETER: &str = "AWS.SSM/Parameter";
const VPC: &str = "AWS.EC2/VPC";
const API_VERSION: &str = "api-version=2023-10-01-preview";

fn mark(resource_type: &str, alias: &str) -> String {
    let reference: ReferenceId = tracked_by(resource_type, alias).parse().expect("an id");
    Mark::of(&Lineage::of(&reference)).to_string()
}

/// Cuts off what a mark tells of the operation that has put it on.
fn without_creation(mark: &mut Value) {
    let text = mark.as_str().expect("a text");
    let (of_reference, creation) = text.rsplit_once('/').expect("a creation");
    assert_eq!(creation.len(), 16, "{text}");
    *mark = of_reference.into();
}

/// The tags of the live log group `name`, in AWS's order, without what tells the operation.
fn tags(world: &World, name: &str) -> Value {
    let resources = serde_json::to_value(world.aws.resources()).expect("JSON");
    let resources = resources.as_array().expect("a list");
    let found = resources
        .iter()
        .find(|resource| resource["identifier"] == name);
    let mut tags = found.expect("it lives")["properties"]["Tags"].clone();
    for tag in tags.as_array_mut().into_iter().flatten() {
        let is_created = |mark: &str| mark.split('/').count() == 4;
        if tag["Key"] == Mark::KEY && tag["Value"].as_str().is_some_and(is_created) {
            without_creation(&mut tag["Value"]);
        }
    }
    tags
}

fn tag(key: &str, value: &str) -> Value {
    json!({"Key": key, "Value": value})
}

fn patch_tags(world: &World, name: &str, tags: &Value) {
    let patch = json!([{"op": "add", "path": "/Tags", "value": tags}]);
    let resource = ("AWS::Logs::LogGroup", name);
    let patched = world.aws.patch_out_of_band(None, None, resource, &patch);
    patched.expect("it is patched");
}

fn path(resource_type: &str, name: &str) -> String {
    format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{resource_type}/{name}")
}

async fn delete_reference(world: &World, resource_type: &str, alias: &str) -> ucp_testkit::Reply {
    let id = tracked_by(resource_type, alias);
    world.call("DELETE", &id, "").await
}

async fn set_owned(world: &World, resource_type: &str, alias: &str, owned: bool) {
    let body = json!({"ownedResource": owned}).to_string();
    let id = tracked_by(resource_type, alias);
    world.call("PATCH", &id, &body).await.expect(200);
}

/// Makes the look of a request and that of its worker miss the resource.
fn hide_from_first_looks(world: &World) {
    world.aws.add_fault(
        fault(refuse(ExceptionCode::ResourceNotFound))
            .on(Action::GetResource)
            .times(1),
    );
}

/// D51: the mark is put on at create. Nothing shows it, no put changes it, and none is sent because of it.
#[apply(on_every_store)]
async fn what_is_created_carries_the_mark_and_nothing_shows_it(world: &World) {
    let ours = tag("ucp:reference", &mark(LOG_GROUP, "logs"));
    let declare = |tags: Value| json!({"LogGroupName": "logs", "Tags": tags});
    let ended = world
        .put_and_settle(LOG_GROUP, "logs", declare(json!([tag("team", "net")])))
        .await;
    assert_eq!(ended["properties"]["Tags"], json!([tag("team", "net")]));
    assert_eq!(tags(world, "logs"), json!([tag("team", "net"), ours]));
    world
        .put(LOG_GROUP, "logs", declare(json!([tag("team", "net")])))
        .await
        .expect(200);

    // Whether the list is written as a whole or in part, the mark stays.
    for (mode, declared, live) in [
        (
            "merge",
            json!([tag("team", "web")]),
            json!([tag("team", "web"), ours]),
        ),
        (
            "merge",
            json!([tag("a", "1"), tag("b", "2")]),
            json!([tag("a", "1"), tag("b", "2"), ours]),
        ),
        (
            "replace",
            json!([tag("b", "2")]),
            json!([tag("b", "2"), ours]),
        ),
        ("replace", json!([]), json!([ours])),
        (
            "merge",
            json!([tag("c", "3")]),
            json!([tag("c", "3"), ours]),
        ),
        ("merge", Value::Null, json!([ours])),
    ] {
        let body = json!({
            "trackedBy": tracked_by(LOG_GROUP, "logs"),
            "updateMode": mode,
            "properties": declare(declared.clone()),
        });
        world.post(LOG_GROUP, "put", &body).await.expect(201);
        world.settle().await;
        let mut found = tags(world, "logs");
        let found = found.as_array_mut().expect("a list");
        found.sort_by_key(|tag| tag["Key"].to_string());
        assert_eq!(json!(found), live, "{mode} {declared}");
        world.post(LOG_GROUP, "put", &body).await.expect(200);
    }

    for shown in [
        world.get(&path(LOG_GROUP, "logs")).await,
        world.get(&path(LOG_GROUP, "")).await,
        world.get(&tracked_by(LOG_GROUP, "logs")).await,
        world.get(&format!("{GROUP}?{API_VERSION}")).await,
    ] {
        let shown = shown.expect(200);
        assert!(!shown.text.contains("ucp:reference"), "{}", shown.text);
    }
    // Tags that consist of the mark alone are none.
    let live = world.get(&path(LOG_GROUP, "logs")).await;
    assert_eq!(live.body["properties"]["Tags"], Value::Null);
}

/// Without a reference, or without tags that a create can set, there is no mark.
#[apply(on_every_store)]
async fn what_has_no_reference_or_no_tags_gets_no_mark(world: &World) {
    let body = json!({"properties": {}}).to_string();
    world
        .call("PUT", &path(LOG_GROUP, "named"), &body)
        .await
        .expect(201);
    let attachment = "AWS.EC2/VPCGatewayAttachment";
    world
        .put(
            attachment,
            "a",
            json!({"VpcId": "vpc-0123456789abcdef0", "InternetGatewayId": "igw-0123456789abcdef0"}),
        )
        .await
        .expect(201);
    world.settle().await;
    let resources = serde_json::to_string(&world.aws.resources()).expect("JSON");
    assert!(!resources.contains("ucp:reference"), "{resources}");
}

/// The form of the tags is that of the type.
#[apply(on_every_store)]
async fn a_map_of_tags_carries_the_mark_as_a_member(world: &World) {
    let declared = json!({"Name": "p", "Type": "String", "Value": "v"});
    world.put_and_settle(PARAMETER, "p", declared.clone()).await;
    let resources = serde_json::to_value(world.aws.resources()).expect("JSON");
    let mut tags = resources[0]["properties"]["Tags"].clone();
    without_creation(&mut tags["ucp:reference"]);
    let expected = json!({"ucp:reference": mark(PARAMETER, "p")});
    assert_eq!(tags, expected);
    world.put(PARAMETER, "p", declared).await.expect(200);
    let shown = world.get(&path(PARAMETER, "p")).await.expect(200);
    assert!(!shown.text.contains("ucp:reference"), "{}", shown.text);
}

/// D51: the tag is never declared. A client that sends back what it has read in AWS is told what to do.
#[apply(on_every_store)]
async fn d51_a_declared_mark_is_refused_wherever_it_is(world: &World) {
    let declared = json!([tag("a", "b"), tag("ucp:reference", "x")]);
    let list = json!({"properties": {"LogGroupName": "logs", "Tags": declared}});
    let map = json!({"properties": {"Name": "p", "Type": "String", "Value": "v",
        "Tags": {"ucp:Reference": "x"}}});
    for (resource_type, body, target) in [
        (LOG_GROUP, list, "/properties/Tags/1"),
        (PARAMETER, map, "/properties/Tags/ucp:Reference"),
    ] {
        let refused = world.post(resource_type, "put", &body).await.expect(400);
        assert_eq!(refused.body["error"]["details"][0]["target"], target);
        assert!(refused.text.contains("leave it out"), "{}", refused.text);
    }
    for member in ["tags", "defaultTags"] {
        let body = json!({member: {"ucp:reference": "x"}, "properties": {"LogGroupName": "logs"}});
        let refused = world.post(LOG_GROUP, "put", &body).await.expect(400);
        assert!(refused.text.contains("leave it out"), "{}", refused.text);
    }
    let defaults = json!({"defaultTags": {"ucp:reference": "x"}});
    let path = format!("{GROUP}?{API_VERSION}");
    for method in ["PUT", "PATCH"] {
        let body = json!({"location": "global", "properties": defaults});
        let refused = world.call(method, &path, &body.to_string()).await;
        let refused = refused.expect(400);
        assert!(refused.text.contains("leave it out"), "{}", refused.text);
    }
    assert_eq!(world.calls("CreateResource"), 0);
}

/// AWS runs handlers twice: the second run of our create meets what the first one made.
#[apply(on_every_store)]
async fn what_our_own_create_has_met_is_ours(world: &World) {
    world.aws.add_fault(
        fault(fail(HandlerErrorCode::AlreadyExists).made())
            .on(Action::CreateResource)
            .times(1),
    );
    let body = json!({"trackedBy": tracked_by(LOG_GROUP, "logs"), "adoptionPolicy": "fail",
        "properties": {"LogGroupName": "logs"}});
    let reply = world.post(LOG_GROUP, "put", &body).await.expect(201);
    world.settle().await;
    let ended = world.status(&reply).await;
    assert_eq!(ended["status"], "Succeeded", "{ended}");
    assert_eq!(world.references().await[0]["ownedResource"], true);
    delete_reference(world, LOG_GROUP, "logs").await.expect(202);
    world.settle().await;
    assert!(world.live("AWS::Logs::LogGroup").is_empty());
}

/// The mark is the same after the reference was lost, so what was created for it is found again as owned.
#[apply(on_every_store)]
async fn what_carries_our_mark_is_not_adopted_but_owned(world: &World) {
    let declared = json!({"LogGroupName": "logs"});
    world
        .put_and_settle(LOG_GROUP, "logs", declared.clone())
        .await;
    set_owned(world, LOG_GROUP, "logs", false).await;
    delete_reference(world, LOG_GROUP, "logs").await.expect(200);

    // Another alias adopts it without owning it.
    world
        .put(LOG_GROUP, "other", declared.clone())
        .await
        .expect(200);
    assert_eq!(world.references().await[0]["ownedResource"], false);
    delete_reference(world, LOG_GROUP, "other")
        .await
        .expect(200);

    for declared in [
        declared,
        json!({"LogGroupName": "logs", "RetentionInDays": 7}),
    ] {
        let body = json!({"trackedBy": tracked_by(LOG_GROUP, "logs"), "adoptionPolicy": "fail",
            "properties": declared});
        world.post(LOG_GROUP, "put", &body).await;
        world.settle().await;
        let references = world.references().await;
        assert_eq!(references[0]["ownedResource"], true, "{declared}");
        set_owned(world, LOG_GROUP, "logs", false).await;
        // A reference that was released stays so.
        world.post(LOG_GROUP, "put", &body).await.expect(200);
        assert_eq!(world.references().await[0]["ownedResource"], false);
        delete_reference(world, LOG_GROUP, "logs").await.expect(200);
    }
    world.lets_go("logs");
}

/// Who names the resource means it.
#[apply(on_every_store)]
async fn a_delete_by_name_does_not_ask_whose_mark_it_is(world: &World) {
    let declared = json!({"LogGroupName": "logs"});
    world.put_and_settle(LOG_GROUP, "logs", declared).await;
    let body = json!({"properties": {"LogGroupName": "logs"}});
    world.post(LOG_GROUP, "delete", &body).await.expect(202);
    world.settle().await;
    assert!(world.live("AWS::Logs::LogGroup").is_empty());
}

/// What an import was told to own, it may delete, whosever mark it carries.
#[apply(on_every_store)]
async fn what_is_imported_as_owned_is_deleted_with_it(world: &World) {
    let created = world
        .put_and_settle(VPC, "old", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    set_owned(world, VPC, "old", false).await;
    let body = json!({"trackedBy": tracked_by(VPC, "new"), "ownedResource": true,
        "primaryIdentifier": created["properties"]["VpcId"]});
    world.post(VPC, "import", &body).await.expect(201);
    delete_reference(world, VPC, "old").await.expect(200);
    let group = format!("{GROUP}?{API_VERSION}");
    world
        .call_until_settled("DELETE", &group, "")
        .await
        .expect(200);
    assert!(world.live("AWS::EC2::VPC").is_empty());
}

/// A create that failed is not believed to have left what another reference's mark is on.
#[apply(on_every_store)]
async fn what_a_failed_create_has_left_is_told_by_its_mark(world: &World) {
    // It has made the resource, and said nothing of it.
    world.aws.add_fault(
        fault(fail(HandlerErrorCode::GeneralServiceException).made())
            .on(Action::CreateResource)
            .times(1),
    );
    let declared = json!({"LogGroupName": "ours"});
    world.put_and_settle(LOG_GROUP, "ours", declared).await;
    let reference = &world.references().await[0];
    assert_eq!(reference["ownedResource"], true, "{reference}");
    delete_reference(world, LOG_GROUP, "ours").await.expect(202);
    world.settle().await;

    let body = json!({"properties": {}}).to_string();
    world
        .call("PUT", &path(LOG_GROUP, "theirs"), &body)
        .await
        .expect(201);
    world.settle().await;
    let theirs = mark(LOG_GROUP, "another");
    patch_tags(world, "theirs", &json!([tag("ucp:reference", &theirs)]));
    hide_from_first_looks(world);
    world.aws.add_fault(
        fault(fail(HandlerErrorCode::GeneralServiceException))
            .on(Action::CreateResource)
            .times(1),
    );
    let declared = json!({"LogGroupName": "theirs"});
    let ended = world.put_and_settle(LOG_GROUP, "mine", declared).await;
    assert_eq!(ended["status"], "Failed", "{ended}");
    assert!(world.references().await.is_empty());
    assert_eq!(world.live("AWS::Logs::LogGroup"), ["theirs"]);
    // The mark is another's.
    world.lets_go("theirs");
}

/// The tag may be what the create fails of. The message says that it was on it, and how to do without.
#[apply(on_every_store)]
async fn a_create_that_fails_of_the_tag_says_so(world: &World) {
    for (code, message) in [
        (HandlerErrorCode::UnauthorizedTaggingOperation, "no"),
        (
            HandlerErrorCode::AccessDenied,
            "not authorized to perform: logs:TagResource",
        ),
    ] {
        world.aws.add_fault(
            fault(fail(code).hidden().saying(message))
                .on(Action::CreateResource)
                .times(1),
        );
        let ended = world
            .put_and_settle(LOG_GROUP, "logs", json!({"LogGroupName": "logs"}))
            .await;
        let told = ended["error"]["message"].as_str().expect("a message");
        assert!(told.contains("--ownership-tags=off"), "{told}");
    }
    // It is not the tag's fault that a log group may not be created.
    world.aws.add_fault(
        fault(
            fail(HandlerErrorCode::AccessDenied)
                .hidden()
                .saying("not authorized to perform: logs:CreateLogGroup"),
        )
        .on(Action::CreateResource)
        .times(1),
    );
    let ended = world
        .put_and_settle(LOG_GROUP, "logs", json!({"LogGroupName": "logs"}))
        .await;
    let told = ended["error"]["message"].as_str().expect("a message");
    assert!(!told.contains("ucp:reference"), "{told}");
}

#[tokio::test]
async fn no_mark_is_put_on_if_they_are_switched_off() {
    let world = World::builder().without_ownership_tags().build().await;
    let declared = json!({"LogGroupName": "logs"});
    world.put_and_settle(LOG_GROUP, "logs", declared).await;
    assert_eq!(tags(&world, "logs"), Value::Null);
    world.finish().await;
}
