//! Plans that are kept: read, reviewed, and carried out once, or not at all.

mod drawn;
mod elsewhere;
mod left_open;
mod policies;
mod sets;
mod stale;
mod withheld;

use std::time::Duration;

use serde_json::{Value, json};
use ucp_access::Role;
use ucp_app::Quotas;
use ucp_model::{Clock as _, Timestamp};
use ucp_simulator::ExceptionCode;
use ucp_simulator::faults::{fault, refuse};
use ucp_store::AuditOutcome;
use ucp_testkit::{
    ACCOUNT, GROUP, REGION, Reply, StoreKind, World, apply, on_every_store, tracked_by,
};

use crate::rights::grant;

const API: &str = "api-version=2023-10-01-preview";
const LOGS: &str = "AWS.Logs/LogGroup";
const SECRET: &str = "AWS.SecretsManager/Secret";
const VPC: &str = "AWS.EC2/VPC";

pub(crate) fn logs(retention: u32) -> Value {
    json!({"LogGroupName": "logs", "RetentionInDays": retention})
}

/// The properties of a what-if of a put under the alias `logs`.
async fn planned(world: &World, properties: Value) -> Value {
    let body = json!({"trackedBy": tracked_by(LOGS, "logs"), "properties": properties});
    let reply = world.post(LOGS, "whatIf", &body).await.expect(200);
    assert_eq!(reply.body["status"], "Succeeded", "{}", reply.text);
    reply.body["properties"].clone()
}

/// The id of a plan of such a put.
async fn plan(world: &World, properties: Value) -> String {
    id_of(&planned(world, properties).await)
}

pub(crate) fn id_of(planned: &Value) -> String {
    let id = planned["planId"].as_str();
    id.unwrap_or_else(|| panic!("no plan: {planned}"))
        .to_owned()
}

fn path(id: &str) -> String {
    format!("/planes/radius/local/providers/System.Resources/plans/{id}")
}

/// The properties of a plan.
pub(crate) async fn read(world: &World, id: &str) -> Value {
    let reply = world.get(&path(id)).await.expect(200);
    reply.body["properties"].clone()
}

pub(crate) async fn status(world: &World, id: &str) -> String {
    let plan = read(world, id).await;
    plan["status"].as_str().expect("a status").to_owned()
}

async fn review(world: &World, id: &str, verdict: &str, fingerprint: &Value) -> Reply {
    let body = json!({"fingerprint": fingerprint, "comment": format!("to {verdict}")});
    let path = format!("{}/:{verdict}", path(id));
    world.call("POST", &path, &body.to_string()).await
}

async fn call(world: &World, method: &str, path: &str, body: Value) -> Reply {
    world.call(method, path, &body.to_string()).await
}

async fn call_as(world: &World, caller: &str, method: &str, path: &str, body: Value) -> Reply {
    let body = body.to_string();
    world.call_as(caller, method, path, &body).await
}

/// Carries out the plan of a put.
async fn carry_out(world: &World, resource_type: &str, id: &str) -> Reply {
    let body = json!({ "planId": id });
    world.post(resource_type, "put", &body).await
}

/// The codes of the details of an error, with their targets.
fn codes(error: &Value) -> Vec<(&str, &str)> {
    let details = error["details"].as_array();
    let details = details.unwrap_or_else(|| panic!("no details: {error}"));
    details
        .iter()
        .filter(|detail| detail["code"] != "Help")
        .map(|detail| {
            let code = detail["code"].as_str().expect("a code");
            (code, detail["target"].as_str().unwrap_or_default())
        })
        .collect()
}

/// Asserts that a plan is refused at once, for this reason.
fn refused(reply: Reply, code: &str) {
    let reply = reply.expect(412);
    assert_eq!(reply.code(), "StalePlan", "{}", reply.text);
    let found = codes(&reply.body["error"]);
    assert!(found.iter().any(|(found, _)| *found == code), "{found:?}");
}

fn change_outside(world: &World, properties: &Value) {
    let target = ("AWS::Logs::LogGroup", "logs");
    let changed = world.aws.patch_out_of_band(None, None, target, properties);
    changed.expect("it is there");
}

#[apply(on_every_store)]
async fn a_what_if_keeps_its_plan(world: &World) {
    world.put_and_settle(LOGS, "logs", logs(7)).await;
    let planned = planned(world, logs(14)).await;
    let id = id_of(&planned);
    let plan = world.get(&path(&id)).await.expect(200).body;
    assert_eq!(plan["id"], path(&id));
    assert_eq!(plan["name"], id);
    assert_eq!(plan["type"], "System.Resources/plans");
    let shown = &plan["properties"];
    for member in ["changes", "fingerprint", "expiresAt"] {
        assert_eq!(shown[member], planned[member], "{member}");
        assert!(!planned[member].is_null(), "{member}");
    }
    assert_eq!(shown["status"], "Pending");
    assert_eq!(shown["createdBy"], "anonymous");
    assert_eq!(shown["approvals"], json!([]));
    let time = |member: &str| -> ucp_model::Timestamp {
        let text = shown[member].as_str().expect("a time");
        text.parse().expect("a time")
    };
    let lifetime = time("expiresAt").since(time("createdAt"));
    assert_eq!(lifetime, Duration::from_secs(3_600));
    // The letter case of keywords does not matter.
    world.get(&path(&id).to_uppercase()).await.expect(200);

    let missing = path("2b1c5a52-93d1-4a0e-8b7c-0d6f0b1c2d3e");
    world.get(&missing).await.expect(404);
    world.get(&path("none")).await.expect(404);
    let elsewhere = path(&id).replace("/local/", "/other/");
    world.get(&elsewhere).await.expect(404);
}

#[apply(on_every_store)]
async fn what_failed_or_is_not_known_keeps_no_plan(world: &World) {
    world.put_and_settle(LOGS, "logs", logs(7)).await;
    let body =
        json!({"trackedBy": tracked_by(LOGS, "logs"), "properties": {"LogGroupName": "other"}});
    let reply = world.post(LOGS, "whatIf", &body).await.expect(200);
    assert_eq!(reply.body["status"], "Failed");
    assert_eq!(reply.body["properties"].get("planId"), None);

    let denied = refuse(ExceptionCode::AccessDenied).saying("not you");
    world.aws.add_fault(fault(denied));
    let body = json!({"trackedBy": tracked_by(LOGS, "logs"), "properties": logs(14)});
    let reply = world.post(LOGS, "whatIf", &body).await.expect(200);
    let properties = &reply.body["properties"];
    assert_eq!(properties["changes"][0]["changeType"], "Unsupported");
    for member in ["planId", "fingerprint", "expiresAt"] {
        assert_eq!(properties.get(member), None);
    }
    assert_eq!(world.asked_store("keep_plan"), 0);
}

#[apply(on_every_store)]
async fn a_plan_lives_as_long_as_it_is_told_to(world: &World) {
    let ask = async |lifetime: Value| {
        let body = json!({"trackedBy": tracked_by(LOGS, "logs"), "properties": logs(7),
            "whatIfSettings": {"planLifetime": lifetime}});
        world.post(LOGS, "whatIf", &body).await
    };
    for (lifetime, seconds) in [
        ("PT1S", 1),
        ("PT90M", 5_400),
        ("P1DT1H1M1S", 90_061),
        ("P1W", 604_800),
        ("P7D", 604_800),
    ] {
        let planned = ask(json!(lifetime)).await.expect(200);
        let id = id_of(&planned.body["properties"]);
        let before = Duration::from_secs(seconds) - Duration::from_millis(1);
        let stored = world.store.get_plan(id.parse().expect("an id")).await;
        let stored = stored.expect("the store answers").expect("a plan").plan;
        let expires_at = stored.created_at.after(Duration::from_secs(seconds));
        assert_eq!(stored.expires_at, expires_at, "{lifetime}");
        world.clock.move_to(stored.created_at.after(before));
        assert_eq!(status(world, &id).await, "Pending");
        world.clock.move_to(expires_at);
        assert_eq!(status(world, &id).await, "Expired");
        refused(carry_out(world, LOGS, &id).await, "Expired");
    }
    for wrong in [
        "PT0S", "P7DT1S", "PT0.5S", "1H", "P", "PT", "PT1H1H", "P1M", "PT-1S",
    ] {
        let reply = ask(json!(wrong)).await.expect(400);
        assert!(
            reply.text.contains("PT1S to P7D"),
            "{wrong}: {}",
            reply.text
        );
    }
    assert_eq!(world.calls("CreateResource"), 0);
}

#[apply(on_every_store)]
async fn a_plan_is_carried_out_once(world: &World) {
    let id = plan(world, logs(7)).await;
    let reply = carry_out(world, LOGS, &id).await.expect(201);
    assert_eq!(status(world, &id).await, "Applying");
    world.settle().await;
    let ended = world.status(&reply).await;
    assert_eq!(ended["status"], "Succeeded", "{ended}");
    assert_eq!(status(world, &id).await, "Applied");
    assert_eq!(world.calls("CreateResource"), 1);

    // Also for who has not seen the reply.
    refused(carry_out(world, LOGS, &id).await, "AlreadyApplied");
    let id = plan(world, logs(14)).await;
    let first = carry_out(world, LOGS, &id).await.expect(201);
    let again = carry_out(world, LOGS, &id).await;
    let operation = first.status_url().rsplit('/').next().expect("an id");
    assert!(again.text.contains(operation), "{}", again.text);
    refused(again, "AlreadyApplied");
    world.settle().await;
    assert_eq!(world.calls("UpdateResource"), 1);
    assert_eq!(status(world, &id).await, "Applied");
    let after = plan(world, logs(14)).await;
    let reply = carry_out(world, LOGS, &after).await.expect(200);
    assert_eq!(reply.body["properties"]["RetentionInDays"], 14);
}

#[apply(on_every_store)]
async fn what_is_declared_must_be_what_was_planned(world: &World) {
    let id = plan(world, logs(7)).await;
    let put = async |alias: &str, body: Value| {
        let mut body = body;
        body["planId"] = json!(id);
        body["trackedBy"] = json!(tracked_by(LOGS, alias));
        world.post(LOGS, "put", &body).await
    };
    for (alias, body) in [
        ("logs", json!({"properties": logs(14)})),
        ("logs", json!({"properties": {"LogGroupName": "logs"}})),
        ("other", json!({"properties": logs(7)})),
        ("other", json!({})),
        (
            "logs",
            json!({"properties": logs(7), "updateMode": "replace"}),
        ),
        ("logs", json!({"updateMode": "replace"})),
        ("logs", json!({"properties": logs(7), "tags": {"a": "b"}})),
    ] {
        let reply = put(alias, body.clone()).await.expect(409);
        assert_eq!(reply.code(), "PlanMismatch", "{body}");
    }
    assert_eq!(status(world, &id).await, "Pending");
    let reply = world.post(VPC, "put", &json!({"planId": id})).await;
    assert_eq!(reply.expect(409).code(), "PlanMismatch");
    let mut same = logs(7);
    same["provisioningState"] = json!("Succeeded");
    same["KmsKeyId"] = Value::Null;
    put("logs", json!({"properties": same})).await.expect(201);
    world.settle().await;
    assert_eq!(status(world, &id).await, "Applied");
}

#[apply(on_every_store)]
async fn what_was_unknown_is_declared_when_it_is_carried_out(world: &World) {
    world.put_and_settle(LOGS, "logs", logs(7)).await;
    let unknown = json!({"LogGroupName": "logs", "RetentionInDays": {"$unknown": true}});
    let id = plan(world, unknown).await;
    let reply = carry_out(world, LOGS, &id).await.expect(409);
    assert_eq!(reply.code(), "PlanMismatch");
    let body = json!({"planId": id, "trackedBy": tracked_by(LOGS, "logs"), "properties": logs(14)});
    world.post(LOGS, "put", &body).await.expect(201);
    world.settle().await;
    assert_eq!(status(world, &id).await, "Applied");
    assert_eq!(world.calls("UpdateResource"), 1);
}

#[apply(on_every_store)]
async fn a_put_by_name_takes_a_plan_in_its_query(world: &World) {
    let resource =
        format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{LOGS}/logs");
    let body = json!({"properties": {"RetentionInDays": 7}});
    let what_if = call(world, "POST", &format!("{resource}/:whatIf"), body).await;
    let id = id_of(&what_if.expect(200).body["properties"]);
    let with_plan = format!("{resource}?planId={id}");
    let other = json!({"properties": {"RetentionInDays": 14}}).to_string();
    let reply = world.call("PUT", &with_plan, &other).await.expect(409);
    assert_eq!(reply.code(), "PlanMismatch");
    let elsewhere = with_plan.replace("/logs?", "/other?");
    let reply = world.call("PUT", &elsewhere, "").await.expect(409);
    assert_eq!(reply.code(), "PlanMismatch");
    world.call("PUT", &with_plan, "").await.expect(201);
    world.settle().await;
    assert_eq!(status(world, &id).await, "Applied");
    assert_eq!(world.aws.resources()[0].properties["RetentionInDays"], 7);
    let wrong = format!("{resource}?planId=none");
    world.call("PUT", &wrong, "").await.expect(400);
}

#[apply(on_every_store)]
async fn a_plan_is_approved_or_rejected(world: &World) {
    let planned = planned(world, logs(7)).await;
    let (id, fingerprint) = (id_of(&planned), &planned["fingerprint"]);
    let other = review(world, &id, "approve", &json!("another")).await;
    assert_eq!(other.expect(412).code(), "PreconditionFailed");
    let approved = review(world, &id, "approve", fingerprint).await.expect(200);
    let shown = &approved.body["properties"];
    assert_eq!(shown["status"], "Approved");
    let approval = &shown["approvals"][0];
    assert_eq!(approval["by"], "anonymous");
    assert_eq!(approval["comment"], "to approve");
    assert_eq!(shown["changes"], planned["changes"]);
    let again = review(world, &id, "approve", fingerprint).await.expect(200);
    assert_eq!(again.body, approved.body);

    let rejected = review(world, &id, "reject", fingerprint).await.expect(200);
    assert_eq!(rejected.body["properties"]["status"], "Rejected");
    assert_eq!(
        rejected.body["properties"]["rejection"]["comment"],
        "to reject"
    );
    review(world, &id, "reject", fingerprint).await.expect(200);
    let late = review(world, &id, "approve", fingerprint).await.expect(409);
    assert_eq!(late.code(), "Conflict");
    let used = carry_out(world, LOGS, &id).await.expect(409);
    assert_eq!(used.code(), "Conflict");
    for comment in [
        "x".repeat(1_025),
        "a\u{1b}[2J".to_owned(),
        "\u{202e}b".to_owned(),
    ] {
        let body = json!({"fingerprint": fingerprint, "comment": comment});
        let refused = call(world, "POST", &format!("{}/:approve", path(&id)), body).await;
        assert!(refused.expect(400).text.contains("/comment"));
    }
}

#[apply(on_every_store)]
async fn who_may_not_read_what_it_shows_sees_no_plan(kind: StoreKind) {
    let Some(builder) = World::builder().on(kind).await else {
        return;
    };
    let everything = ["/"];
    let grants = vec![
        grant("ann", Role::Owner, &everything),
        grant("app", Role::Approver, &everything),
        grant("con", Role::Contributor, &everything),
        grant("rea", Role::Reader, &everything),
        grant("grp", Role::Approver, &[GROUP]),
        grant("aws", Role::Approver, &["/planes/aws/aws"]),
        grant("con-grp", Role::Contributor, &[GROUP]),
        grant("con-aws", Role::Contributor, &["/planes/aws/aws"]),
    ];
    let world = builder.granting(grants).build().await;
    world.put_group_as("ann", "rg").await;
    let collection =
        format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{LOGS}");
    let body = json!({"trackedBy": tracked_by(LOGS, "logs"), "properties": logs(7)});
    let what_if = format!("{collection}/:whatIf");
    let asked = call_as(&world, "ann", "POST", &what_if, body).await;
    let planned = asked.expect(200).body["properties"].clone();
    let id = id_of(&planned);
    let by_name = format!("{collection}/logs/:whatIf");
    let untracked = world
        .call_as("ann", "POST", &by_name, "{}")
        .await
        .expect(200);
    let untracked = id_of(&untracked.body["properties"]);
    for (caller, reads, reads_untracked) in [
        ("ann", 200, 200),
        ("rea", 200, 200),
        ("grp", 404, 404),
        ("aws", 404, 200),
        ("nobody", 404, 404),
    ] {
        let read = world.call_as(caller, "GET", &path(&id), "").await;
        assert_eq!(read.status, reads, "{caller}");
        let read = world.call_as(caller, "GET", &path(&untracked), "").await;
        assert_eq!(read.status, reads_untracked, "{caller}");
    }
    let body = json!({"fingerprint": planned["fingerprint"]}).to_string();
    let approve = format!("{}/:approve", path(&id));
    for (caller, status) in [
        ("rea", 403),
        ("con", 403),
        ("aws", 404),
        ("app", 200),
        ("ann", 200),
    ] {
        let reply = world.call_as(caller, "POST", &approve, &body).await;
        assert_eq!(reply.status, status, "{caller}: {}", reply.text);
    }
    let reject = approve.replace(":approve", ":reject");
    let rejected = world.call_as("aws", "POST", &reject, &body).await;
    rejected.expect(404);
    let put = format!("{collection}/:put");
    let carried_out = json!({"planId": id});
    let refused = call_as(&world, "rea", "POST", &put, carried_out.clone()).await;
    refused.expect(403);
    let apply = format!("{GROUP}/:apply");
    for (caller, path) in [("con-aws", &put), ("con-grp", &apply)] {
        let hidden = call_as(&world, caller, "POST", path, carried_out.clone()).await;
        hidden.expect(404);
    }
    // Each is recorded as refused, whether there is something to hide or not.
    let nothing = format!("{:032x}", 1);
    world
        .call_as("aws", "GET", &path(&nothing), "")
        .await
        .expect(404);
    let audited = world.audited().await;
    let hidden = audited.iter().filter(|event| event.status == Some(404));
    let hidden: Vec<_> = hidden
        .map(|event| (event.caller.as_str(), event.outcome))
        .collect();
    let expected = [
        "grp", "grp", "aws", "nobody", "nobody", "aws", "aws", "con-aws", "con-grp", "aws",
    ];
    assert_eq!(
        hidden,
        expected.map(|caller| (caller, AuditOutcome::Refused))
    );
}

/// Asks for a plan of a put in a group.
async fn asked_for(world: &World, who: &str, group: &str) -> Reply {
    let reference = tracked_by(LOGS, "logs").replace("/rg/", &format!("/{group}/"));
    let body = json!({"trackedBy": reference, "properties": logs(7),
        "whatIfSettings": {"planLifetime": "PT60S"}});
    let collection =
        format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{LOGS}/:whatIf");
    world.clock.advance(Duration::from_secs(1));
    call_as(world, who, "POST", &collection, body).await
}

async fn is_kept(world: &World, who: &str, id: &str) -> bool {
    let reply = world.call_as(who, "GET", &path(id), "").await;
    assert!(reply.status == 200 || reply.status == 404, "{}", reply.text);
    reply.status == 200
}

#[apply(on_every_store)]
async fn a_caller_has_only_so_many_plans(kind: StoreKind) {
    let Some(builder) = World::builder().on(kind).await else {
        return;
    };
    let quotas = Quotas {
        caller_plan_bytes: 12 * 4_096,
        group_plan_bytes: 8 * 4_096,
        ..Quotas::default()
    };
    let owners = ["alice", "bob"].map(|name| grant(name, Role::Owner, &["/"]));
    let world = builder.quotas(quotas).granting(owners.to_vec());
    let world = world.build().await;
    world.put_group("rg").await;
    world.put_group("other").await;
    let ask = async |who: &str, group: &str| {
        let reply = asked_for(&world, who, group).await.expect(200);
        id_of(&reply.body["properties"])
    };
    let bobs = ask("bob", "rg").await;
    let elsewhere = ask("alice", "other").await;
    // What somebody has approved does not count and stays, so that it can be read how it came to be.
    let approved = ask("alice", "rg").await;
    let plan = world.call_as("alice", "GET", &path(&approved), "").await;
    let body = json!({"fingerprint": plan.expect(200).body["properties"]["fingerprint"]});
    let approve = format!("{}/:approve", path(&approved));
    let reply = call_as(&world, "alice", "POST", &approve, body).await;
    reply.expect(200);
    let mut theirs = Vec::new();
    for _ in 0..20 {
        theirs.push(ask("alice", "rg").await);
        assert!(is_kept(&world, "alice", &theirs[theirs.len() - 1]).await);
    }
    let count = async || {
        let mut kept = Vec::new();
        for id in &theirs {
            kept.push(is_kept(&world, "alice", id).await);
        }
        // The newest.
        assert!(kept.is_sorted(), "{kept:?}");
        kept.iter().filter(|is_kept| **is_kept).count()
    };
    let before = count().await;
    assert!((2..=8).contains(&before), "{before}");
    assert!(is_kept(&world, "alice", &elsewhere).await);
    // Those of all groups are counted too.
    for _ in 0..20 {
        ask("alice", "other").await;
    }
    assert!(count().await < before);
    assert!(!is_kept(&world, "alice", &elsewhere).await);
    for (who, id) in [("alice", &approved), ("bob", &bobs)] {
        assert!(is_kept(&world, who, id).await, "{who}");
    }
}

/// Whoever is not authenticated does not remove the plans of others who are not.
#[apply(on_every_store)]
async fn the_plans_of_nobody_make_room_when_they_expire(kind: StoreKind) {
    let Some(builder) = World::builder().on(kind).await else {
        return;
    };
    let quotas = Quotas {
        group_plan_bytes: 8 * 4_096,
        ..Quotas::default()
    };
    let world = &builder.quotas(quotas).build().await;
    world.put_group("rg").await;
    let first = id_of(&asked_for(world, "", "rg").await.expect(200).body["properties"]);
    let mut asked = 1;
    let refused = loop {
        let reply = asked_for(world, "", "rg").await;
        if reply.status != 200 {
            break reply.expect(429);
        }
        asked += 1;
        assert!(asked < 20);
    };
    assert_eq!(refused.code(), "QuotaExceeded");
    assert!(asked > 1);
    assert!(is_kept(world, "", &first).await);
    // Those that have expired make room.
    world.clock.advance(Duration::from_secs(60));
    asked_for(world, "", "rg").await.expect(200);
    assert!(!is_kept(world, "", &first).await);
}

/// Whoever may only read leaves nothing behind for a week.
#[tokio::test]
async fn the_plan_of_a_reader_lives_for_a_day() {
    let grants = [
        grant("alice", Role::Owner, &["/"]),
        grant("carol", Role::Reader, &["/"]),
    ];
    let world = World::builder().granting(grants.to_vec()).build().await;
    world.put_group("rg").await;
    let body = json!({"trackedBy": tracked_by(LOGS, "logs"), "properties": logs(7),
        "whatIfSettings": {"planLifetime": "P7D"}});
    let collection =
        format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{LOGS}/:whatIf");
    for (who, days) in [("alice", 7), ("carol", 1)] {
        let reply = call_as(&world, who, "POST", &collection, body.clone()).await;
        let id = id_of(&reply.expect(200).body["properties"]);
        let last = world
            .clock
            .now()
            .after(Duration::from_secs(days * 86_400 - 2));
        let plan = world.call_as(who, "GET", &path(&id), "").await.expect(200);
        let expires: Timestamp = plan.body["properties"]["expiresAt"]
            .as_str()
            .and_then(|text| text.parse().ok())
            .expect("a time");
        assert!(
            expires > last && expires <= last.after(Duration::from_secs(2)),
            "{who}: {expires}"
        );
    }
}

/// What is too large to be kept is shown nevertheless.
#[tokio::test]
async fn a_plan_that_is_too_large_is_not_kept() {
    let world = &World::builder().build().await;
    world.put_group("rg").await;
    world.put_and_settle(LOGS, "logs", logs(7)).await;
    let policy = |text: String| json!({"DataProtectionPolicy": {"Description": text}});
    // A plan has it before and after, as it is shown and as it is compared.
    change_outside(world, &policy("x".repeat(5 << 20)));
    let body = json!({"trackedBy": tracked_by(LOGS, "logs"), "properties": logs(14)});
    let reply = world.post(LOGS, "whatIf", &body).await.expect(200);
    assert_eq!(reply.body["status"], "Succeeded");
    let told = &reply.body["properties"];
    for member in ["planId", "fingerprint", "expiresAt"] {
        assert_eq!(told[member], Value::Null, "{member}");
    }
    let change = &told["changes"][0];
    assert_eq!(change["changeType"], "Modify");
    assert_eq!(change["warnings"][0]["code"], "PlanNotKept");
    change_outside(world, &policy("short".to_owned()));
    let told = planned(world, logs(14)).await;
    assert_eq!(status(world, &id_of(&told)).await, "Pending");
}

/// What is declared is sealed, found by whoever rotates the key, and erased at the end. Nothing shows a write-only value.
#[apply(on_every_store)]
async fn a_plan_keeps_its_secrets(world: &World) {
    let canary = "a-canary-of-a-plan";
    let secret = |value: &str| json!({"Name": "s", "SecretString": value});
    world.put_and_settle(SECRET, "s", secret("before")).await;
    let body = json!({"trackedBy": tracked_by(SECRET, "s"), "properties": secret(canary)});
    let asked = async || {
        let reply = world.post(SECRET, "whatIf", &body).await.expect(200);
        assert!(!reply.text.contains(canary), "{}", reply.text);
        id_of(&reply.body["properties"])
    };
    let stored = async |id: &str| {
        let plan = world.store.get_plan(id.parse().expect("an id")).await;
        plan.expect("the store answers").expect("a plan")
    };
    let (used, expired) = (asked().await, asked().await);
    for id in [&used, &expired] {
        let reply = world.get(&path(id)).await.expect(200);
        assert!(!reply.text.contains(canary), "{}", reply.text);
        let plan = stored(id).await;
        for sealed in [Some(plan.content), plan.declared].into_iter().flatten() {
            assert!(!String::from_utf8_lossy(&sealed.0).contains(canary));
        }
    }
    let sealed = world.store.list_sealed(None, 100).await;
    let of_plans = sealed.expect("the store answers").into_iter();
    let of_plans = of_plans.filter(|(place, _)| format!("{place:?}").starts_with("Plan"));
    assert_eq!(of_plans.count(), 4);

    // Nobody finds out by guessing what is declared.
    let guess = json!({"trackedBy": tracked_by(SECRET, "s"), "properties": secret("a guess")});
    let guessed = world.post(SECRET, "whatIf", &guess).await.expect(200);
    let print = &read(world, &used).await["fingerprint"];
    assert_eq!(&guessed.body["properties"]["fingerprint"], print);

    carry_out(world, SECRET, &used).await.expect(201);
    assert_eq!(stored(&used).await.declared, None);
    world.settle().await;
    assert_eq!(status(world, &used).await, "Applied");
    world.clock.advance(Duration::from_secs(3_600));
    world.sweep(Duration::from_secs(3_600)).await;
    assert_eq!(stored(&expired).await.declared, None);
    assert_eq!(status(world, &expired).await, "Expired");
    world.clock.advance(Duration::from_secs(3_601));
    world.sweep(Duration::from_secs(3_600)).await;
    for id in [&used, &expired] {
        world.get(&path(id)).await.expect(404);
    }
}
