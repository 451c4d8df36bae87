//! What is not deleted for lack of its mark, and what needs none: it has lost the mark, or is another resource of its
//! name.

use std::time::Duration;

use serde_json::{Value, json};
use ucp_simulator::Action;
use ucp_simulator::faults::{Effect, fault};
use ucp_testkit::{GROUP, Reply, World, apply, on_every_store, tracked_by};

use super::{
    API_VERSION, LOG_GROUP, VPC, delete_reference, mark, patch_tags, path, set_owned, tag, tags,
};

/// The failure of a request that is refused after looks in the settling window.
async fn refused(world: &World, reply: &Reply) -> String {
    assert!(matches!(reply.status, 201 | 202), "{}", reply.text);
    world.settle().await;
    let ended = world.status(reply).await;
    assert_eq!(ended["status"], "Failed", "{ended}");
    assert_eq!(ended["error"]["code"], "Conflict", "{ended}");
    ended["error"].to_string()
}

/// Somebody has deleted the resource and made another one of that name, for a reference of their own.
#[apply(on_every_store)]
async fn what_carries_the_mark_of_another_reference_is_not_deleted_for_this_one(world: &World) {
    let declared = json!({"LogGroupName": "logs"});
    world
        .put_and_settle(LOG_GROUP, "logs", declared.clone())
        .await;
    let theirs = mark(LOG_GROUP, "theirs");
    patch_tags(world, "logs", &json!([tag("ucp:reference", &theirs)]));

    let refused = delete_reference(world, LOG_GROUP, "logs").await.expect(409);
    assert_eq!(refused.code(), "Conflict");
    assert_marked_by_another(&refused, &theirs);
    assert!(
        refused.text.contains("ownedResource true"),
        "{}",
        refused.text
    );

    // So too a worker that looks itself, for a request and for the group.
    let unwaited = world
        .send_without_waiting("DELETE", &tracked_by(LOG_GROUP, "logs"), "")
        .await;
    world.settle().await;
    assert!(unwaited.status == 409 || world.status(&unwaited).await["status"] == "Failed");
    let group = format!("{GROUP}?{API_VERSION}");
    let blocked = world.call_until_settled("DELETE", &group, "").await;
    assert_marked_by_another(&blocked, &theirs);
    assert_eq!(world.live("AWS::Logs::LogGroup"), ["logs"]);
    assert_eq!(world.calls("DeleteResource"), 0);

    // A replacement that would delete it is refused as well.
    let body = json!({"trackedBy": tracked_by(LOG_GROUP, "logs"),
        "replacementPolicy": "createBeforeDelete", "properties": {"LogGroupName": "new"}});
    let refused = world.post(LOG_GROUP, "put", &body).await.expect(409);
    assert_marked_by_another(&refused, &theirs);

    // It can be told to own it.
    set_owned(world, LOG_GROUP, "logs", true).await;
    delete_reference(world, LOG_GROUP, "logs").await.expect(202);
    world.settle().await;
    assert!(world.live("AWS::Logs::LogGroup").is_empty());
}

/// The mark has the name of a group, which not all who read the message may read.
fn assert_marked_by_another(refused: &Reply, mark: &str) {
    let said = &refused.text;
    assert!(said.contains("the mark of another reference"), "{said}");
    assert!(!said.contains(mark), "{said}");
}

/// Somebody has deleted the resource and made another one of that name, without a mark.
async fn made_again_by_somebody(world: &World) {
    let declared = json!({"LogGroupName": "logs"});
    world.put_and_settle(LOG_GROUP, "logs", declared).await;
    let resource = ("AWS::Logs::LogGroup", "logs");
    world.vanish(resource.0, resource.1);
    let body = json!({"properties": {"RetentionInDays": 7}}).to_string();
    let made = world.call("PUT", &path(LOG_GROUP, "logs"), &body).await;
    made.expect(201);
    world.settle().await;
}

/// The mark is known to have been on what the reference stands for, so what lacks it is another resource of that name.
#[apply(on_every_store)]
async fn what_has_lost_the_mark_is_not_deleted_by_its_name(world: &World) {
    made_again_by_somebody(world).await;
    let reference = tracked_by(LOG_GROUP, "logs");
    let told = |text: &str| {
        assert!(text.contains("ownedResource true"), "{text}");
        assert!(text.contains("ownedResource false"), "{text}");
        assert!(text.contains("LogGroup:reference/logs"), "{text}");
    };
    let reply = delete_reference(world, LOG_GROUP, "logs").await;
    let reads = world.calls("GetResource");
    told(&refused(world, &reply).await);
    assert!(world.calls("GetResource") >= reads + 4, "tags lag, too");
    let reply = world.delete(LOG_GROUP, "logs").await;
    told(&refused(world, &reply).await);
    let group = format!("{GROUP}?{API_VERSION}");
    told(&world.call_until_settled("DELETE", &group, "").await.text);
    let replaced = json!({"trackedBy": reference, "replacementPolicy": "createBeforeDelete",
        "properties": {"LogGroupName": "new"}});
    let reply = world.post(LOG_GROUP, "put", &replaced).await;
    told(&refused(world, &reply).await);

    // A put changes it, as it adopts what it finds, and does not make it ours.
    let declared = json!({"LogGroupName": "logs", "RetentionInDays": 14});
    world.put_and_settle(LOG_GROUP, "logs", declared).await;
    let reply = delete_reference(world, LOG_GROUP, "logs").await;
    told(&refused(world, &reply).await);
    assert_eq!(world.calls("DeleteResource"), 0);

    // One request decides. It may be left alone.
    set_owned(world, LOG_GROUP, "logs", false).await;
    delete_reference(world, LOG_GROUP, "logs").await.expect(200);
    assert_eq!(world.live("AWS::Logs::LogGroup"), ["logs"]);
}

/// A read may show the tags of before.
#[apply(on_every_store)]
async fn a_mark_that_shows_late_is_waited_for(world: &World) {
    let declared = json!({"LogGroupName": "logs"});
    world.put_and_settle(LOG_GROUP, "logs", declared).await;
    let resources = serde_json::to_value(world.aws.resources()).expect("JSON");
    let marked = resources[0]["properties"]["Tags"].clone();
    for is_replaced in [false, true] {
        patch_tags(world, "logs", &json!([]));
        let reply = if is_replaced {
            world.delete(LOG_GROUP, "logs").await
        } else {
            delete_reference(world, LOG_GROUP, "logs").await
        };
        assert_eq!(reply.status, 202, "{}", reply.text);
        for _ in 0..3 {
            world.clock.advance(Duration::from_secs(10));
            world.step().await;
        }
        assert_eq!(world.calls("DeleteResource"), usize::from(is_replaced));
        patch_tags(world, "logs", &marked);
        world.settle().await;
        assert_eq!(world.status(&reply).await["status"], "Succeeded");
        assert!(world.live("AWS::Logs::LogGroup").is_empty());
        let declared = json!({"LogGroupName": "logs"});
        world.put_and_settle(LOG_GROUP, "logs", declared).await;
    }
}

/// The mark may also be gone because somebody has edited the tags.
#[apply(on_every_store)]
async fn what_has_lost_the_mark_is_deleted_if_the_reference_is_told_to_own_it(world: &World) {
    let declared = json!({"LogGroupName": "logs"});
    for is_created in [true, false] {
        world
            .put_and_settle(LOG_GROUP, "logs", declared.clone())
            .await;
        if !is_created {
            // What a put finds, and does not change, is remembered as well.
            set_owned(world, LOG_GROUP, "logs", false).await;
            delete_reference(world, LOG_GROUP, "logs").await.expect(200);
            let found = world.put(LOG_GROUP, "logs", declared.clone()).await;
            found.expect(200);
        }
        patch_tags(world, "logs", &json!([]));
        let reply = delete_reference(world, LOG_GROUP, "logs").await;
        refused(world, &reply).await;
        set_owned(world, LOG_GROUP, "logs", true).await;
        delete_reference(world, LOG_GROUP, "logs").await.expect(202);
        world.settle().await;
        assert!(world.live("AWS::Logs::LogGroup").is_empty());
    }
}

/// What is created in its place has a mark of its own.
#[apply(on_every_store)]
async fn what_is_created_again_without_a_mark_needs_none(world: &World) {
    let declared = json!({"LogGroupName": "logs"});
    let put = async || {
        let status = world.put_and_settle(LOG_GROUP, "logs", declared.clone());
        assert_eq!(status.await["status"], "Succeeded");
    };
    put().await;
    let resource = ("AWS::Logs::LogGroup", "logs");
    world.vanish(resource.0, resource.1);
    // AWS drops the tag.
    let paths = vec!["/Tags".to_owned()];
    world.aws.add_fault(
        fault(Effect::DropPaths { paths })
            .on(Action::CreateResource)
            .times(1),
    );
    put().await;
    assert_eq!(tags(world, "logs"), Value::Null);
    delete_reference(world, LOG_GROUP, "logs").await.expect(202);
    world.settle().await;
    assert!(world.live("AWS::Logs::LogGroup").is_empty());
}

/// AWS gives no identifier twice, so nobody else's resource has this one.
#[apply(on_every_store)]
async fn what_aws_has_named_is_deleted_without_its_mark(world: &World) {
    let declared = json!({"CidrBlock": "10.0.0.0/16"});
    let created = world.put_and_settle(VPC, "main", declared).await;
    let vpc = created["properties"]["VpcId"].as_str().expect("a name");
    let untagged = json!([{"op": "add", "path": "/Tags", "value": []}]);
    let resource = ("AWS::EC2::VPC", vpc);
    let patched = world.aws.patch_out_of_band(None, None, resource, &untagged);
    patched.expect("it is patched");
    delete_reference(world, VPC, "main").await.expect(202);
    world.settle().await;
    assert!(world.live("AWS::EC2::VPC").is_empty());
}
