//! What a set needs: the group, and each of its resources.

use serde_json::{Value, json};
use ucp_access::Role;
use ucp_testkit::{StoreKind, World, apply, on_every_store};

use super::grant;

const OURS: &str = "/planes/radius/local/resourcegroups/ours";
const THEIRS: &str = "/planes/radius/local/resourcegroups/theirs";
const REGION: &str = "/planes/aws/aws/accounts/111111111111/regions/us-west-2";
const VPCS: &str = "/planes/aws/aws/accounts/111111111111/regions/us-west-2/providers/AWS.EC2/VPC";

fn set(resources: Value) -> String {
    json!({"scope": REGION, "resources": resources}).to_string()
}

#[apply(on_every_store)]
async fn a_set_needs_its_group_and_each_resource(kind: StoreKind) {
    let Some(builder) = World::builder().on(kind).await else {
        return;
    };
    let world = builder
        .granting(vec![
            grant("alice", Role::Contributor, &[OURS, VPCS]),
            grant("bob", Role::Contributor, &[THEIRS, REGION]),
            grant("carol", Role::Reader, &[OURS, REGION]),
            grant("dave", Role::Contributor, &[THEIRS]),
            grant("erin", Role::Contributor, &[OURS]),
            grant("root", Role::Owner, &["/"]),
        ])
        .build()
        .await;
    for group in ["ours", "theirs"] {
        world.put_group(group).await;
    }
    let send = async |who: &str, action: &str, group: &str, body: &str| {
        let path = format!("{group}/:{action}");
        world.call_as(who, "POST", &path, body).await
    };
    let vpc =
        json!({"alias": "net", "type": "AWS.EC2/VPC", "properties": {"CidrBlock": "10.0.0.0/16"}});
    let subnet = json!({"alias": "sub", "type": "AWS.EC2/Subnet", "properties": {"VpcId": {"$reference": "net"}}});
    let (small, large) = (set(json!([vpc])), set(json!([vpc, subnet])));
    for action in ["apply", "validate"] {
        let refused = send("alice", action, OURS, &large).await.expect(403);
        assert_eq!(refused.code(), "AuthorizationFailed");
        assert!(refused.text.contains("AWS.EC2/Subnet"), "{}", refused.text);
    }
    send("bob", "apply", OURS, &small).await.expect(403);
    send("bob", "validate", OURS, &small).await.expect(404);
    // Whoever may look may ask whether it is valid.
    send("carol", "validate", OURS, &large).await.expect(200);
    send("carol", "apply", OURS, &large).await.expect(403);

    let accepted = send("alice", "apply", OURS, &small).await.expect(202);
    let path = accepted.status_url().replace("http://localhost:8787", "");
    let cancel = format!("{path}/:cancel");
    world
        .call_as("carol", "POST", &cancel, "")
        .await
        .expect(403);
    world.settle().await;

    // What may not be read looks as if it were not there.
    let of_ours = format!("{OURS}/providers/AWS.EC2/VPC:reference/net");
    let refers = json!({"alias": "sub", "type": "AWS.EC2/Subnet", "properties":
        {"CidrBlock": "10.0.1.0/24", "VpcId": {"$reference": of_ours}}});
    let refused = send("bob", "apply", THEIRS, &set(json!([refers]))).await;
    let refused = refused.expect(400);
    assert_eq!(refused.body["error"]["details"][0]["code"], "UnknownName");
    assert!(refused.text.contains("may not be read"), "{}", refused.text);

    // A member is judged where it is, whatever it says.
    let elsewhere = REGION.replace("us-west-2", "eu-central-1");
    let far = json!({"alias": "far", "type": "AWS.EC2/VPC", "scope": elsewhere,
        "properties": {"CidrBlock": "10.9.0.0/16"}});
    send("root", "apply", OURS, &set(json!([far])))
        .await
        .expect(202);
    world.settle().await;
    let gone = json!({"alias": "far", "type": "AWS.EC2/VPC", "delete": true});
    for gone in [
        gone.clone(),
        json!({"alias": "far", "type": "AWS.EC2/VPC", "properties": {}}),
    ] {
        let refused = send("alice", "apply", OURS, &set(json!([gone]))).await;
        let refused = refused.expect(400);
        let detail = &refused.body["error"]["details"][0];
        assert_eq!(detail["target"], "/resources/0/scope", "{}", refused.text);
    }
    let mut there = gone;
    there["scope"] = json!(elsewhere);
    send("alice", "apply", OURS, &set(json!([there])))
        .await
        .expect(403);
    assert_eq!(world.live("AWS::EC2::VPC").len(), 2);

    // Nobody reads AWS by naming what they may not read there.
    let output = json!({"resources": [], "outputs": {"net": {"$reference": "net#/VpcId"}}});
    let refused = send("erin", "apply", OURS, &output.to_string()).await;
    let refused = refused.expect(400);
    assert_eq!(refused.body["error"]["details"][0]["code"], "UnknownName");
    send("erin", "validate", OURS, r#"{"mode": "Complete"}"#)
        .await
        .expect(400);

    // What a set does not list is deleted only by those who may delete it.
    let path = format!("{REGION}/providers/AWS.Logs/LogGroup/:put");
    let body =
        json!({"alias": "logs", "trackedBy": THEIRS, "properties": {"LogGroupName": "logs"}});
    let put = world.call_as("bob", "POST", &path, &body.to_string()).await;
    put.expect(201);
    world.settle().await;
    let complete = json!({"mode": "Complete", "resources": []}).to_string();
    let refused = send("dave", "apply", THEIRS, &complete).await.expect(403);
    assert!(
        refused.text.contains("AWS.Logs/LogGroup"),
        "{}",
        refused.text
    );
    send("bob", "apply", THEIRS, &complete).await.expect(202);
    world.settle().await;
    assert!(world.live("AWS::Logs::LogGroup").is_empty());
}

/// A plan has values of what it refers to, so who may not read that sees no plan. They could not have asked for it either.
#[tokio::test]
async fn a_plan_lends_nobody_what_its_maker_may_read() {
    let subnets = VPCS.replace("VPC", "Subnet");
    let world = World::builder()
        .granting(vec![
            grant("bob", Role::Owner, &[THEIRS, REGION]),
            grant("carol", Role::Contributor, &[OURS, THEIRS, &subnets]),
            grant("dave", Role::Contributor, &[OURS, THEIRS, REGION]),
            grant("root", Role::Owner, &["/"]),
        ])
        .build()
        .await;
    for group in ["ours", "theirs"] {
        world.put_group(group).await;
    }
    let send =
        async |who: &str, path: &str, body: &str| world.call_as(who, "POST", path, body).await;
    let net =
        json!({"alias": "net", "type": "AWS.EC2/VPC", "properties": {"CidrBlock": "10.77.0.0/16"}});
    let path = format!("{OURS}/:apply");
    send("root", &path, &set(json!([net]))).await.expect(202);
    world.settle().await;
    let of_ours = format!("{OURS}/providers/AWS.EC2/VPC:reference/net#/CidrBlock");
    let refers = json!([{"alias": "sub", "type": "AWS.EC2/Subnet", "properties":
        {"CidrBlock": {"$reference": of_ours}, "VpcId": "vpc-0a1b2c3d"}}]);
    let what_if = format!("{THEIRS}/:whatIf");
    send("bob", &what_if, &set(refers.clone()))
        .await
        .expect(400);
    let asked = send("root", &what_if, &set(refers)).await.expect(200);
    assert!(asked.text.contains("10.77.0.0/16"), "{}", asked.text);
    let planned = &asked.body["properties"];
    let plan = planned["planId"].as_str().expect("a plan");
    let path = format!("/planes/radius/local/providers/System.Resources/plans/{plan}");
    let review = json!({"fingerprint": planned["fingerprint"]}).to_string();
    let apply = json!({ "planId": plan }).to_string();
    for who in ["bob", "carol"] {
        world.call_as(who, "GET", &path, "").await.expect(404);
        send(who, &format!("{THEIRS}/:apply"), &apply)
            .await
            .expect(404);
    }
    let approve = format!("{path}/:approve");
    send("bob", &approve, &review).await.expect(404);
    world.call_as("dave", "GET", &path, "").await.expect(200);
    let applied = send("dave", &format!("{THEIRS}/:apply"), &apply).await;
    applied.expect(202);
}

/// What a caller may not read can neither be a member of a set that they only look at, nor be referred to, listed or not.
#[tokio::test]
async fn what_is_hidden_is_no_part_of_a_set() {
    let world = World::builder()
        .granting(vec![
            grant("alice", Role::Contributor, &[OURS, VPCS]),
            grant("root", Role::Owner, &["/"]),
        ])
        .build()
        .await;
    for group in ["ours", "theirs"] {
        world.put_group(group).await;
    }
    let send = async |who: &str, action: &str, group: &str, body: &str| {
        let path = format!("{group}/:{action}");
        world.call_as(who, "POST", &path, body).await
    };
    let logs = json!({"alias": "logs", "type": "AWS.Logs/LogGroup", "properties": {"LogGroupName": "logs"}});
    let there = set(json!([logs]));
    for group in [OURS, THEIRS] {
        let properties = group.rsplit('/').next().expect("a name");
        let there = there.replace(
            "LogGroupName\":\"logs",
            &format!("LogGroupName\":\"{properties}"),
        );
        send("root", "apply", group, &there).await.expect(202);
        world.settle().await;
    }
    let calls = world.calls("GetResource");
    let net = |block: Value| json!({"alias": "net", "type": "AWS.EC2/VPC", "properties": {"CidrBlock": block}});
    let of_theirs = format!("{THEIRS}/providers/AWS.Logs/LogGroup:reference/logs#/Arn");
    for action in ["validate", "whatIf", "apply"] {
        let gone = json!({"alias": "logs", "type": "AWS.Logs/LogGroup", "delete": true});
        for member in [logs.clone(), gone] {
            let refused = send("alice", action, OURS, &set(json!([member]))).await;
            assert!(
                refused.text.contains("AWS.Logs/LogGroup"),
                "{}",
                refused.text
            );
            assert_eq!(refused.expect(403).code(), "AuthorizationFailed");
        }
        let complete = json!({"mode": "Complete", "resources": []}).to_string();
        send("alice", action, OURS, &complete).await.expect(403);
        for name in ["logs#/Arn", of_theirs.as_str()] {
            let refers = set(json!([net(json!({"$reference": name}))]));
            let refused = send("alice", action, OURS, &refers).await.expect(400);
            let detail = &refused.body["error"]["details"][0];
            assert_eq!(detail["code"], "UnknownName", "{action}: {}", refused.text);
            assert!(!refused.text.contains("arn:"), "{}", refused.text);
        }
    }
    assert_eq!(world.calls("GetResource"), calls, "nothing of it is read");
}
