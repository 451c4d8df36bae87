//! Plans in requests that carry none out.

use std::collections::BTreeSet;

use serde_json::json;
use ucp_testkit::World;

use super::{API, LOGS, call, codes, id_of, logs, status};
use crate::rights::every_route::{ID, requests};
use crate::sets::{scope, send};

/// An action either carries out the plan that its body names, or refuses the body: without the plan, something else than was
/// planned would be done.
#[tokio::test]
async fn no_action_ignores_a_plan() {
    let world = &World::builder().build().await;
    world.put_group("rg").await;
    let actions = requests().into_iter().filter(|it| it.method == "POST");
    for action in actions {
        let path = format!("{}?{API}", action.path);
        let reply = call(world, "POST", &path, json!({ "planId": ID })).await;
        match action.route.rsplit_once('/').expect("an action") {
            // They have no body.
            (_, ":cancel" | ":release") => {}
            ("/planes/radius/{plane}/resourcegroups/{group}", ":delete") => {
                let reply = reply.expect(400);
                assert_eq!(reply.body["error"]["target"], "/planId", "{path}");
            }
            (_, ":put" | ":delete")
            | ("/planes/radius/{plane}/resourcegroups/{group}", ":apply") => {
                let reply = reply.expect(404);
                assert!(reply.text.contains(ID), "{path}: {}", reply.text);
            }
            _ => {
                assert_eq!(reply.status, 400, "{path}: {}", reply.text);
                assert_eq!(reply.body["error"]["target"], "/planId", "{path}");
            }
        }
    }
}

/// A change either has a plan in its query, or refuses one there.
#[tokio::test]
async fn no_change_ignores_a_plan_in_its_query() {
    let world = &World::builder().build().await;
    world.put_group("rg").await;
    let mut planned = BTreeSet::new();
    for change in requests().into_iter().filter(|it| it.method != "GET") {
        let path = format!("{}?{API}&planid={ID}", change.path);
        let reply = call(world, &change.method, &path, json!({})).await;
        let target = &reply.body["error"]["target"];
        if reply.status == 400 && *target == "planId" {
            continue;
        }
        assert!(
            change.takes("planId"),
            "{} {path}: {}",
            change.method,
            reply.text
        );
        planned.insert((change.method, change.route));
    }
    assert_eq!(planned.len(), 3, "{planned:?}");
}

#[tokio::test]
async fn no_resource_of_an_import_ignores_a_plan() {
    let world = &World::builder().build().await;
    world.put_group("rg").await;
    let resource = json!({"alias": "logs", "type": LOGS, "scope": scope(), "primaryIdentifier": "logs", "planId": ID});
    let body = json!({"resources": [resource]});
    let reply = send(world, "import", &body).await.expect(400);
    let expected = [("BadRequest", "/resources/0/planId")];
    assert_eq!(codes(&reply.body["error"]), expected, "{}", reply.text);
}

/// A PATCH carries out no plan, and a PUT none of two.
#[tokio::test]
async fn no_request_by_name_ignores_a_plan() {
    let world = &World::builder().build().await;
    world.put_group("rg").await;
    world.put_and_settle(LOGS, "logs", logs(7)).await;
    let path = format!("{}/providers/{LOGS}/logs", scope());
    let declared = json!({"properties": logs(14)});
    let planned = call(world, "POST", &format!("{path}/:whatIf"), declared).await;
    let id = id_of(&planned.expect(200).body["properties"]);
    let body = json!({"planId": id, "properties": logs(14)});
    let reply = call(world, "PATCH", &path, body.clone()).await.expect(400);
    assert_eq!(reply.body["error"]["target"], "/planId", "{}", reply.text);
    let other = format!("{path}?planId={ID}");
    let reply = call(world, "PUT", &other, body).await.expect(400);
    assert_eq!(reply.body["error"]["target"], "/planId", "{}", reply.text);
    assert_eq!(status(world, &id).await, "Pending");
    // It names the same one twice.
    let same = format!("{path}?planId={id}");
    let reply = call(world, "PUT", &same, json!({ "planId": id })).await;
    reply.expect(201);
    world.settle().await;
    assert_eq!(status(world, &id).await, "Applied");
}
