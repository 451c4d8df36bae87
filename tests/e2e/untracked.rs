//! Puts without `trackedBy` (contract section 4.2, D7, D39).

use serde_json::json;
use ucp_testkit::{GROUP, World, apply, on_every_store, tracked_by};

#[apply(on_every_store)]
async fn a_server_named_type_is_created_each_time(world: &World) {
    for _ in 0..2 {
        let body = json!({"properties": {"CidrBlock": "10.0.0.0/16"}});
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

/// D39: an alias that nobody would remember is refused, if AWS assigns the identifier.
#[apply(on_every_store)]
async fn an_alias_without_tracked_by_is_refused_for_what_aws_names(world: &World) {
    let vpc = json!({"alias": "main", "properties": {"CidrBlock": "10.0.0.0/16"}});
    let unnamed = json!({"alias": "logs", "properties": {"RetentionInDays": 7}});
    for (resource_type, body) in [("AWS.EC2/VPC", vpc), ("AWS.Logs/LogGroup", unnamed)] {
        let refused = world.post(resource_type, "put", &body).await.expect(400);
        assert_eq!(refused.code(), "BadRequest");
        assert!(refused.text.contains("/trackedBy"), "{}", refused.text);
    }
    assert_eq!(world.calls("CreateResource"), 0);
    let named = json!({"alias": "a label", "properties": {"LogGroupName": "logs"}});
    world
        .post("AWS.Logs/LogGroup", "put", &named)
        .await
        .expect(201);
    world.settle().await;
    assert!(world.references().await.is_empty());
}

/// `--untracked-alias=ignore` restores D7.
#[tokio::test]
async fn an_alias_without_tracked_by_can_be_ignored() {
    let world = World::builder().ignoring_untracked_aliases().build().await;
    let vpc = json!({"alias": "main", "properties": {"CidrBlock": "10.0.0.0/16"}});
    for _ in 0..2 {
        world.post("AWS.EC2/VPC", "put", &vpc).await.expect(201);
        world.settle().await;
    }
    assert_eq!(world.live("AWS::EC2::VPC").len(), 2);
}

/// D39: with an alias, `trackedBy` may be the id of the group, in every action.
#[apply(on_every_store)]
async fn tracked_by_may_be_a_group(world: &World) {
    for group in [GROUP.to_owned(), format!("{}/", GROUP.to_uppercase())] {
        let body = json!({"alias": "main", "trackedBy": group, "properties": {"CidrBlock": "10.0.0.0/16"}});
        let put = world.post("AWS.EC2/VPC", "put", &body).await;
        assert!(matches!(put.status, 200 | 201), "{}", put.text);
        world.settle().await;
    }
    let [vpc] = &world.live("AWS::EC2::VPC")[..] else {
        panic!("expected one VPC")
    };
    let [reference] = &world.references().await[..] else {
        panic!("expected one reference")
    };
    let id = tracked_by("AWS.EC2/VPC", "main").replace("resourceGroups", "resourcegroups");
    assert_eq!(reference["id"], id);
    let named = json!({"alias": "main", "trackedBy": GROUP});
    let read = world.post("AWS.EC2/VPC", "get", &named).await.expect(200);
    assert_eq!(read.body["name"], vpc.as_str());
    let import = json!({"alias": "second", "trackedBy": GROUP, "primaryIdentifier": vpc});
    let imported = world.post("AWS.EC2/VPC", "import", &import).await;
    let id = id.replace("main", "second");
    assert_eq!(imported.expect(201).body["id"], id);
    let without = json!({"trackedBy": GROUP, "properties": {"CidrBlock": "10.0.0.0/16"}});
    let refused = world.post("AWS.EC2/VPC", "put", &without).await.expect(400);
    assert!(refused.text.contains("alias"), "{}", refused.text);
    world
        .post("AWS.EC2/VPC", "delete", &named)
        .await
        .expect(202);
    world.settle().await;
    assert!(world.live("AWS::EC2::VPC").is_empty());
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
