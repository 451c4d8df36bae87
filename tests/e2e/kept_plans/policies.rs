//! Which changes a group takes.

use serde_json::{Value, json};
use ucp_access::Role;
use ucp_testkit::{GROUP, Reply, StoreKind, World, apply, on_every_store, tracked_by};

use super::{API, LOGS, carry_out, id_of, logs, plan, planned, read, review, status};
use crate::rights::grant;
use crate::sets::{send, set};

async fn set_policy(world: &World, policy: Value) -> Reply {
    let body = json!({"properties": {"planPolicy": policy}}).to_string();
    world.call("PATCH", &format!("{GROUP}?{API}"), &body).await
}

fn refused(reply: Reply, code: &str) {
    assert_eq!(reply.expect(409).code(), code);
}

#[apply(on_every_store)]
async fn a_group_says_which_changes_it_takes(world: &World) {
    let shown = world.group().await;
    assert_eq!(shown.get("properties"), None, "{shown}");
    let patched = set_policy(world, json!("required")).await.expect(200);
    assert_eq!(patched.body["properties"]["planPolicy"], "required");
    assert_eq!(world.group().await["properties"]["planPolicy"], "required");
    let wrong = set_policy(world, json!("never")).await.expect(400);
    assert!(wrong.text.contains("planPolicy"), "{}", wrong.text);
    set_policy(world, Value::Null).await.expect(200);
    assert_eq!(world.group().await.get("properties"), None);
    let put = json!({"location": "global", "properties": {"planPolicy": "approved"}});
    let put = super::call(world, "PUT", &format!("{GROUP}?{API}"), put).await;
    assert_eq!(put.expect(200).body["properties"]["planPolicy"], "approved");
}

#[apply(on_every_store)]
async fn a_change_without_a_plan_is_refused(world: &World) {
    world.put_and_settle(LOGS, "logs", logs(7)).await;
    set_policy(world, json!("required")).await.expect(200);
    let calls = world.calls("UpdateResource") + world.calls("DeleteResource");
    refused(world.put(LOGS, "logs", logs(14)).await, "PlanRequired");
    refused(
        world.put(LOGS, "new", json!({"LogGroupName": "new"})).await,
        "PlanRequired",
    );
    refused(world.delete(LOGS, "logs").await, "PlanRequired");
    let reference = tracked_by(LOGS, "logs");
    refused(world.call("DELETE", &reference, "").await, "PlanRequired");
    let new = set(json!([{"alias": "new", "type": LOGS, "properties": {"LogGroupName": "new"}}]));
    refused(send(world, "apply", &new).await, "PlanRequired");
    refused(
        world.call("DELETE", &format!("{GROUP}?{API}"), "").await,
        "PlanRequired",
    );
    // Nothing to do is no change.
    world.put(LOGS, "logs", logs(7)).await.expect(200);
    let same = set(json!([{"alias": "logs", "type": LOGS, "properties": logs(7)}]));
    send(world, "apply", &same).await.expect(200);
    world.settle().await;
    assert_eq!(
        calls,
        world.calls("UpdateResource") + world.calls("DeleteResource")
    );

    let id = plan(world, logs(14)).await;
    carry_out(world, LOGS, &id).await.expect(201);
    world.settle().await;
    assert_eq!(status(world, &id).await, "Applied");
}

#[apply(on_every_store)]
async fn a_plan_without_an_approval_is_refused(world: &World) {
    set_policy(world, json!("approved")).await.expect(200);
    let planned = planned(world, logs(7)).await;
    let id = id_of(&planned);
    refused(world.put(LOGS, "logs", logs(7)).await, "PlanRequired");
    refused(carry_out(world, LOGS, &id).await, "ApprovalRequired");
    assert_eq!(read(world, &id).await["status"], "Pending");
    review(world, &id, "approve", &planned["fingerprint"])
        .await
        .expect(200);
    carry_out(world, LOGS, &id).await.expect(201);
    world.settle().await;
    assert_eq!(status(world, &id).await, "Applied");
}

/// The policy is judged with the write, not when the request looks.
#[apply(on_every_store)]
async fn a_policy_that_comes_in_between_holds(world: &World) {
    world.put_and_settle(LOGS, "logs", logs(7)).await;
    world.hold_next_read();
    let put = async {
        let reply = world.put(LOGS, "logs", logs(14)).await;
        refused(reply, "PlanRequired");
    };
    let policy = async {
        world.is_read_held().await;
        set_policy(world, json!("required")).await.expect(200);
        world.release_reads();
    };
    tokio::join!(put, policy);
    assert_eq!(world.calls("UpdateResource"), 0);
}

/// Whoever may write to a group makes its policy stricter. Only who may approve plans too lets changes by again, and a PUT
/// that does not know of the policy keeps it.
#[apply(on_every_store)]
async fn only_who_may_approve_lowers_a_policy(kind: StoreKind) {
    let Some(builder) = World::builder().on(kind).await else {
        return;
    };
    let grants = vec![
        grant("ann", Role::Owner, &["/"]),
        grant("con", Role::Contributor, &["/"]),
    ];
    let world = builder.granting(grants).build().await;
    world.put_group_as("con", "rg").await;
    let path = format!("{GROUP}?{API}");
    let change = async |caller: &str, method: &str, policy: Value| {
        let body = json!({"location": "global", "properties": {"planPolicy": policy}});
        let body = match method {
            "PATCH" => json!({"properties": {"planPolicy": body["properties"]["planPolicy"]}}),
            _ => body,
        };
        super::call_as(&world, caller, method, &path, body).await
    };
    change("con", "PATCH", json!("required")).await.expect(200);
    change("con", "PUT", json!("approved")).await.expect(200);
    for (method, policy) in [
        ("PATCH", json!("required")),
        ("PATCH", Value::Null),
        ("PUT", json!("optional")),
        ("PUT", Value::Null),
    ] {
        let refused = change("con", method, policy).await.expect(403);
        assert_eq!(refused.code(), "AuthorizationFailed", "{}", refused.text);
        assert!(refused.text.contains("planPolicy"), "{}", refused.text);
    }
    let unaware = json!({"location": "global", "tags": {"team": "net"}});
    let put = super::call_as(&world, "con", "PUT", &path, unaware).await;
    assert_eq!(put.expect(200).body["properties"]["planPolicy"], "approved");
    let lowered = change("ann", "PUT", json!("optional")).await.expect(200);
    assert_eq!(lowered.body.get("properties"), None);
}
