//! A set, as it is applied, is the body of a refactor.

use ucp_access::Role;

use super::*;
use crate::rights::grant;

const AWS: &str = "/planes/aws/aws";

const JOBS: &str = "AWS.SQS/Queue";

/// What stands in a group, said as a set says it. The network has this alias.
fn set(net: &str) -> Value {
    json!({
        "scope": scope(),
        "onShared": "release",
        "outputs": {"net": {"$reference": "vpc#/VpcId"}},
        "resources": [
            {"alias": net, "type": VPC, "symbolicName": "vpc", "properties": vpc()},
            {"alias": "sub", "type": SUBNET, "dependsOn": ["logs"], "replacementPolicy": "createBeforeDelete",
                "properties": {"VpcId": {"$reference": "VPC#/VpcId"}, "CidrBlock": "10.0.1.0/24"}},
            {"trackedBy": address(OLD, LOGS, "logs"), "properties": {"LogGroupName": {"$concat": ["of-", {"$reference": "other/AWS.SQS/Queue/jobs#/QueueName"}]}}},
            {"alias": "gone", "type": LOGS, "delete": true, "onShared": "refuse"},
        ],
    })
}

#[apply(on_every_store)]
async fn a_set_is_the_body_of_a_refactor(world: &World) {
    let other = group("other");
    let made = world
        .call(
            "PUT",
            &format!("{other}?{API}"),
            r#"{"location": "global"}"#,
        )
        .await;
    made.expect(200);
    put(world, "other", JOBS, "jobs", json!({"QueueName": "jobs"}))
        .await
        .expect(201);
    world.settle().await;
    let reply = post(world, &format!("{GROUP}/:apply"), &set("net")).await;
    reply.expect(202);
    world.settle().await;
    let again = post(world, &format!("{GROUP}/:apply"), &set("net")).await;
    again.expect(200);

    let path = format!("{GROUP}/:refactor");
    let plan = json!({"mode": "plan"});
    let record = post(world, &path, &with(set("net"), plan.clone())).await;
    let record = record.expect(200).body;
    assert_eq!(moves(&record), [], "{record}");
    let nothing = json!({"create": [], "update": [], "undeclared": []});
    assert_eq!(record["changes"], nothing, "{record}");
    let apply = json!({"mode": "apply"});
    let record = post(world, &path, &with(set("backbone"), apply)).await;
    let record = record.expect(200).body;
    let expected = moved(&[("rg/aws.ec2/vpc/net", "rg/aws.ec2/vpc/backbone", "Digest")]);
    assert_eq!(moves(&record), expected, "{record}");
    let again = post(world, &format!("{GROUP}/:apply"), &set("backbone")).await;
    again.expect(200);

    // What is said of the set itself is nothing that a refactor does.
    for (member, value, told) in [
        ("mode", json!("Complete"), "a refactor deletes nothing"),
        ("mode", json!("incremental"), "`plan`"),
        (
            "planId",
            json!("00000000-0000-4000-8000-000000000000"),
            "carries out no plan",
        ),
    ] {
        let mut body = with(set("backbone"), plan.clone());
        body[member] = value;
        let refused = post(world, &path, &body).await.expect(400);
        assert!(refused.text.contains(told), "{}", refused.text);
        assert!(
            refused.text.contains(&format!("\"/{member}\"")),
            "{}",
            refused.text
        );
    }
    // What is to be deleted is not declared elsewhere, even if nothing else is like it.
    let mut body = with(set("net"), plan);
    let gone = json!({"alias": "backbone", "type": VPC, "delete": true});
    body["resources"].as_array_mut().expect("a list").push(gone);
    let record = post(world, &path, &body).await.expect(200).body;
    assert_eq!(moves(&record), [], "{record}");
    assert_eq!(
        record["changes"]["undeclared"],
        json!([address(OLD, VPC, "backbone")
            .to_lowercase()
            .replace("aws.ec2/vpc", "AWS.EC2/VPC")]),
        "{record}"
    );
}

/// Whoever may not read it cannot tell whether it is there.
#[apply(on_every_store)]
async fn what_a_name_of_another_group_means_must_be_readable(kind: StoreKind) {
    let Some(builder) = World::builder().on(kind).await else {
        return;
    };
    let (old, other) = (group(OLD), group("other"));
    let only_logs = format!("{}/providers/{LOGS}", scope());
    let world = builder
        .granting(vec![
            grant("ann", Role::Reader, &[&old, &other, AWS]),
            grant("bob", Role::Reader, &[&old, AWS]),
            grant("pat", Role::Reader, &[&old, &other, &only_logs]),
        ])
        .build()
        .await;
    world.put_group_as("root", "other").await.expect(200);
    let name = "other/AWS.SQS/Queue/jobs#/QueueName";
    let logs = resource("logs", LOGS, json!({"LogGroupName": {"$reference": name}}));
    let body = json!({"mode": "plan", "scope": scope(), "resources": [logs]});
    let plan = async |who: &str| {
        let path = format!("{GROUP}/:refactor");
        world.call_as(who, "POST", &path, &body.to_string()).await
    };
    let absent = plan("ann").await.expect(400);
    let unknown = json!(["UnknownName", "/resources/0/properties/LogGroupName"]);
    assert_eq!(absent.details(), [unknown]);
    let put =
        json!({"trackedBy": address("other", JOBS, "jobs"), "properties": {"QueueName": "jobs"}});
    let path = format!("{}/providers/{JOBS}/:put", scope());
    let put = world.call_as("root", "POST", &path, &put.to_string()).await;
    put.expect(201);
    world.settle().await;
    plan("ann").await.expect(200);
    for who in ["bob", "pat"] {
        let hidden = plan(who).await.expect(400);
        assert_eq!(
            hidden.body["error"]["details"], absent.body["error"]["details"],
            "{who}"
        );
    }
    world.finish().await;
}
