//! Refactors that are taken back.

use ucp_simulator::faults::{fail, fault};
use ucp_simulator::{Action, HandlerErrorCode};

use super::*;

/// What is known of everything, but for what each write changes.
async fn everything(world: &World) -> Vec<Value> {
    let mut all = Vec::new();
    for name in [OLD, "web"] {
        let reply = world.get(&format!("{}?{API}", group(name))).await;
        if reply.status != 200 {
            continue;
        }
        let references = reply.body["resources"].as_array().cloned();
        for reference in references.unwrap_or_default() {
            let id = reference["id"].as_str().expect("an id");
            let path = format!("{id}?{API}");
            all.push(without_writes(world.get(&path).await.expect(200).body));
        }
        all.push(without_writes(reply.body));
    }
    all
}

fn without_writes(value: Value) -> Value {
    match value {
        Value::Object(members) => members
            .into_iter()
            .filter(|(name, _)| name != "etag" && name != "systemData")
            .map(|(name, member)| (name, without_writes(member)))
            .collect(),
        Value::Array(elements) => elements.into_iter().map(without_writes).collect(),
        other => other,
    }
}

fn path(record: &Value, action: &str) -> String {
    format!("{}/:{action}", record["id"].as_str().expect("an id"))
}

/// A group that was made goes, one that went comes back, and a group and its tags with it.
#[apply(on_every_store)]
async fn an_undo_is_the_inverse(world: &World) {
    deployed(world).await;
    let tagged = json!({"location": "global", "tags": {"a": "b"}, "properties": {"defaultTags": {"team": "net"}}});
    let old = format!("{GROUP}?{API}");
    world
        .call("PUT", &old, &tagged.to_string())
        .await
        .expect(200);
    let before = everything(world).await;
    let subnet =
        json!({"VpcId": {"$reference": "AWS.EC2/VPC/network"}, "CidrBlock": "10.0.1.0/24"});
    let web = vec![
        resource("network", VPC, vpc()),
        resource("subnet", SUBNET, subnet),
        resource("logs", LOGS, logs("main")),
    ];
    let all = with(
        body("apply", &[(OLD, vec![]), ("web", web)]),
        json!({"emptiedGroups": "remove"}),
    );
    let applied = refactor(world, &all).await;
    assert_eq!(
        applied["groups"]["remove"]
            .as_array()
            .expect("groups")
            .len(),
        1,
        "{applied}"
    );
    world.get(&old).await.expect(404);
    let after = everything(world).await;

    let undone = post(world, &path(&applied, "undo"), &json!({}))
        .await
        .expect(200)
        .body;
    assert_eq!(undone["undoes"], applied["id"]);
    assert_eq!(undone["status"], "Applied");
    assert_eq!(moves(&undone).len(), 3);
    assert!(moves(&undone).iter().all(|(_, _, reason)| reason == "Undo"));
    assert_eq!(everything(world).await, before);
    let record = world
        .get(applied["id"].as_str().expect("an id"))
        .await
        .expect(200);
    assert_eq!(record.body["status"], "Undone");
    let again = post(world, &path(&applied, "undo"), &json!({}))
        .await
        .expect(409);
    assert_eq!(again.code(), "Conflict");

    // There and back again.
    let redone = post(world, &path(&undone, "undo"), &json!({}))
        .await
        .expect(200)
        .body;
    assert_eq!(moves(&redone).len(), 3);
    assert_eq!(everything(world).await, after);
    let id = world.live("AWS::EC2::VPC").remove(0);
    assert_eq!(
        reference(world, "web", VPC, "network")
            .await
            .expect(200)
            .body["mapsTo"]["primaryIdentifier"],
        id.as_str()
    );
    assert_eq!(world.creates(), 3);
}

#[apply(on_every_store)]
async fn what_was_written_since_is_not_taken_back(world: &World) {
    deployed(world).await;
    let applied = refactor(world, &split("apply")).await;
    let tags = json!({"tags": {"a": "b"}}).to_string();
    let network = format!("{}?{API}", address("web", VPC, "network"));
    world.call("PATCH", &network, &tags).await.expect(200);
    let refused = post(world, &path(&applied, "undo"), &json!({}))
        .await
        .expect(412);
    assert_eq!(refused.code(), "PreconditionFailed");
    reference(world, "web", VPC, "network").await.expect(200);
    reference(world, "web", SUBNET, "subnet").await.expect(200);
}

#[apply(on_every_store)]
async fn what_was_only_planned_is_not_undone(world: &World) {
    deployed(world).await;
    let plan = refactor(world, &split("plan")).await;
    let refused = post(world, &path(&plan, "undo"), &json!({}))
        .await
        .expect(409);
    assert_eq!(refused.code(), "Conflict");
}

/// Also after a deployment that has taken its moves back.
#[apply(on_every_store)]
async fn refactors_are_taken_back_one_after_the_other(world: &World) {
    world.put_and_settle(VPC, "a", vpc()).await;
    let renamed = |alias: &str| body("apply", &[(OLD, vec![resource(alias, VPC, vpc())])]);
    let first = refactor(world, &renamed("b")).await;
    let second = refactor(world, &renamed("c")).await;
    let undo = async |record: &Value| post(world, &path(record, "undo"), &json!({})).await;
    undo(&second).await.expect(200);
    let mut deployment = with(renamed("d"), json!({"deploy": true}));
    let wrong = json!({"VpcId": "vpc-0123456789abcdef0", "CidrBlock": "10.0.1.0/24"});
    let resources = deployment["groups"][0]["resources"].as_array_mut();
    resources
        .expect("resources")
        .push(resource("sub", SUBNET, wrong));
    let fails = fail(HandlerErrorCode::InvalidRequest).saying("No.");
    world.aws.add_fault(fault(fails).on(Action::CreateResource));
    let sent = deployment.to_string();
    let reply = world.send_without_waiting("POST", PLANE, &sent).await;
    let reply = reply.expect(202);
    world.settle().await;
    let status = world.status(&reply).await;
    assert_eq!(status["error"]["code"], "RefactorFailed", "{status}");
    undo(&first).await.expect(200);
    reference(world, OLD, VPC, "a").await.expect(200);
}
