//! Plans that were made for another state: nothing is sent.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::json;
use ucp_model::Clock as _;
use ucp_simulator::faults::{Effect, fault, refuse};
use ucp_simulator::{Action, ExceptionCode, HandlerErrorCode};
use ucp_testkit::{GROUP, StoreKind, World, apply, on_every_store, tracked_by};

use crate::retries::fail_once;
use crate::sets::{send, set};

use super::{LOGS, VPC, carry_out, change_outside, codes, id_of, logs, plan, refused, status};

/// The plan of an update of what is there.
async fn update(world: &World) -> String {
    world.put_and_settle(LOGS, "logs", logs(7)).await;
    plan(world, logs(14)).await
}

#[apply(on_every_store)]
async fn a_hot_fix_is_not_overwritten(world: &World) {
    let id = update(world).await;
    change_outside(world, &json!({"RetentionInDays": 30}));
    let reply = carry_out(world, LOGS, &id).await.expect(412);
    assert_eq!(reply.code(), "StalePlan");
    assert_eq!(
        codes(&reply.body["error"]),
        [("LiveStateChanged", "/properties/RetentionInDays")]
    );
    assert_eq!(world.calls("UpdateResource"), 0);
    // It was not used.
    assert_eq!(status(world, &id).await, "Pending");
    change_outside(world, &json!({"RetentionInDays": 7}));
    carry_out(world, LOGS, &id).await.expect(201);
    world.settle().await;
    assert_eq!(status(world, &id).await, "Applied");
}

#[apply(on_every_store)]
async fn what_was_put_since_is_not_overwritten(world: &World) {
    let id = update(world).await;
    world.put_and_settle(LOGS, "logs", logs(30)).await;
    refused(carry_out(world, LOGS, &id).await, "LastAppliedChanged");
    world.put_and_settle(LOGS, "logs", logs(7)).await;
    // All is as it was.
    carry_out(world, LOGS, &id).await.expect(201);
    world.settle().await;
}

#[apply(on_every_store)]
async fn a_new_alias_must_still_be_new(world: &World) {
    let id = plan(world, logs(7)).await;
    world.put_and_settle(LOGS, "logs", logs(7)).await;
    refused(carry_out(world, LOGS, &id).await, "MappingChanged");

    let body =
        json!({"trackedBy": tracked_by(VPC, "net"), "properties": {"CidrBlock": "10.0.0.0/16"}});
    let planned = world.post(VPC, "whatIf", &body).await.expect(200);
    let id = id_of(&planned.body["properties"]);
    world.post(VPC, "put", &body).await.expect(201);
    let busy = carry_out(world, VPC, &id).await;
    assert_eq!(busy.expect(409).code(), "Conflict");
    world.settle().await;
    refused(carry_out(world, VPC, &id).await, "MappingChanged");
    assert_eq!(world.calls("CreateResource"), 2);
}

#[apply(on_every_store)]
async fn another_resource_of_that_name_is_not_adopted(world: &World) {
    let id = plan(world, logs(7)).await;
    let body = json!({"properties": {"LogGroupName": "logs"}});
    world.post(LOGS, "put", &body).await.expect(201);
    world.settle().await;
    refused(carry_out(world, LOGS, &id).await, "LiveStateChanged");
    assert_eq!(world.calls("UpdateResource"), 0);
}

/// A delete does not take what the alias has come to stand for, although AWS does not show that yet.
#[apply(on_every_store)]
async fn another_resource_is_not_deleted(world: &World) {
    let block = json!({"CidrBlock": "10.0.0.0/16"});
    world.put_and_settle(VPC, "net", block.clone()).await;
    let delete = set(json!([{"alias": "net", "type": VPC, "delete": true}]));
    let planned = send(world, "whatIf", &delete).await.expect(200);
    let id = id_of(&planned.body["properties"]);
    let path = tracked_by(VPC, "net");
    world.call("DELETE", &path, "").await.expect(202);
    world.settle().await;
    world.put_and_settle(VPC, "net", block).await;
    let not_found = fault(refuse(ExceptionCode::ResourceNotFound));
    world.aws.add_fault(not_found.on(Action::GetResource));
    let path = format!("{path}?planId={id}");
    refused(world.call("DELETE", &path, "").await, "MappingChanged");
    let reply = send(world, "apply", &json!({"planId": id})).await;
    refused(reply, "MappingChanged");
    assert_eq!(world.live("AWS::EC2::VPC").len(), 1);
}

/// What changes after the request has looked is seen by the worker, before its intent.
#[apply(on_every_store)]
async fn a_worker_sees_what_the_request_did_not(kind: StoreKind) {
    let Some(builder) = World::builder().on(kind).await else {
        return;
    };
    let world = builder
        .verdict_wait(std::time::Duration::ZERO)
        .build()
        .await;
    world.put_group("rg").await;
    let id = update(&world).await;
    let reply = world
        .send_without_waiting("POST", &put_path(), &json!({"planId": id}).to_string())
        .await
        .expect(201);
    change_outside(&world, &json!({"RetentionInDays": 30}));
    world.settle().await;
    let ended = world.status(&reply).await;
    assert_eq!(ended["status"], "Failed", "{ended}");
    assert_eq!(ended["error"]["code"], "StalePlan");
    assert_eq!(
        codes(&ended["error"]),
        [("LiveStateChanged", "/properties/RetentionInDays")]
    );
    assert_eq!(world.calls("UpdateResource"), 0);
    assert_eq!(status(&world, &id).await, "Stale");
    refused(carry_out(&world, LOGS, &id).await, "AlreadyApplied");
}

fn put_path() -> String {
    format!("{}/providers/{LOGS}/:put", crate::sets::scope())
}

/// A reply that is lost never leads to a second patch.
#[apply(on_every_store)]
async fn a_lost_reply_never_leads_to_a_second_patch(world: &World) {
    let id = update(world).await;
    let lost = fault(Effect::DropReply {}).on(Action::UpdateResource);
    world.aws.add_fault(lost.times(1));
    world.expect_log("the call did not succeed");
    let reply = carry_out(world, LOGS, &id).await.expect(201);
    world.settle().await;
    let ended = world.status(&reply).await;
    assert_eq!(ended["status"], "Succeeded", "{ended}");
    assert_eq!(status(world, &id).await, "Applied");
    assert_eq!(world.aws.resources()[0].properties["RetentionInDays"], 14);
    // What is sent again under its token is one update.
    let log = world.aws.log().into_iter();
    let updates = log.filter(|call| call.operation == Action::UpdateResource);
    let tokens: BTreeSet<Option<String>> = updates.map(|call| call.client_token).collect();
    assert_eq!(tokens.len(), 1, "{tokens:?}");
}

/// AWS reports that a planned change has failed, for a reason that passes. If it was made nevertheless, it is as planned and
/// is not made again. If not, it is made.
#[apply(on_every_store)]
async fn what_was_made_in_spite_of_an_error_is_as_planned(world: &World) {
    use HandlerErrorCode::{NetworkFailure, NotStabilized, ServiceInternalError, ServiceTimeout};
    let codes = [
        NetworkFailure,
        NotStabilized,
        ServiceInternalError,
        ServiceTimeout,
    ];
    for (index, code) in codes.into_iter().enumerate() {
        for (is_made, is_set) in [(true, false), (true, true), (false, false), (false, true)] {
            for (call, name, days) in [
                (Action::CreateResource, "CreateResource", Some(7)),
                (Action::UpdateResource, "UpdateResource", Some(14)),
                (Action::DeleteResource, "DeleteResource", None),
            ] {
                let alias = format!("logs-{index}-{is_made}-{is_set}");
                // Otherwise nobody can tell that it was not made.
                let is_made = is_made
                    || code == NotStabilized
                    || code == ServiceTimeout && call == Action::CreateResource;
                let cell = format!("{code} of {name}, made {is_made}, set {is_set}");
                let member = match days {
                    Some(days) => json!({"alias": alias, "type": LOGS,
                        "properties": {"LogGroupName": alias, "RetentionInDays": days}}),
                    None => json!({"alias": alias, "type": LOGS, "delete": true}),
                };
                let planned = send(world, "whatIf", &set(json!([member]))).await;
                let id = id_of(&planned.expect(200).body["properties"]);
                fail_once(world, call, code, is_set || code == NotStabilized, is_made);
                let before = world.calls(name);
                let tracked_by = tracked_by(LOGS, &alias);
                let one = json!({"planId": id, "trackedBy": tracked_by});
                let reply = match (is_set, days) {
                    (true, _) => send(world, "apply", &json!({ "planId": id })).await,
                    (false, Some(_)) => world.post(LOGS, "put", &one).await,
                    (false, None) => world.post(LOGS, "delete", &one).await,
                };
                assert!([201, 202].contains(&reply.status), "{cell}: {}", reply.text);
                world.settle().await;
                let ended = world.status(&reply).await;
                assert_eq!(ended["status"], "Succeeded", "{cell}: {ended}");
                assert_eq!(status(world, &id).await, "Applied", "{cell}");
                // A delete is sent again in any case: only the answer of AWS tells that it is gone.
                if call != Action::DeleteResource {
                    let calls = world.calls(name) - before;
                    assert_eq!(calls, if is_made { 1 } else { 2 }, "{cell}");
                }
            }
        }
    }
    assert_eq!(world.aws.resources().len(), 0);
}

/// Of two requests with the same plan, which find it unused, the one that comes second learns that it is used.
#[apply(on_every_store)]
async fn a_plan_that_is_used_meanwhile_is_used(world: &World) {
    for is_set in [false, true] {
        let (path, id) = if is_set {
            world.put_and_settle(LOGS, "logs", logs(7)).await;
            let members = json!([{"alias": "logs", "type": LOGS, "properties": logs(14)}]);
            let planned = send(world, "whatIf", &set(members)).await.expect(200);
            let id = id_of(&planned.body["properties"]);
            (format!("{GROUP}/:apply"), id)
        } else {
            (put_path(), update(world).await)
        };
        let body = json!({ "planId": id }).to_string();
        world.hold_next_accept();
        let second = world.send_without_waiting("POST", &path, &body);
        let first = async {
            world.is_accept_held().await;
            let first = world.send_without_waiting("POST", &path, &body).await;
            world.release_accepts();
            first
        };
        let (second, first) = tokio::join!(second, first);
        assert!([201, 202].contains(&first.status), "{}", first.text);
        refused(second, "AlreadyApplied");
        world.settle().await;
    }
    assert_eq!(world.calls("UpdateResource"), 3);
}

/// A request whose reply was lost is sent again, and the plan is used while it looks: what it has seen differs, and is not why
/// it is refused.
#[apply(on_every_store)]
async fn a_plan_that_is_used_during_the_look_is_used(world: &World) {
    let resource = format!("{}/providers/{LOGS}", crate::sets::scope());
    for case in ["put", "delete", "apply", "PUT", "DELETE"] {
        world.put_and_settle(LOGS, "logs", logs(7)).await;
        let planned = match case {
            "put" => {
                let body = json!({"trackedBy": tracked_by(LOGS, "logs"), "properties": logs(14)});
                world.post(LOGS, "whatIf", &body).await
            }
            "PUT" => {
                let path = format!("{resource}/logs/:whatIf");
                let body = json!({"properties": logs(14)}).to_string();
                world.call("POST", &path, &body).await
            }
            _ => {
                let delete = json!([{"alias": "logs", "type": LOGS, "delete": true}]);
                send(world, "whatIf", &set(delete)).await
            }
        };
        let id = id_of(&planned.expect(200).body["properties"]);
        let (method, path) = match case {
            "put" | "delete" => ("POST", format!("{resource}/:{case}")),
            "apply" => ("POST", format!("{GROUP}/:apply")),
            "PUT" => ("PUT", format!("{resource}/logs?planId={id}")),
            _ => (
                "DELETE",
                format!("{}?planId={id}", tracked_by(LOGS, "logs")),
            ),
        };
        let body = match method {
            "POST" => json!({ "planId": id }).to_string(),
            _ => String::new(),
        };
        change_outside(world, &json!({"RetentionInDays": 30}));
        world.hold_next_read();
        let second = world.call(method, &path, &body);
        let first = async {
            world.is_read_held().await;
            change_outside(world, &json!({"RetentionInDays": 7}));
            let first = world.send_without_waiting(method, &path, &body).await;
            world.release_reads();
            first
        };
        let (second, first) = tokio::join!(second, first);
        let is_accepted = [201, 202].contains(&first.status);
        assert!(is_accepted, "{case}: {}", first.text);
        let second = second.expect(412);
        assert_eq!(second.code(), "StalePlan", "{case}: {}", second.text);
        let found = codes(&second.body["error"]);
        assert_eq!(found, [("AlreadyApplied", "")], "{case}");
        world.settle().await;
        assert_eq!(status(world, &id).await, "Applied", "{case}");
    }
}

/// The clock of the process that erases may be ahead.
#[tokio::test]
async fn what_was_erased_has_expired() {
    let world = World::builder().build().await;
    world.put_group("rg").await;
    let single = plan(&world, logs(7)).await;
    let members = json!([{"alias": "logs", "type": LOGS, "properties": logs(7)}]);
    let asked = send(&world, "whatIf", &set(members)).await.expect(200);
    let whole = id_of(&asked.body["properties"]);
    let later = world.clock.now().after(Duration::from_secs(3_600));
    let erased = world.store.erase_expired_plans(later, 10).await;
    assert_eq!(erased.expect("the store answers"), 2);
    assert_eq!(status(&world, &single).await, "Pending");
    refused(carry_out(&world, LOGS, &single).await, "Expired");
    let apply = json!({ "planId": whole });
    refused(send(&world, "apply", &apply).await, "Expired");
}
