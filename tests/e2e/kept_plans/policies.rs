//! Which changes a group takes.

use serde_json::{Value, json};
use ucp_access::Role;
use ucp_simulator::faults::{fault, refuse};
use ucp_simulator::{Action, ExceptionCode};
use ucp_testkit::{
    ACCOUNT, GROUP, REGION, Reply, StoreKind, World, apply, on_every_store, tracked_by,
};

use super::{API, LOGS, carry_out, id_of, logs, plan, planned, read, review, status};
use crate::rights::grant;
use crate::sets::{send, set};

pub(super) async fn set_policy(world: &World, policy: Value) -> Reply {
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

/// A put that may have nothing to do is told to try again.
#[apply(on_every_store)]
async fn what_is_not_seen_in_time_may_be_no_change(world: &World) {
    world.put_and_settle(LOGS, "logs", logs(7)).await;
    set_policy(world, json!("required")).await.expect(200);
    let throttled = fault(refuse(ExceptionCode::Throttling));
    world.aws.add_fault(throttled.on(Action::GetResource));
    world.tolerate_log("AWS did not answer a read");
    let reply = world.put(LOGS, "logs", logs(7)).await;
    assert!(reply.text.contains("try again"), "{}", reply.text);
    refused(reply, "PlanRequired");
    world.aws.clear_faults();
    world.put(LOGS, "logs", logs(7)).await.expect(200);
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

/// A group protects what its references stand for, by whatever name it is changed.
#[apply(on_every_store)]
async fn a_resource_has_the_policy_of_each_group_that_refers_to_it(world: &World) {
    world.put_and_settle(LOGS, "logs", logs(7)).await;
    world.put_group("rg2").await;
    set_policy(world, json!("required")).await.expect(200);
    let other = GROUP.replace("/rg", "/rg2");
    let alias = format!("{other}/providers/{LOGS}:reference/mine");
    let by_name =
        format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{LOGS}/logs");
    let longer = json!({"properties": {"RetentionInDays": 14}});
    let tracked = json!({"trackedBy": alias, "properties": logs(14)});
    let untracked = json!({"properties": logs(14)});
    let refused = |reply: Reply, code: &str| {
        let reply = reply.expect(409);
        assert_eq!(reply.code(), code, "{}", reply.text);
        let names = ["/rg", "'rg"];
        assert!(
            names.iter().all(|name| !reply.text.contains(name)),
            "{}",
            reply.text
        );
    };
    // Another group may refer to it, since that changes nothing.
    let same = json!({"trackedBy": alias, "properties": logs(7)});
    world.post(LOGS, "put", &same).await.expect(200);
    let every_way = async |code: &str| {
        refused(
            super::call(world, "PUT", &by_name, longer.clone()).await,
            code,
        );
        refused(world.post(LOGS, "put", &untracked).await, code);
        refused(world.post(LOGS, "put", &tracked).await, code);
        refused(world.call("DELETE", &by_name, "").await, code);
        let delete = json!({"properties": {"LogGroupName": "logs"}});
        refused(world.post(LOGS, "delete", &delete).await, code);
    };
    every_way("PlanRequired").await;
    assert_eq!(world.calls("UpdateResource"), 0);

    // What is planned may be done, and what is approved for this group.
    let planned_by_name = async |properties: &Value| {
        let path = format!("{by_name}/:whatIf");
        let asked = super::call(world, "POST", &path, properties.clone()).await;
        asked.expect(200).body["properties"].clone()
    };
    let id = id_of(&planned_by_name(&longer).await);
    let with_plan = format!("{by_name}?planId={id}");
    world.call("PUT", &with_plan, "").await.expect(201);
    world.settle().await;
    assert_eq!(status(world, &id).await, "Applied");
    let planned = planned_by_name(&json!({"properties": {"RetentionInDays": 30}})).await;
    let id = id_of(&planned);
    review(world, &id, "approve", &planned["fingerprint"])
        .await
        .expect(200);
    set_policy(world, json!("approved")).await.expect(200);
    let with_plan = format!("{by_name}?planId={id}");
    refused(world.call("PUT", &with_plan, "").await, "ApprovalRequired");
    assert_eq!(status(world, &id).await, "Approved");
    assert_eq!(world.calls("UpdateResource"), 1);
}

/// What a put would be refused for, a what-if and an apply of another group tell too.
#[apply(on_every_store)]
async fn sets_tell_of_the_policies_of_other_groups(world: &World) {
    for name in ["changed", "deleted", "kept"] {
        let properties = json!({"LogGroupName": name, "RetentionInDays": 7});
        world.put_and_settle(LOGS, name, properties).await;
    }
    world.put_group("rg2").await;
    let other = GROUP.replace("/rg", "/rg2");
    let declared = |name: &str, days: u32| json!({"LogGroupName": name, "RetentionInDays": days});
    for name in ["changed", "deleted"] {
        let alias = format!("{other}/providers/{LOGS}:reference/{name}");
        let same = json!({"trackedBy": alias, "properties": declared(name, 7)});
        world.post(LOGS, "put", &same).await.expect(200);
    }
    let members = set(json!([
        {"alias": "kept", "type": LOGS, "properties": declared("kept", 7)},
        {"alias": "changed", "type": LOGS, "properties": declared("changed", 14)},
        {"alias": "deleted", "type": LOGS, "delete": true},
    ]));
    let send = async |action: &str, body: Value| {
        super::call(world, "POST", &format!("{other}/:{action}"), body).await
    };
    let calls = || world.calls("UpdateResource") + world.calls("DeleteResource");
    let refused = |reply: &Reply, error: &Value, code: &str| {
        assert!(!error.to_string().contains("/rg/"), "{}", reply.text);
        let found = super::codes(error);
        assert_eq!(found, [(code, "/resources/1"), (code, "/resources/2")]);
    };
    set_policy(world, json!("required")).await.expect(200);
    let reply = send("apply", members.clone()).await.expect(409);
    assert_eq!(reply.code(), "PlanRequired", "{}", reply.text);
    refused(&reply, &reply.body["error"], "PlanRequired");
    // Nothing of a set that is refused is stored, also not the alias of what is as declared.
    let kept = format!("{other}/providers/{LOGS}:reference/kept");
    world.get(&kept).await.expect(404);
    let asked = send("whatIf", members.clone()).await.expect(200);
    let id = id_of(&asked.body["properties"]);

    set_policy(world, json!("approved")).await.expect(200);
    let reply = send("apply", members.clone()).await.expect(409);
    assert_eq!(reply.code(), "ApprovalRequired", "{}", reply.text);
    refused(&reply, &reply.body["error"], "ApprovalRequired");
    let planned = send("apply", json!({"planId": id})).await.expect(409);
    assert_eq!(planned.code(), "ApprovalRequired", "{}", planned.text);
    assert_eq!(super::codes(&planned.body["error"]).len(), 2);
    let asked = send("whatIf", members).await.expect(200);
    assert_eq!(asked.body["status"], "Failed", "{}", asked.text);
    refused(&asked, &asked.body["error"], "ApprovalRequired");
    assert_eq!(asked.body["properties"]["planId"], Value::Null);
    let alias = format!("{other}/providers/{LOGS}:reference/changed");
    let one = json!({"trackedBy": alias, "properties": declared("changed", 14)});
    let asked = world.post(LOGS, "whatIf", &one).await.expect(200);
    assert_eq!(asked.body["status"], "Failed", "{}", asked.text);
    assert_eq!(asked.body["error"]["code"], "ApprovalRequired");
    let change = &asked.body["properties"]["changes"][0];
    assert_eq!(change["changeType"], "Modify", "{}", asked.text);
    assert_eq!(status(world, &id).await, "Pending");
    world.settle().await;
    assert_eq!(calls(), 0);

    // The group that protects them may plan them.
    let own =
        json!({"trackedBy": tracked_by(LOGS, "changed"), "properties": declared("changed", 14)});
    let asked = world.post(LOGS, "whatIf", &own).await.expect(200);
    assert_eq!(asked.body["status"], "Succeeded", "{}", asked.text);
}

/// A group is not deleted as long as it owns what another group protects.
#[apply(on_every_store)]
async fn a_group_is_not_deleted_with_what_another_protects(world: &World) {
    world.put_and_settle(LOGS, "logs", logs(7)).await;
    world.put_group("rg2").await;
    let other = GROUP.replace("/rg", "/rg2");
    let alias = format!("{other}/providers/{LOGS}:reference/theirs");
    let same = json!({"trackedBy": alias, "properties": logs(7)});
    world.post(LOGS, "put", &same).await.expect(200);
    let body = json!({"properties": {"planPolicy": "required"}});
    let theirs = format!("{other}?{API}");
    super::call(world, "PATCH", &theirs, body).await.expect(200);

    let group = format!("{GROUP}?{API}");
    let blocked = world.call("DELETE", &group, "").await.expect(409);
    assert_eq!(blocked.code(), "Conflict");
    let told = super::codes(&blocked.body["error"]);
    assert_eq!(told[0].0, "ResourceShared", "{}", blocked.text);
    world.settle().await;
    assert_eq!(world.calls("DeleteResource"), 0);
    world.call("GET", &group, "").await.expect(200);

    let body = json!({"properties": {"planPolicy": null}});
    super::call(world, "PATCH", &theirs, body).await.expect(200);
    let forgotten = format!("{alias}?{API}");
    world.call("DELETE", &forgotten, "").await.expect(200);
    world.call_until_settled("DELETE", &group, "").await;
    world.call("GET", &group, "").await.expect(404);
    assert_eq!(world.calls("DeleteResource"), 1);
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
    let reference = tracked_by(LOGS, "logs");
    let put =
        format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{LOGS}/:put?{API}");
    let declared = json!({"trackedBy": reference, "properties": logs(7)});
    let created = super::call_as(&world, "con", "POST", &put, declared).await;
    created.expect(201);
    world.settle().await;
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

    // What is not owned is protected too, as long as the reference is there.
    let reference = format!("{reference}?{API}");
    let release = json!({"ownedResource": false});
    let released = super::call_as(&world, "con", "PATCH", &reference, release).await;
    released.expect(200);
    let refused = world.call_as("con", "DELETE", &reference, "").await;
    assert_eq!(refused.expect(403).code(), "AuthorizationFailed");
    let kept = world.call_as("con", "GET", &reference, "").await;
    kept.expect(200);
    let forgotten = world.call_as("ann", "DELETE", &reference, "").await;
    forgotten.expect(200);
    let lowered = change("ann", "PUT", json!("optional")).await.expect(200);
    assert_eq!(lowered.body.get("properties"), None);
}

/// Who has asked for a plan does not approve it, where the group says so.
#[apply(on_every_store)]
async fn another_caller_approves_the_plan(kind: StoreKind) {
    let Some(builder) = World::builder().on(kind).await else {
        return;
    };
    let grants = vec![
        grant("ann", Role::Owner, &["/"]),
        grant("bob", Role::Owner, &["/"]),
        grant("con", Role::Contributor, &["/"]),
    ];
    let world = builder.granting(grants).build().await;
    world.put_group_as("ann", "rg").await;
    let path = format!("{GROUP}?{API}");
    let change = async |caller: &str, properties: Value| {
        let body = json!({ "properties": properties });
        super::call_as(&world, caller, "PATCH", &path, body).await
    };
    let own = json!({"planPolicy": "approved", "selfApproval": false});
    let changed = change("con", own.clone()).await.expect(200);
    assert_eq!(changed.body["properties"]["planPolicy"], "approved");
    assert_eq!(changed.body["properties"]["selfApproval"], false);
    change("ann", json!({"selfApproval": "no"}))
        .await
        .expect(400);
    let collection =
        format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{LOGS}");
    let planned = async |days: u32| {
        let body = json!({"trackedBy": tracked_by(LOGS, "logs"), "properties": logs(days)});
        let what_if = format!("{collection}/:whatIf?{API}");
        let reply = super::call_as(&world, "ann", "POST", &what_if, body).await;
        reply.expect(200).body["properties"].clone()
    };
    let approve = async |caller: &str, planned: &Value| {
        let body = json!({"fingerprint": planned["fingerprint"]});
        let path = format!("{}/:approve", super::path(&id_of(planned)));
        super::call_as(&world, caller, "POST", &path, body).await
    };
    let put = async |planned: &Value| {
        let body = json!({ "planId": id_of(planned) });
        super::call_as(
            &world,
            "ann",
            "POST",
            &format!("{collection}/:put?{API}"),
            body,
        )
        .await
    };
    let plan = planned(7).await;
    let own_word = approve("ann", &plan).await.expect(409);
    assert_eq!(own_word.code(), "Conflict", "{}", own_word.text);
    refused(put(&plan).await, "ApprovalRequired");
    approve("bob", &plan).await.expect(200);
    put(&plan).await.expect(201);
    world.settle().await;

    // It was approved before the group said so.
    for caller in ["con", "ann"] {
        let lowered = change(caller, json!({"selfApproval": null})).await;
        lowered.expect(if caller == "con" { 403 } else { 200 });
    }
    let plan = planned(14).await;
    approve("ann", &plan).await.expect(200);
    change("con", own).await.expect(200);
    refused(put(&plan).await, "ApprovalRequired");
    assert_eq!(world.calls("UpdateResource"), 0);
}

/// To give up what is shared takes the right to approve, or a plan that was approved.
#[apply(on_every_store)]
async fn what_is_protected_is_given_up_by_who_may_approve(kind: StoreKind) {
    let Some(builder) = World::builder().on(kind).await else {
        return;
    };
    let grants = vec![
        grant("ann", Role::Owner, &["/"]),
        grant("con", Role::Contributor, &["/"]),
    ];
    let world = builder.granting(grants).build().await;
    world.put_group_as("con", "rg").await;
    world.put_group_as("con", "other").await;
    let scope = format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}");
    let put = format!("{scope}/providers/{LOGS}/:put?{API}");
    for reference in [
        tracked_by(LOGS, "logs"),
        tracked_by(LOGS, "logs").replace("/rg/", "/other/"),
    ] {
        let declared = json!({"trackedBy": reference, "properties": logs(7)});
        let reply = super::call_as(&world, "con", "POST", &put, declared).await;
        assert!(reply.status < 300, "{}", reply.text);
        world.settle().await;
    }
    let policy = async |policy: &str| {
        let body = json!({"properties": {"planPolicy": policy}});
        let path = format!("{GROUP}?{API}");
        let changed = super::call_as(&world, "ann", "PATCH", &path, body).await;
        changed.expect(200);
    };
    let empty = json!({"mode": "Complete", "onShared": "release", "resources": []});
    let send = async |caller: &str, action: &str, body: Value| {
        let path = format!("{GROUP}/:{action}?{API}");
        super::call_as(&world, caller, "POST", &path, body).await
    };
    let planned = async || {
        let what_if = send("con", "whatIf", empty.clone()).await.expect(200);
        what_if.body["properties"].clone()
    };
    let references = async || {
        let path = format!("{GROUP}/resources?{API}");
        let listed = world.call_as("con", "GET", &path, "").await.expect(200);
        listed.body["value"].as_array().expect("a list").len()
    };
    policy("required").await;
    let own = json!({"planId": planned().await["planId"]});
    let refused = send("con", "apply", own.clone()).await.expect(403);
    assert_eq!(refused.code(), "AuthorizationFailed", "{}", refused.text);
    assert_eq!(references().await, 1);
    let put_giving_up = async |name: &str| {
        let declared = json!({"trackedBy": tracked_by(LOGS, "logs"), "properties": {"LogGroupName": name, "RetentionInDays": 7},
            "replacementPolicy": "deleteBeforeCreate", "onShared": "release"});
        super::call_as(&world, "con", "POST", &put, declared).await
    };
    let refused = put_giving_up("other").await.expect(403);
    assert_eq!(refused.code(), "AuthorizationFailed", "{}", refused.text);
    let delete = format!("{scope}/providers/{LOGS}/:delete?{API}");
    let refused = super::call_as(&world, "con", "POST", &delete, own).await;
    assert_eq!(refused.expect(403).code(), "AuthorizationFailed");
    // What changes nothing gives up nothing.
    put_giving_up("logs").await.expect(200);
    policy("approved").await;
    let plan = planned().await;
    let id = super::id_of(&plan);
    let review = format!("{}/:approve?{API}", super::path(&id));
    super::call_as(
        &world,
        "ann",
        "POST",
        &review,
        json!({"fingerprint": plan["fingerprint"]}),
    )
    .await
    .expect(200);
    let applied = send("con", "apply", json!({"planId": id})).await;
    applied.expect(202);
    world.settle().await;
    assert_eq!(references().await, 0);
    assert_eq!(world.live("AWS::Logs::LogGroup").len(), 1);
}
