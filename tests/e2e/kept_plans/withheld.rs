//! Values that the author of a plan leaves open: nobody can approve them.

use serde_json::{Value, json};
use ucp_testkit::{Reply, World, apply, on_every_store, tracked_by};

use super::policies::set_policy;
use super::{LOGS, SECRET, VPC, call, codes, id_of, path, plan, review, status};
use crate::sets::{send, set};

const SUBNET: &str = "AWS.EC2/Subnet";

fn open() -> Value {
    json!({"$unknown": true})
}

fn open_logs() -> Value {
    json!({"LogGroupName": "logs", "RetentionInDays": open()})
}

async fn what_if(world: &World, resource_type: &str, properties: &Value) -> Value {
    let body = json!({"trackedBy": tracked_by(resource_type, "it"), "properties": properties});
    let reply = world.post(resource_type, "whatIf", &body).await.expect(200);
    reply.body
}

/// Asserts that a what-if failed since nobody could approve its plan, at these places.
fn cannot_be_approved(reply: &Value, places: &[&str]) {
    assert_eq!(reply["status"], "Failed", "{reply}");
    assert_eq!(reply["properties"].get("planId"), None, "{reply}");
    let expected: Vec<_> = places.iter().map(|place| ("Withheld", *place)).collect();
    assert_eq!(codes(&reply["error"]), expected, "{reply}");
}

/// Asserts that an approval is refused for this reason.
fn is_withheld(reply: Reply, places: &[&str]) {
    let reply = reply.expect(409);
    assert_eq!(reply.code(), "Conflict", "{}", reply.text);
    let expected: Vec<_> = places.iter().map(|place| ("Withheld", *place)).collect();
    assert_eq!(codes(&reply.body["error"]), expected, "{}", reply.text);
}

async fn approve(world: &World, id: &str) -> Reply {
    let shown = world.get(&path(id)).await.expect(200);
    let fingerprint = &shown.body["properties"]["fingerprint"];
    review(world, id, "approve", fingerprint).await
}

#[apply(on_every_store)]
async fn what_the_author_leaves_open_cannot_be_approved(world: &World) {
    // It was planned before the group took approved plans only.
    let before = plan(world, open_logs()).await;
    set_policy(world, json!("approved")).await.expect(200);
    let shown = world.get(&path(&before)).await.expect(200);
    let change = &shown.body["properties"]["changes"][0];
    assert_eq!(change["withheld"], json!(["/RetentionInDays"]), "{change}");
    is_withheld(
        approve(world, &before).await,
        &["/properties/RetentionInDays"],
    );
    assert_eq!(status(world, &before).await, "Pending");

    let reply = what_if(world, LOGS, &open_logs()).await;
    cannot_be_approved(&reply, &["/properties/RetentionInDays"]);
    // No read returns it.
    let secret = json!({"Name": "s", "SecretString": open()});
    let reply = what_if(world, SECRET, &secret).await;
    cannot_be_approved(&reply, &["/properties/SecretString"]);
    assert_eq!(
        reply["properties"]["changes"][0]["withheld"],
        json!(["/SecretString"])
    );
    // What AWS assigns is no secret of the author's.
    let vpc = json!({"CidrBlock": "10.0.0.0/16"});
    let reply = what_if(world, VPC, &vpc).await;
    assert_eq!(reply["status"], "Succeeded", "{reply}");
    let change = &reply["properties"]["changes"][0];
    assert_eq!(change.get("withheld"), None, "{change}");
    let unknown = change["unknown"].as_array().expect("places");
    assert!(unknown.contains(&json!("/VpcId")), "{change}");
}

/// The author decides there, and may choose later.
#[apply(on_every_store)]
async fn where_nobody_approves_the_author_may_leave_values_open(world: &World) {
    set_policy(world, json!("required")).await.expect(200);
    let id = plan(world, open_logs()).await;
    is_withheld(approve(world, &id).await, &["/properties/RetentionInDays"]);
    let body = json!({"planId": id, "trackedBy": tracked_by(LOGS, "logs"),
        "properties": {"LogGroupName": "logs", "RetentionInDays": 7}});
    world.post(LOGS, "put", &body).await.expect(201);
    world.settle().await;
    assert_eq!(status(world, &id).await, "Applied");
}

/// What refers to such a value is as open as that.
#[apply(on_every_store)]
async fn what_refers_to_an_open_value_is_open(world: &World) {
    let network = |block: Value| {
        set(json!([
            {"alias": "net", "type": VPC, "properties": {"CidrBlock": block,
                "Tags": [{"Key": "a", "Value": "b"}]}},
            {"alias": "sub", "type": SUBNET, "properties": {
                "VpcId": {"$reference": "net#/VpcId"},
                "CidrBlock": {"$reference": "net#/CidrBlock"},
                "Tags": [{"Key": "of", "Value": {"$concat": ["of ", {"$reference": "net#/CidrBlock"}]}}],
            }},
        ]))
    };
    let reply = send(world, "whatIf", &network(open())).await.expect(200);
    let changes = &reply.body["properties"]["changes"];
    assert_eq!(changes[0]["withheld"], json!(["/CidrBlock"]), "{changes}");
    let withheld = changes[1]["withheld"].as_array().expect("places");
    let mut withheld: Vec<&str> = withheld.iter().filter_map(Value::as_str).collect();
    withheld.sort_unstable();
    assert_eq!(withheld, ["/CidrBlock", "/Tags/0/Value"], "{changes}");
    let unknown = changes[1]["unknown"].as_array().expect("places");
    assert!(unknown.contains(&json!("/VpcId")), "{changes}");
    let id = id_of(&reply.body["properties"]);
    is_withheld(
        approve(world, &id).await,
        &[
            "/properties/CidrBlock",
            "/properties/CidrBlock",
            "/properties/Tags/0/Value",
        ],
    );
    set_policy(world, json!("approved")).await.expect(200);
    let reply = send(world, "whatIf", &network(open())).await.expect(200);
    cannot_be_approved(
        &reply.body,
        &[
            "/resources/0/properties/CidrBlock",
            "/resources/1/properties/CidrBlock",
            "/resources/1/properties/Tags/0/Value",
        ],
    );
    // What AWS assigns is known when it is there, and nobody chooses it.
    let known = network(json!("10.0.0.0/16"));
    let reply = send(world, "whatIf", &known).await.expect(200);
    let id = id_of(&reply.body["properties"]);
    approve(world, &id).await.expect(200);
}

/// Nobody has approved what stands by now where the plan makes something.
#[apply(on_every_store)]
async fn what_a_plan_makes_is_not_another_resource(world: &World) {
    let declared = json!({"CidrBlock": "10.9.0.0/16"});
    world.put_and_settle(VPC, "foreign", declared).await;
    let foreign = world.live("AWS::EC2::VPC").remove(0);
    let network = set(json!([
        {"alias": "net", "type": VPC, "properties": {"CidrBlock": "10.0.0.0/16"}},
        {"alias": "sub", "type": SUBNET, "properties": {
            "VpcId": {"$reference": "net#/VpcId"}, "CidrBlock": "10.0.0.0/24"}},
    ]));
    set_policy(world, json!("approved")).await.expect(200);
    let planned = async || {
        let reply = send(world, "whatIf", &network).await.expect(200);
        id_of(&reply.body["properties"])
    };
    let put = async |id: &str, resource_type: &str, alias: &str, properties: Value| {
        let mut body = json!({"planId": id, "trackedBy": tracked_by(resource_type, alias)});
        if !properties.is_null() {
            body["properties"] = properties;
        }
        world.post(resource_type, "put", &body).await
    };
    let id = planned().await;
    // An import changes nothing in AWS, so it needs no plan.
    let import = json!({"trackedBy": tracked_by(VPC, "net"), "primaryIdentifier": foreign});
    world.post(VPC, "import", &import).await.expect(201);
    let declared = json!({"VpcId": foreign, "CidrBlock": "10.0.0.0/24"});
    // The approval may come while the request is under way.
    for is_approved in [false, true] {
        if is_approved {
            approve(world, &id).await.expect(200);
        }
        for properties in [&Value::Null, &declared] {
            let refused = put(&id, SUBNET, "sub", properties.clone()).await;
            assert_eq!(refused.expect(409).code(), "PlanMismatch", "{is_approved}");
        }
    }
    assert!(world.live("AWS::EC2::Subnet").is_empty());
    call(world, "DELETE", &tracked_by(VPC, "net"), Value::Null)
        .await
        .expect(200);

    let id = planned().await;
    approve(world, &id).await.expect(200);
    let early = put(&id, SUBNET, "sub", Value::Null).await.expect(409);
    assert_eq!(early.code(), "PlanMismatch", "{}", early.text);
    put(&id, VPC, "net", Value::Null).await.expect(201);
    world.settle().await;
    let other = json!({"VpcId": foreign, "CidrBlock": "10.0.0.0/24"});
    let refused = put(&id, SUBNET, "sub", other).await.expect(409);
    assert_eq!(refused.code(), "PlanMismatch", "{}", refused.text);
    put(&id, SUBNET, "sub", Value::Null).await.expect(201);
    world.settle().await;
    assert_eq!(status(world, &id).await, "Applied");
}
