//! Deletes by alias, of the reference, and by identifier (contract sections 4.2 and 7, D12).

use serde_json::json;
use ucp_simulator::faults::{fail, fault};
use ucp_simulator::{Action, HandlerErrorCode};
use ucp_testkit::{ACCOUNT, REGION, World, apply, on_every_store, tracked_by};

const VPC: &str = "AWS.EC2/VPC";
const LOG_GROUP: &str = "AWS.Logs/LogGroup";

#[apply(on_every_store)]
async fn a_delete_by_alias_removes_resource_and_reference(world: &World) {
    world
        .put_and_settle(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    let reply = world.delete(VPC, "main").await.expect(202);
    assert_eq!(reply.body, json!({}));
    assert_eq!(
        world.references().await.len(),
        1,
        "the reference goes with the finishing transaction"
    );
    world.settle().await;
    assert_eq!(world.status(&reply).await["status"], "Succeeded");
    assert!(world.live("AWS::EC2::VPC").is_empty());
    assert!(world.references().await.is_empty());
    world.delete(VPC, "main").await.expect(204);
}

#[apply(on_every_store)]
async fn deleting_what_is_gone_already_is_success(world: &World) {
    world
        .put_and_settle(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    let [vpc] = &world.live("AWS::EC2::VPC")[..] else {
        panic!("expected one VPC")
    };
    world.vanish("AWS::EC2::VPC", vpc);
    let reply = world.delete(VPC, "main").await.expect(202);
    world.settle().await;
    assert_eq!(world.status(&reply).await["status"], "Succeeded");
    assert!(world.references().await.is_empty());
    assert_eq!(world.calls("DeleteResource"), 1);
    world.delete(VPC, "main").await.expect(204);
}

#[apply(on_every_store)]
async fn a_failed_delete_keeps_the_reference(world: &World) {
    world
        .put_and_settle(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    world.aws.add_fault(
        fault(fail(HandlerErrorCode::InvalidRequest).saying("has dependencies"))
            .on(Action::DeleteResource)
            .times(1),
    );
    let reply = world.delete(VPC, "main").await.expect(202);
    world.settle().await;
    assert_eq!(
        world.status(&reply).await["error"]["code"],
        "InvalidRequest"
    );
    assert_eq!(world.references().await.len(), 1);
    let reply = world.delete(VPC, "main").await.expect(202);
    world.settle().await;
    assert_eq!(world.status(&reply).await["status"], "Succeeded");
}

#[apply(on_every_store)]
async fn a_reference_takes_its_resource_along_when_it_owns_it(world: &World) {
    world
        .put_and_settle(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    let id = tracked_by(VPC, "main");
    let reply = world.call("DELETE", &id, "").await.expect(202);
    assert!(
        reply
            .status_url()
            .contains("/planes/radius/local/providers/System.Resources/locations/global/")
    );
    world.settle().await;
    assert_eq!(world.status(&reply).await["status"], "Succeeded");
    assert!(world.live("AWS::EC2::VPC").is_empty());
    world.call("DELETE", &id, "").await.expect(204);
}

#[apply(on_every_store)]
async fn a_reference_that_does_not_own_its_resource_is_only_forgotten(world: &World) {
    let path =
        format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{LOG_GROUP}/:put");
    world
        .call(
            "POST",
            &path,
            &json!({"properties": {"LogGroupName": "logs"}}).to_string(),
        )
        .await
        .expect(201);
    world.settle().await;
    world
        .put(LOG_GROUP, "logs", json!({"LogGroupName": "logs"}))
        .await
        .expect(200);
    world
        .call("DELETE", &tracked_by(LOG_GROUP, "logs"), "")
        .await
        .expect(200);
    assert!(world.references().await.is_empty());
    assert_eq!(world.live("AWS::Logs::LogGroup"), ["logs"]);
    let events = world.events(LOG_GROUP, "logs").await;
    assert_eq!(
        events.last().map(|event| event.kind.as_str()),
        Some("forget")
    );
}

#[apply(on_every_store)]
async fn deleting_by_identifier_removes_the_references_too(world: &World) {
    world
        .put_and_settle(LOG_GROUP, "logs", json!({"LogGroupName": "logs"}))
        .await;
    let reply = world
        .post(
            LOG_GROUP,
            "delete",
            &json!({"properties": {"LogGroupName": "logs", "RetentionInDays": 7}}),
        )
        .await;
    let reply = reply.expect(202);
    world.settle().await;
    assert_eq!(world.status(&reply).await["status"], "Succeeded");
    assert!(world.references().await.is_empty());
    world
        .post(
            LOG_GROUP,
            "delete",
            &json!({"properties": {"LogGroupName": "logs"}}),
        )
        .await
        .expect(204);
}

#[apply(on_every_store)]
async fn a_delete_by_identifier_on_a_busy_resource_is_refused(world: &World) {
    world
        .put_and_settle(LOG_GROUP, "logs", json!({"LogGroupName": "logs"}))
        .await;
    let changed = world
        .put(
            LOG_GROUP,
            "logs",
            json!({"LogGroupName": "logs", "RetentionInDays": 7}),
        )
        .await;
    let refused = world
        .post(
            LOG_GROUP,
            "delete",
            &json!({"properties": {"LogGroupName": "logs"}}),
        )
        .await
        .expect(409);
    assert_eq!(
        refused.body["error"]["details"][0]["target"],
        changed.expect(201).status_url()
    );
    world.settle().await;
    assert_eq!(world.live("AWS::Logs::LogGroup"), ["logs"]);
}

#[apply(on_every_store)]
async fn a_delete_without_a_name_says_what_is_missing(world: &World) {
    let refused = world
        .post(LOG_GROUP, "delete", &json!({}))
        .await
        .expect(400);
    assert!(
        refused.text.contains("/properties/LogGroupName"),
        "{}",
        refused.text
    );
    let unknown = json!({"trackedBy": tracked_by(LOG_GROUP, "x").replace("/rg/", "/nope/")});
    assert_eq!(
        world
            .post(LOG_GROUP, "delete", &unknown)
            .await
            .expect(404)
            .code(),
        "ResourceGroupNotFound"
    );
}
