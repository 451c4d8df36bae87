//! Who may move what, and who sees what was moved.

use ucp_access::Role;

use super::*;
use crate::rights::grant;

const AWS: &str = "/planes/aws/aws";

async fn post_as(world: &World, who: &str, path: &str, body: &Value) -> Reply {
    world.call_as(who, "POST", path, &body.to_string()).await
}

#[apply(on_every_store)]
async fn who_may_change_all_groups_may_move(kind: StoreKind) {
    let Some(builder) = World::builder().on(kind).await else {
        return;
    };
    let (old, web) = (group(OLD), group("web"));
    let world = builder
        .granting(vec![
            grant("ann", Role::Contributor, &[&old, &web, AWS]),
            grant("bob", Role::Contributor, &[&old, AWS]),
            grant("eve", Role::Reader, &[&old, &web, AWS]),
            grant("pat", Role::Contributor, &[&old, &web]),
            grant("pat", Role::Reader, &[AWS]),
            grant("joe", Role::Contributor, &[&old, &web]),
        ])
        .build()
        .await;
    world.put_group_as("root", "web").await.expect(200);
    let secret = json!({"Name": "db", "SecretString": "canary"});
    let body = json!({"trackedBy": address(OLD, SECRET, "a"), "properties": secret});
    let put = format!("{}/providers/{SECRET}/:put", scope());
    post_as(&world, "root", &put, &body).await.expect(201);
    world.settle().await;
    let declared = |mode: &str, properties: &Value| {
        let web = vec![resource("b", SECRET, properties.clone())];
        super::body(mode, &[(OLD, vec![]), ("web", web)])
    };
    let name = json!({"Name": "db"});

    // They may not change the other group, nor read it.
    for mode in ["plan", "apply"] {
        let refused = post_as(&world, "bob", PLANE, &declared(mode, &name))
            .await
            .expect(403);
        assert_eq!(refused.code(), "AuthorizationFailed");
    }
    // Who may read is told, but not of secrets, and moves nothing.
    let plan = declared("plan", &name);
    let plan = post_as(&world, "eve", PLANE, &plan).await.expect(200).body;
    assert_eq!(moves(&plan).len(), 0, "nothing tells that it is the same");
    let told = json!({"moves": [{"from": "rg/AWS.SecretsManager/Secret/a", "to": "web/AWS.SecretsManager/Secret/b"}]});
    let plan = with(declared("plan", &name), told);
    let plan = post_as(&world, "eve", PLANE, &plan).await.expect(200).body;
    assert_eq!(moves(&plan).len(), 1);
    post_as(&world, "eve", PLANE, &declared("plan", &secret))
        .await
        .expect(403);
    // Nor is who may not put the type, whatever they may do with groups.
    post_as(&world, "pat", PLANE, &declared("plan", &secret))
        .await
        .expect(403);
    post_as(&world, "eve", PLANE, &declared("apply", &name))
        .await
        .expect(403);
    let path = plan["id"].as_str().expect("an id");
    post_as(&world, "eve", &format!("{path}/:apply"), &json!({}))
        .await
        .expect(403);
    // Who may not change the type moves none.
    post_as(&world, "joe", &format!("{path}/:apply"), &json!({}))
        .await
        .expect(403);
    // A record is shown to those who may read all groups that it names.
    world.call_as("eve", "GET", path, "").await.expect(200);
    world.call_as("bob", "GET", path, "").await.expect(404);
    post_as(&world, "bob", &format!("{path}/:apply"), &json!({}))
        .await
        .expect(404);
    let records =
        format!("/planes/radius/local/providers/System.Resources/refactors?{API}&group={OLD}");
    for (who, count) in [("eve", 2), ("bob", 0)] {
        let listed = world
            .call_as(who, "GET", &records, "")
            .await
            .expect(200)
            .body;
        assert_eq!(
            listed["value"].as_array().expect("records").len(),
            count,
            "{who}"
        );
    }
    // Nothing tells of others, not even that there are some.
    for _ in 0..3 {
        post_as(&world, "eve", PLANE, &declared("plan", &name))
            .await
            .expect(200);
    }
    let page = format!("{records}&top=1");
    for (who, is_more) in [("eve", true), ("bob", false)] {
        let listed = world.call_as(who, "GET", &page, "").await.expect(200).body;
        assert_eq!(listed.get("nextLink").is_some(), is_more, "{who}");
    }
    let other = format!("{records}-other");
    world.call_as("bob", "GET", &other, "").await.expect(403);

    let applied = post_as(&world, "ann", PLANE, &declared("apply", &secret))
        .await
        .expect(200)
        .body;
    assert_eq!(moves(&applied).len(), 1);
    // The event is one of a group that they may not read, also in the record of another's plan.
    let event = applied["name"].as_str().expect("a name");
    let alone = super::body("plan", &[(OLD, vec![])]);
    let mut seen = Value::Null;
    for (who, environment) in [("bob", json!([])), ("eve", json!([event]))] {
        let plan = post_as(&world, who, PLANE, &alone).await.expect(200).body;
        assert_eq!(plan["history"]["environment"], environment, "{who}");
        seen = plan;
    }
    let known = with(
        alone.clone(),
        json!({"history": [{"id": event, "moves": []}]}),
    );
    let compared = post_as(&world, "eve", PLANE, &known).await.expect(200).body;
    assert_eq!(compared["history"]["common"], *event);
    for of_eve in [&seen, &compared] {
        let path = of_eve["id"].as_str().expect("an id");
        let shown = world.call_as("bob", "GET", path, "").await.expect(200).body;
        assert_eq!(shown["history"]["environment"], json!([]));
        assert_eq!(shown["history"]["common"], Value::Null);
    }
    let other = json!({"mode": "apply", "history": [{"id": "mine", "moves": [
        {"from": "rg/AWS.EC2/VPC/a", "to": "rg/AWS.EC2/VPC/b"}]}]});
    let diverged = post_as(&world, "bob", PLANE, &with(alone, other)).await;
    let diverged = diverged.expect(409);
    let details = &diverged.body["error"]["details"];
    assert_eq!(details[0]["code"], "HistoryDiverged", "{details}");
    assert!(!diverged.text.contains(event), "{}", diverged.text);
    // Nor does the record of one who may read it, which has parted after that event.
    let moves = |from: &str, to: &str| {
        let address = |alias: &str| format!("rg/{VPC}/{alias}");
        json!([{"from": address(from), "to": address(to)}])
    };
    let after = |mode: &str, id: &str| {
        let history = json!([{"id": event, "moves": []}, {"id": id, "moves": moves("x", id)}]);
        let alone = super::body(mode, &[(OLD, vec![])]);
        with(alone, json!({ "history": history }))
    };
    let later = post_as(&world, "root", PLANE, &after("apply", "later")).await;
    later.expect(200);
    let parted = post_as(&world, "eve", PLANE, &after("plan", "parted")).await;
    let parted = parted.expect(200).body;
    assert_eq!(parted["refused"][0]["code"], "HistoryDiverged");
    assert_eq!(parted["history"]["common"], *event);
    let path_of_parted = parted["id"].as_str().expect("an id");
    let shown = world.call_as("bob", "GET", path_of_parted, "").await;
    let shown = shown.expect(200);
    assert!(!shown.text.contains(event), "{}", shown.text);
    let undo = format!("{}/:undo", applied["id"].as_str().expect("an id"));
    post_as(&world, "bob", &undo, &json!({})).await.expect(404);
    post_as(&world, "ann", &undo, &json!({})).await.expect(200);
    let audited = world.audited().await;
    // The owner of each group learns of it, and what was hidden was refused.
    for group in [&old, &web] {
        let told = audited.iter().filter(|event| {
            event.action == "System.Resources/resourceGroups/refactor/action"
                && event.id.eq_ignore_ascii_case(group)
                && event.caller == "ann"
        });
        assert_eq!(told.count(), 2, "{group}");
    }
    let hidden = audited.iter().find(|event| {
        event.caller == "bob" && event.id == path && event.action.ends_with("refactors/read")
    });
    let hidden = hidden.expect("an event");
    assert_eq!(hidden.outcome, ucp_store::AuditOutcome::Refused);
    let undone = audited
        .iter()
        .find(|event| event.action.ends_with("undo/action") && event.status == Some(200));
    assert_eq!(
        undone.expect("an event").action,
        "System.Resources/refactors/undo/action"
    );
    world.finish().await;
}

/// Whoever may only read leaves nothing in the audit by plans, however many there are.
#[tokio::test]
async fn a_plan_is_audited_as_a_read() {
    let old = group(OLD);
    let world = World::builder()
        .granting(vec![grant("eve", Role::Reader, &[&old, AWS])])
        .build()
        .await;
    let plan = super::body("plan", &[(OLD, vec![])]);
    let before = world.audited().await.len();
    post_as(&world, "eve", PLANE, &plan).await.expect(200);
    assert_eq!(world.audited().await.len(), before);
    let apply = super::body("apply", &[(OLD, vec![])]);
    post_as(&world, "eve", PLANE, &apply).await.expect(403);
    let events = world.audited().await;
    assert_eq!(events.len(), before + 1);
    let refused = events.last().expect("an event");
    assert!(refused.action.ends_with("/refactor/action"), "{refused:?}");
    world.finish().await;
}
