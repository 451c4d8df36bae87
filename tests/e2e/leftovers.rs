//! The register of leftovers: what lives in AWS because of ucp although no alias stands for it.

use std::time::Duration;

use serde_json::{Value, json};
use ucp_simulator::faults::{Effect, fail, fault, refuse};
use ucp_simulator::{Action, ExceptionCode, HandlerErrorCode};
use ucp_testkit::{ACCOUNT, GROUP, REGION, Reply, World, apply, on_every_store, tracked_by};

const API_VERSION: &str = "api-version=2023-10-01-preview";
const VPC: &str = "AWS.EC2/VPC";
const LOG_GROUP: &str = "AWS.Logs/LogGroup";

async fn leftovers(world: &World) -> Vec<Value> {
    let listed = world.get(&format!("{GROUP}/leftovers")).await.expect(200);
    let value = listed.body["value"].as_array();
    value.expect("a page of leftovers").clone()
}

/// Each delete fails, `times` times.
fn deletes_fail(world: &World, times: u32) {
    let kept = fail(HandlerErrorCode::InvalidRequest).saying("has dependencies");
    let fault = fault(kept).on(Action::DeleteResource);
    world.aws.add_fault(fault.times(times));
}

async fn replace(world: &World, cidr_block: &str) -> Value {
    let body = json!({
        "trackedBy": tracked_by(VPC, "main"),
        "replacementPolicy": "createBeforeDelete",
        "properties": {"CidrBlock": cidr_block},
    });
    let reply = world.post(VPC, "put", &body).await.expect(201);
    world.settle().await;
    world.status(&reply).await
}

/// A replacement whose old resource stays. Returns the old one's identifier.
async fn leave(world: &World) -> String {
    let first = json!({"CidrBlock": "10.0.0.0/16"});
    world.put_and_settle(VPC, "main", first).await;
    let old = world.live("AWS::EC2::VPC").remove(0);
    deletes_fail(world, 5);
    let status = replace(world, "10.1.0.0/16").await;
    assert_eq!(status["error"]["code"], "PartiallyApplied", "{status}");
    let message = status["error"]["message"].as_str().expect("a message");
    assert!(
        message.contains(&old) && message.contains("leftovers"),
        "{message}"
    );
    old
}

async fn delete_group(world: &World) -> Reply {
    let path = format!("{GROUP}?{API_VERSION}");
    world.call_until_settled("DELETE", &path, "").await
}

/// What something depends on is deleted again, as in the deletion of a group.
#[apply(on_every_store)]
async fn a_delete_that_fails_for_a_while_leaves_nothing(world: &World) {
    let first = json!({"CidrBlock": "10.0.0.0/16"});
    world.put_and_settle(VPC, "main", first).await;
    deletes_fail(world, 4);
    let status = replace(world, "10.1.0.0/16").await;
    assert_eq!(status["status"], "Succeeded", "{status}");
    assert_eq!(world.live("AWS::EC2::VPC").len(), 1);
    assert_eq!(leftovers(world).await, [] as [Value; 0]);

    // What a failed create made is undone with the same patience.
    deletes_fail(world, 4);
    let made = fail(HandlerErrorCode::InvalidRequest)
        .saying("later")
        .made();
    let made = fault(made).on(Action::CreateResource);
    world.aws.add_fault(made.times(1));
    let status = replace(world, "10.2.0.0/16").await;
    assert_eq!(status["error"]["code"], "InvalidRequest", "{status}");
    assert_eq!(world.live("AWS::EC2::VPC").len(), 1);
}

/// Then it is entered, with all that helps, and tried again and again until it is gone.
#[apply(on_every_store)]
async fn what_stays_is_entered_and_tried_until_it_is_gone(world: &World) {
    let old = leave(world).await;
    world.check_accounts().await;
    let listed = leftovers(world).await;
    let [entry] = &listed[..] else {
        panic!("one leftover, not {listed:?}")
    };
    assert_eq!(entry["type"], "System.Resources/resourceGroups/leftovers");
    let id = entry["id"].as_str().unwrap();
    assert!(id.ends_with(&format!("/leftovers/{}", entry["name"].as_str().unwrap())));
    let properties = &entry["properties"];
    let scope = format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}");
    assert_eq!(properties["primaryIdentifier"], old.as_str());
    let resource = format!("{scope}/providers/{VPC}/{old}");
    assert_eq!(properties["resourceId"], resource.as_str());
    assert_eq!(properties["resourceType"], VPC);
    assert_eq!(properties["scope"], scope.as_str());
    assert_eq!(properties["reason"], "Undeleted");
    let reference = properties["reference"].as_str().unwrap();
    assert!(reference.ends_with("VPC:reference/main"), "{reference}");
    assert_eq!(properties["tries"], 0);
    assert!(properties["nextTryAt"].is_string());
    assert_eq!(properties["lastError"]["code"], "InvalidRequest");
    assert_eq!(properties["lastError"]["message"], "has dependencies");
    assert_eq!(world.get(id).await.expect(200).body, *entry);

    assert_eq!(world.keep().await, 0, "not within a minute");
    deletes_fail(world, 1);
    world.clock.advance(Duration::from_secs(60));
    assert_eq!(world.keep().await, 1);
    assert_eq!(world.keep().await, 0, "others leave it alone meanwhile");
    world.settle().await;
    let tried = world.get(id).await.expect(200).body;
    assert_eq!(tried["properties"]["tries"], 1, "{tried}");
    assert_eq!(tried["properties"]["since"], properties["since"]);
    assert_eq!(world.keep().await, 0, "not within two minutes");
    assert_eq!(world.live("AWS::EC2::VPC").len(), 2);

    world.clock.advance(Duration::from_secs(120));
    assert_eq!(world.keep().await, 1);
    world.settle().await;
    assert_eq!(world.live("AWS::EC2::VPC").len(), 1);
    world.get(id).await.expect(404);
    assert_eq!(leftovers(world).await, [] as [Value; 0]);
}

/// A replacement under another declared name whose old resource stays.
async fn leave_named(world: &World) {
    let declared = |name: &str| json!({"LogGroupName": name});
    world
        .put_and_settle(LOG_GROUP, "main", declared("old"))
        .await;
    deletes_fail(world, 5);
    let body = json!({
        "trackedBy": tracked_by(LOG_GROUP, "main"),
        "replacementPolicy": "createBeforeDelete",
        "properties": declared("new"),
    });
    let reply = world.post(LOG_GROUP, "put", &body).await.expect(201);
    world.settle().await;
    let status = world.status(&reply).await;
    assert_eq!(status["error"]["code"], "PartiallyApplied", "{status}");
    let [entry] = &leftovers(world).await[..] else {
        panic!("one leftover")
    };
    assert_eq!(entry["properties"]["primaryIdentifier"], "old");
    world.clock.advance(Duration::from_secs(61));
}

/// Its mark proves that it is still the same.
#[apply(on_every_store)]
async fn what_bears_its_mark_is_deleted_by_name(world: &World) {
    leave_named(world).await;
    assert_eq!(world.keep().await, 1);
    world.settle().await;
    assert_eq!(world.live("AWS::Logs::LogGroup"), ["new"]);
    assert_eq!(leftovers(world).await, [] as [Value; 0]);
}

/// Somebody deletes it, and makes another of its name.
#[apply(on_every_store)]
async fn what_somebody_else_has_made_under_its_name_stays(world: &World) {
    leave_named(world).await;
    let old = ("AWS::Logs::LogGroup", "old");
    world.vanish(old.0, old.1);
    let body = json!({"properties": {"LogGroupName": "old"}});
    world.post(LOG_GROUP, "put", &body).await.expect(201);
    world.settle().await;
    assert_eq!(world.keep().await, 1);
    world.settle().await;
    assert_eq!(world.live("AWS::Logs::LogGroup").len(), 2);
    let [entry] = &leftovers(world).await[..] else {
        panic!("one leftover")
    };
    let told = entry["properties"]["lastError"]["message"].as_str();
    let told = told.expect("a message");
    assert!(told.contains("does not bear the mark"), "{told}");
}

/// Whoever deletes it settles it.
#[apply(on_every_store)]
async fn a_delete_by_name_settles_it(world: &World) {
    leave(world).await;
    let resource = &leftovers(world).await[0]["properties"]["resourceId"];
    let path = resource.as_str().unwrap().to_owned();
    world.call("DELETE", &path, "").await.expect(202);
    world.settle().await;
    assert_eq!(leftovers(world).await, [] as [Value; 0]);
}

/// What somebody has imported is theirs, and never deleted.
#[apply(on_every_store)]
async fn what_is_imported_is_not_left_over(world: &World) {
    let old = leave(world).await;
    let import = json!({"trackedBy": tracked_by(VPC, "guest"), "primaryIdentifier": old});
    world.post(VPC, "import", &import).await.expect(201);
    world.settle().await;
    assert_eq!(leftovers(world).await, [] as [Value; 0]);
    world.clock.advance(Duration::from_secs(60));
    assert_eq!(world.keep().await, 0);
    assert_eq!(world.live("AWS::EC2::VPC").len(), 2);
}

/// The deletion of a group would lose what is ours, unless somebody says that it may.
#[apply(on_every_store)]
async fn it_blocks_the_deletion_of_its_group(world: &World) {
    let old = leave(world).await;
    let blocked = delete_group(world).await.expect(409);
    assert_eq!(blocked.code(), "ResourceGroupDeletionBlocked");
    let details = blocked.body["error"]["details"].as_array().unwrap();
    assert_eq!(details.len(), 1, "{details:?}");
    assert_eq!(details[0]["code"], "InvalidRequest");
    assert!(details[0]["message"].as_str().unwrap().contains(&old));
    let id = leftovers(world).await[0]["id"].as_str().unwrap().to_owned();
    assert!(details[0]["message"].as_str().unwrap().contains(&id));
    assert!(world.references().await.is_empty(), "the rest is gone");

    // Without references, too.
    let blocked = delete_group(world).await.expect(409);
    assert_eq!(blocked.code(), "ResourceGroupDeletionBlocked");

    world.call("DELETE", &id, "").await.expect(204);
    world.call("DELETE", &id, "").await.expect(204);
    let events = world.events(VPC, "main").await;
    assert_eq!(events.last().unwrap().kind, "forgetLeftover");
    let status = delete_group(world).await.status;
    assert!(matches!(status, 200 | 204), "{status}");
    world.get(&format!("{GROUP}/leftovers")).await.expect(404);
    assert_eq!(world.live("AWS::EC2::VPC"), [old.as_str()]);
    world.lets_go(&old);
}

/// What no group has is entered for its account and region.
#[apply(on_every_store)]
async fn what_aws_named_otherwise_is_entered_for_its_region(world: &World) {
    let identifier = "real/name".to_owned();
    let renamed = fault(Effect::Rename { identifier });
    let renamed = renamed.on(Action::CreateResource);
    world.aws.add_fault(renamed.times(1));
    let body = json!({"properties": {"LogGroupName": "asked"}});
    world.post(LOG_GROUP, "put", &body).await.expect(201);
    world.settle().await;
    let region = format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}");
    let list = format!("{region}/leftovers");
    let listed = world.get(&list).await.expect(200).body;
    let entry = &listed["value"][0];
    assert_eq!(entry["properties"]["reason"], "Misnamed");
    assert_eq!(entry["properties"]["primaryIdentifier"], "real/name");
    assert_eq!(entry["type"], "System.AWS/leftovers");
    let shouted = list.to_uppercase();
    let shouted = shouted.replace("US-WEST-2", REGION);
    assert_eq!(world.get(&shouted).await.expect(200).body, listed);

    // It is the caller's, who may want it.
    world.clock.advance(Duration::from_secs(3600));
    world.keep().await;
    world.settle().await;
    assert_eq!(world.live("AWS::Logs::LogGroup"), ["real/name"]);
    let id = entry["id"].as_str().unwrap();
    let kept = world.get(id).await.expect(200).body;
    assert_eq!(kept["properties"]["tries"], 1, "{kept}");
    let told = kept["properties"]["lastError"]["message"].as_str().unwrap();
    assert!(told.starts_with("'real/name' is still there."), "{told}");
    world.call("DELETE", id, "").await.expect(204);
    assert_eq!(world.get(&list).await.expect(200).body["value"], json!([]));
    assert_eq!(world.live("AWS::Logs::LogGroup"), ["real/name"]);
}

/// The outcome of a create is not known, and AWS may still be making the resource. That it is not found proves nothing yet.
#[apply(on_every_store)]
async fn what_may_still_be_made_stays_left_over(world: &World) {
    let late = fail(HandlerErrorCode::ServiceTimeout).hidden();
    world.aws.add_fault(fault(late).on(Action::CreateResource));
    let body = json!({"properties": {"LogGroupName": "late"}});
    let put = world.post(LOG_GROUP, "put", &body).await.expect(201);
    world.settle().await;
    let ended = world.status(&put).await;
    assert_eq!(ended["error"]["code"], "OutcomeUnknown", "{ended}");
    let list = format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/leftovers");
    let entries_after = async |hours: u64| {
        world.clock.advance(Duration::from_secs(hours * 3600));
        world.keep().await;
        world.settle().await;
        let listed = world.get(&list).await.expect(200);
        listed.body["value"].as_array().unwrap().len()
    };
    assert_eq!(entries_after(1).await, 1);
    assert_eq!(entries_after(7).await, 0);
}

/// Somebody deletes what was left, in AWS. Nothing is sent that could meet another resource of that name.
#[apply(on_every_store)]
async fn what_is_gone_is_not_left_over_any_more(world: &World) {
    let identifier = "real/name".to_owned();
    let renamed = fault(Effect::Rename { identifier }).on(Action::CreateResource);
    world.aws.add_fault(renamed.times(1));
    let body = json!({"properties": {"LogGroupName": "asked"}});
    world.post(LOG_GROUP, "put", &body).await.expect(201);
    world.settle().await;
    let list = format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/leftovers");
    let entries = async || {
        let listed = world.get(&list).await.expect(200);
        listed.body["value"].as_array().unwrap().len()
    };
    let look = async || {
        world.clock.advance(Duration::from_secs(7 * 3600));
        world.keep().await;
        world.settle().await;
    };
    // One "not found" is not gone.
    let not_found = fault(refuse(ExceptionCode::ResourceNotFound)).on(Action::GetResource);
    world.aws.add_fault(not_found.times(1));
    look().await;
    assert_eq!(entries().await, 1);
    world.vanish("AWS::Logs::LogGroup", "real/name");
    look().await;
    assert_eq!(entries().await, 0);
    assert_eq!(world.calls("DeleteResource"), 0);
}

/// What a failed create left, that no alias stands for, is told.
#[apply(on_every_store)]
async fn what_a_failed_create_left_without_an_alias_is_entered(world: &World) {
    let made = fail(HandlerErrorCode::InvalidRequest)
        .saying("later")
        .made();
    let made = fault(made).on(Action::CreateResource);
    world.aws.add_fault(made.times(2));
    let body = json!({"properties": {"CidrBlock": "10.0.0.0/16"}});
    world.post(VPC, "put", &body).await.expect(201);
    world.settle().await;
    let region = format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}");
    let listed = world.get(&format!("{region}/leftovers")).await.expect(200);
    let [entry] = &listed.body["value"].as_array().unwrap()[..] else {
        panic!("one leftover, not {}", listed.text)
    };
    assert_eq!(entry["properties"]["reason"], "Salvage");
    let live = world.live("AWS::EC2::VPC");
    assert_eq!(entry["properties"]["primaryIdentifier"], live[0].as_str());

    // An alias stands for what its own failed create left.
    let ended = world
        .put_and_settle(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    assert_eq!(ended["error"]["code"], "InvalidRequest", "{ended}");
    assert_eq!(world.references().await.len(), 1);
    assert_eq!(leftovers(world).await, [] as [Value; 0]);
}

#[apply(on_every_store)]
async fn unknown_leftovers_and_groups_are_not_found(world: &World) {
    let missing = format!("{GROUP}/leftovers/2b1c5a52-93d1-4a0e-8b7c-0d6f0b1c2d3e");
    assert_eq!(world.get(&missing).await.expect(404).code(), "NotFound");
    world.call("DELETE", &missing, "").await.expect(204);
    let unnamed = format!("{GROUP}/leftovers/vpc-1");
    assert_eq!(world.get(&unnamed).await.expect(404).code(), "NotFound");
    let group = GROUP.replace("/rg", "/nowhere");
    let reply = world.get(&format!("{group}/leftovers")).await.expect(404);
    assert_eq!(reply.code(), "NotFound");
}
