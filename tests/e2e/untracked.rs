//! Puts without `trackedBy` (contract section 4.2): existing templates keep working.

use serde_json::json;
use ucp_testkit::{World, apply, on_every_store};

#[apply(on_every_store)]
async fn a_server_named_type_is_created_each_time(world: &World) {
    for _ in 0..2 {
        let body = json!({"alias": "ignored without trackedBy", "properties": {"CidrBlock": "10.0.0.0/16"}});
        let reply = world.post("AWS.EC2/VPC", "put", &body).await.expect(201);
        world.settle().await;
        let result = world
            .get(result_path(reply.header("location").unwrap()))
            .await
            .expect(200);
        assert!(
            result.body["name"].as_str().unwrap().starts_with("vpc-"),
            "{}",
            result.text
        );
    }
    assert_eq!(world.live("AWS::EC2::VPC").len(), 2);
    assert!(world.references().await.is_empty());
}

#[apply(on_every_store)]
async fn a_named_type_is_created_then_updated_then_left_alone(world: &World) {
    let put = async |retention: u32| {
        let body = json!({"properties": {"LogGroupName": "a/b", "RetentionInDays": retention}});
        let reply = world.post("AWS.Logs/LogGroup", "put", &body).await;
        world.settle().await;
        reply
    };
    let created = put(7).await.expect(201);
    assert!(
        created.body["id"]
            .as_str()
            .unwrap()
            .ends_with("/AWS.Logs/LogGroup/a%2Fb"),
        "{}",
        created.text
    );
    assert_eq!(created.body["name"], "a/b");
    put(14).await.expect(201);
    put(14).await.expect(200);
    assert_eq!(
        (world.calls("CreateResource"), world.calls("UpdateResource")),
        (1, 1)
    );
}

#[apply(on_every_store)]
async fn section_4_4_identifiers_may_hold_numbers_and_nulls_are_not_declared(world: &World) {
    const ENTRY: &str = "AWS.EC2/TransitGatewayMeteringPolicyEntry";
    let parts = json!({"TransitGatewayMeteringPolicyId": "p", "PolicyRuleNumber": 7});
    let mut declared = parts.clone();
    declared["MeteredAccount"] = json!("source-attachment-owner");
    declared["SourcePortRange"] = json!(null);
    let created = world
        .post(ENTRY, "put", &json!({"properties": declared}))
        .await
        .expect(201);
    assert_eq!(created.body["name"], "p|7");
    assert!(
        created.body["properties"].get("SourcePortRange").is_none(),
        "{}",
        created.text
    );
    world.settle().await;
    let read = world
        .post(ENTRY, "get", &json!({"properties": parts}))
        .await
        .expect(200);
    assert_eq!(read.body["name"], "p|7");
    let half =
        json!({"properties": {"PolicyRuleNumber": 7, "TransitGatewayMeteringPolicyId": null}});
    for action in ["get", "delete"] {
        let refused = world.post(ENTRY, action, &half).await.expect(400);
        assert_eq!(refused.code(), "BadRequest");
        assert!(
            refused
                .text
                .contains("/properties/TransitGatewayMeteringPolicyId"),
            "{}",
            refused.text
        );
    }
    world
        .post(ENTRY, "delete", &json!({"properties": parts}))
        .await
        .expect(202);
    world.settle().await;
    assert!(
        world
            .live("AWS::EC2::TransitGatewayMeteringPolicyEntry")
            .is_empty()
    );
    world
        .post(ENTRY, "delete", &json!({"properties": parts}))
        .await
        .expect(204);
}

fn result_path(url: &str) -> &str {
    url.strip_prefix("http://localhost:8787")
        .expect("an absolute URL")
}
