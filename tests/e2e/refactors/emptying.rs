//! Groups that are removed when they are emptied, and those that stay.

use ucp_simulator::faults::{fail, fault};
use ucp_simulator::{Action, HandlerErrorCode};

use super::*;

fn names(groups: &Value) -> Vec<&str> {
    let groups = groups.as_array().expect("groups").iter();
    groups
        .map(|id| {
            let id = id.as_str().expect("an id");
            id.rsplit('/').next().expect("a name")
        })
        .collect()
}

/// Not one that was empty before, nor one with which something would be lost.
#[apply(on_every_store)]
async fn only_what_is_emptied_is_removed(world: &World) {
    let old = ["gone", "empty", "kept", "left", "busy"];
    for name in old {
        world.put_group(name).await;
    }
    for (group, alias) in [
        ("gone", "a"),
        ("kept", "b"),
        ("kept", "stays"),
        ("busy", "c"),
    ] {
        put(world, group, LOGS, alias, logs(alias))
            .await
            .expect(201);
    }
    put(world, "left", VPC, "net", vpc()).await.expect(201);
    world.settle().await;
    // The old one of a replacement stays in AWS.
    let fails = fail(HandlerErrorCode::InvalidRequest).saying("No.");
    let fails = fault(fails).on(Action::DeleteResource);
    world.aws.add_fault(fails.times(5));
    let replacement = json!({"trackedBy": address("left", VPC, "net"),
        "replacementPolicy": "createBeforeDelete", "properties": {"CidrBlock": "10.1.0.0/16"}});
    world.post(VPC, "put", &replacement).await.expect(201);
    world.settle().await;
    // Something is under way in the group, at another alias.
    put(world, "busy", LOGS, "new", logs("new"))
        .await
        .expect(201);

    let web = vec![
        resource("a", LOGS, logs("a")),
        resource("b", LOGS, logs("b")),
        resource("c", LOGS, logs("c")),
        resource("net", VPC, json!({"CidrBlock": "10.1.0.0/16"})),
    ];
    let mut groups: Vec<(&str, Vec<Value>)> = old.map(|name| (name, vec![])).into();
    groups.push(("web", web));
    let declared = with(body("apply", &groups), json!({"emptiedGroups": "remove"}));
    let plan = refactor(world, &with(declared.clone(), json!({"mode": "plan"}))).await;
    let planned = names(&plan["groups"]["remove"]).into_iter();
    assert!(
        planned
            .clone()
            .all(|name| !["empty", "kept"].contains(&name))
    );
    assert!(planned.clone().any(|name| name == "gone"), "{plan}");
    let sent = declared.to_string();
    let reply = world.send_without_waiting("POST", PLANE, &sent).await;
    let applied = reply.expect(200).body;
    assert_eq!(moves(&applied).len(), 4, "{applied}");
    assert_eq!(names(&applied["groups"]["remove"]), ["gone"]);
    for name in old {
        let status = if name == "gone" { 404 } else { 200 };
        world
            .get(&format!("{}?{API}", group(name)))
            .await
            .expect(status);
    }
    let leftovers = format!("{}/leftovers", group("left"));
    let listed = world.get(&leftovers).await.expect(200).body;
    assert_eq!(listed["value"].as_array().map(Vec::len), Some(1));
    world.settle().await;
    reference(world, "busy", LOGS, "new").await.expect(200);
    reference(world, "kept", LOGS, "stays").await.expect(200);
}
