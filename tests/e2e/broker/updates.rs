//! Changing instances.

use serde_json::{Value, json};
use ucp_simulator::faults::{fail, fault, refuse};
use ucp_simulator::{Action, ExceptionCode, HandlerErrorCode};
use ucp_testkit::{World, apply, on_every_store};

use super::*;

fn update(parameters: Value) -> Value {
    json!({"service_id": LOGS, "parameters": parameters})
}

async fn parameters(world: &World, instance: &str) -> Value {
    let shown = get(world, &at(instance)).await.expect(200).body;
    shown["parameters"].clone()
}

#[apply(on_every_store)]
async fn parameters_change_and_those_left_out_stay(world: &World) {
    logs(world, "one", json!({"note": "mine", "class": "STANDARD"})).await;
    let patch = update(json!({"retention": 30, "class": "STANDARD"}));
    assert_eq!(
        change(world, "PATCH", &at("one"), &patch).await,
        succeeded()
    );
    assert_eq!(
        parameters(world, "one").await,
        json!({"retention": 30, "class": "STANDARD", "note": "mine"})
    );
    assert_eq!(live(world, "AWS::Logs::LogGroup")[0]["RetentionInDays"], 30);
    let patch = update(json!({"retention": null, "note": null}));
    assert_eq!(
        change(world, "PATCH", &at("one"), &patch).await,
        succeeded()
    );
    assert_eq!(
        parameters(world, "one").await,
        json!({"retention": 7, "class": "STANDARD"})
    );
    assert_eq!(live(world, "AWS::Logs::LogGroup")[0]["RetentionInDays"], 7);
    let path = format!("{}?accepts_incomplete=true", at("one"));
    let fixed = ask(
        world,
        "PATCH",
        &path,
        &update(json!({"class": "INFREQUENT_ACCESS"})),
    )
    .await;
    refused(&fixed, 422, "ParameterNotUpdatable");
    assert_eq!(fixed.body["update_repeatable"], false);
    let wrong = ask(
        world,
        "PATCH",
        &path,
        &update(json!({"retention": "x", "other": 1})),
    )
    .await;
    refused(&wrong, 400, "BadRequest");
    let said = wrong.body["description"].as_str().unwrap();
    assert!(
        said.contains("retention") && said.contains("other"),
        "{said}"
    );
}

#[apply(on_every_store)]
async fn what_changes_nothing_is_done_at_once_but_for_the_name(world: &World) {
    logs(world, "one", json!({})).await;
    for same in [
        update(json!({})),
        update(json!({"retention": 7})),
        json!({"service_id": LOGS, "plan_id": SMALL}),
    ] {
        let reply = ask(world, "PATCH", &at("one"), &same).await.expect(200);
        assert_eq!(reply.body, json!({}));
    }
    let renamed = json!({"service_id": LOGS, "context": {"instance_name": "other"}, "previous_values": {"plan_id": "?"}});
    ask(world, "PATCH", &at("one"), &renamed).await.expect(200);
    let path = "/planes/radius/local/resourceGroups/cf-space?api-version=2023-10-01-preview";
    let group = world.get(path).await.expect(200).body;
    for reference in group["resources"].as_array().unwrap() {
        assert_eq!(reference["tags"]["osb-instance-name"], "other");
    }
}

#[apply(on_every_store)]
async fn a_plan_changes_along_its_edges(world: &World) {
    logs(world, "one", json!({"retention": 30})).await;
    let large =
        json!({"service_id": LOGS, "plan_id": LARGE, "maintenance_info": {"version": "2.0.0"}});
    assert_eq!(
        change(world, "PATCH", &at("one"), &large).await,
        succeeded()
    );
    let shown = get(world, &at("one")).await.expect(200).body;
    assert_eq!(
        (&shown["plan_id"], &shown["parameters"]),
        (&json!(LARGE), &json!({}))
    );
    assert_eq!(shown["maintenance_info"]["version"], "2.0.0");
    assert_eq!(
        live(world, "AWS::Logs::LogGroup")[0]["RetentionInDays"],
        365
    );
    let path = format!("{}?accepts_incomplete=true", at("one"));
    let back = ask(
        world,
        "PATCH",
        &path,
        &json!({"service_id": LOGS, "plan_id": SMALL}),
    )
    .await;
    refused(&back, 422, "PlanChangeNotSupported");
    assert_eq!(back.body["update_repeatable"], false);
}

#[apply(on_every_store)]
async fn a_plan_that_may_lose_data_replaces_what_it_has_to(world: &World) {
    let made = change(world, "PUT", &at("one"), &order(NET, "net-ten", json!({}))).await;
    assert_eq!(made, succeeded());
    let binding = json!({"service_id": NET, "plan_id": "net-ten"});
    let before = wait(world, "PUT", &bound("one", "b"), &binding).await;
    let before = before.expect(201).body;
    let patch = json!({"service_id": NET, "plan_id": "net-twenty"});
    assert_eq!(
        change(world, "PATCH", &at("one"), &patch).await,
        succeeded()
    );
    let vpcs = live(world, "AWS::EC2::VPC");
    assert_eq!(vpcs.len(), 1);
    assert_eq!(vpcs[0]["CidrBlock"], "10.20.0.0/16");
    // The binding hands out the new one.
    let after = get(world, &bound("one", "b")).await.expect(200).body;
    assert_eq!(after["credentials"]["vpc"], vpcs[0]["VpcId"]);
    assert_ne!(after["credentials"], before["credentials"]);
}

#[apply(on_every_store)]
async fn the_version_of_the_plan_is_judged(world: &World) {
    let mut body = order(LOGS, SMALL, json!({}));
    body["maintenance_info"] = json!({"version": "0.9.0"});
    let path = format!("{}?accepts_incomplete=true", at("one"));
    refused(
        &ask(world, "PUT", &path, &body).await,
        422,
        "MaintenanceInfoConflict",
    );
    body["maintenance_info"] = json!({"version": "1.0.0"});
    assert_eq!(change(world, "PUT", &at("one"), &body).await, succeeded());
    let wrong = json!({"service_id": LOGS, "maintenance_info": {"version": "2.0.0"}});
    refused(
        &ask(world, "PATCH", &path, &wrong).await,
        422,
        "MaintenanceInfoConflict",
    );
    let right = json!({"service_id": LOGS, "maintenance_info": {"version": "1.0.0"}});
    ask(world, "PATCH", &path, &right).await.expect(200);
}

#[apply(on_every_store)]
async fn bindings_that_would_not_see_an_update_prevent_it(world: &World) {
    logs(world, "one", json!({})).await;
    wait(world, "PUT", &bound("one", "b"), &bind_logs())
        .await
        .expect(201);
    let path = format!("{}?accepts_incomplete=true", at("one"));
    let blocked = ask(world, "PATCH", &path, &update(json!({"retention": 30}))).await;
    refused(&blocked, 422, "BindingsExist");
    ask(world, "PATCH", &path, &update(json!({"retention": 7})))
        .await
        .expect(200);
}

#[apply(on_every_store)]
async fn one_change_runs_at_a_time(world: &World) {
    logs(world, "one", json!({})).await;
    let patch = update(json!({"retention": 30}));
    let operation = begin(world, "PATCH", &at("one"), &patch).await;
    assert_eq!(begin(world, "PATCH", &at("one"), &patch).await, operation);
    let path = format!("{}?accepts_incomplete=true", at("one"));
    let other = ask(world, "PATCH", &path, &update(json!({"retention": 14}))).await;
    refused(&other, 422, "ConcurrencyError");
    let same = order(LOGS, SMALL, json!({}));
    refused(
        &ask(world, "PUT", &path, &same).await,
        422,
        "ConcurrencyError",
    );
    let gone = format!(
        "{}?service_id={LOGS}&plan_id={SMALL}&accepts_incomplete=true",
        at("one")
    );
    refused(
        &ask(world, "DELETE", &gone, &Value::Null).await,
        422,
        "ConcurrencyError",
    );
    let path = format!("{}?accepts_incomplete=true", bound("one", "b"));
    refused(
        &ask(world, "PUT", &path, &bind_logs()).await,
        422,
        "ConcurrencyError",
    );
    world.settle().await;
    assert_eq!(last(world, &at("one"), &operation).await, succeeded());
}

#[apply(on_every_store)]
async fn a_failed_update_says_whether_the_instance_can_be_used(world: &World) {
    logs(world, "one", json!({})).await;
    for (code, repeatable) in [
        (HandlerErrorCode::ServiceInternalError, true),
        (HandlerErrorCode::AccessDenied, false),
    ] {
        let refusal = fault(fail(code).saying("No.")).on(Action::UpdateResource);
        world.aws.add_fault(refusal.of_type("AWS::Logs::LogGroup"));
        let failed = change(
            world,
            "PATCH",
            &at("one"),
            &update(json!({"retention": 30})),
        )
        .await;
        assert_eq!(failed["state"], "failed", "{failed}");
        assert_eq!(
            (&failed["instance_usable"], &failed["update_repeatable"]),
            (&json!(true), &json!(repeatable)),
            "{failed}"
        );
        world.aws.clear_faults();
        assert_eq!(parameters(world, "one").await, json!({"retention": 7}));
    }
    // The same again is no longer nothing.
    assert_eq!(
        change(world, "PATCH", &at("one"), &update(json!({}))).await,
        succeeded()
    );
    let done = change(
        world,
        "PATCH",
        &at("one"),
        &update(json!({"retention": 30})),
    )
    .await;
    assert_eq!(done, succeeded());
}

#[apply(on_every_store)]
async fn an_update_renews_what_bindings_hand_out(world: &World) {
    bucket(world, "one").await;
    assert_eq!(
        change(world, "PUT", &bound("one", "b"), &bind_bucket()).await,
        succeeded()
    );
    let before = get(world, &bound("one", "b")).await.expect(200).body;
    let gold = json!({"service_id": BUCKET, "plan_id": GOLD});
    assert_eq!(change(world, "PATCH", &at("one"), &gold).await, succeeded());
    let after = get(world, &bound("one", "b")).await.expect(200).body;
    assert_eq!(after["credentials"], before["credentials"]);
    assert_eq!(
        live(world, "AWS::S3::Bucket")[0]["VersioningConfiguration"]["Status"],
        "Enabled"
    );
}

/// A binding whose own resources are gone from AWS does not keep its instance from being updated.
#[apply(on_every_store)]
async fn a_binding_that_is_lost_keeps_nobody_from_an_update(world: &World) {
    bucket(world, "one").await;
    for binding in ["b", "c"] {
        let made = change(world, "PUT", &bound("one", binding), &bind_bucket()).await;
        assert_eq!(made, succeeded());
    }
    let before = get(world, &bound("one", "b")).await.expect(200).body;
    let role = live(world, "AWS::IAM::Role");
    let name = role[0]["RoleName"].as_str().expect("a name");
    world.vanish("AWS::IAM::Role", name);
    let gold = json!({"service_id": BUCKET, "plan_id": GOLD});
    assert_eq!(change(world, "PATCH", &at("one"), &gold).await, succeeded());
    assert_eq!(live(world, "AWS::IAM::Role").len(), 1);
    let after = get(world, &bound("one", "b")).await.expect(200).body;
    assert_eq!(after["credentials"], before["credentials"]);
}

#[apply(on_every_store)]
async fn what_has_a_name_is_deleted_before_it_is_replaced(world: &World) {
    let made = change(
        world,
        "PUT",
        &at("one"),
        &order(NAMED, "named-a", json!({})),
    )
    .await;
    assert_eq!(made, succeeded());
    let patch = json!({"service_id": NAMED, "plan_id": "named-b"});
    assert_eq!(
        change(world, "PATCH", &at("one"), &patch).await,
        succeeded()
    );
    let topics = live(world, "AWS::SQS::Queue");
    assert_eq!(topics.len(), 1);
    assert_eq!(
        (&topics[0]["QueueName"], &topics[0]["FifoQueue"]),
        (&json!("osb-one.fifo"), &json!(true))
    );
}

#[apply(on_every_store)]
async fn a_failed_update_goes_on_by_a_put_too(world: &World) {
    logs(world, "one", json!({})).await;
    let refusal = fault(fail(HandlerErrorCode::ServiceInternalError).saying("No."));
    world.aws.add_fault(
        refusal
            .on(Action::UpdateResource)
            .of_type("AWS::Logs::LogGroup"),
    );
    let patch = json!({"service_id": LOGS, "plan_id": LARGE});
    assert_eq!(
        change(world, "PATCH", &at("one"), &patch).await["state"],
        "failed"
    );
    world.aws.clear_faults();
    let put = order(LOGS, LARGE, json!({}));
    assert_eq!(change(world, "PUT", &at("one"), &put).await, succeeded());
    assert_eq!(
        get(world, &at("one")).await.expect(200).body["plan_id"],
        LARGE
    );
    assert_eq!(
        live(world, "AWS::Logs::LogGroup")[0]["RetentionInDays"],
        365
    );
}

#[tokio::test]
async fn an_update_renews_all_bindings_that_an_instance_may_have() {
    let world = World::builder().build().await;
    let made = change(&world, "PUT", &at("one"), &order(NET, "net-ten", json!({}))).await;
    assert_eq!(made, succeeded());
    let binding = json!({"service_id": NET, "plan_id": "net-ten"});
    for number in 0..ucp_store::BINDINGS_MAX {
        let path = bound("one", &format!("b{number}"));
        wait(&world, "PUT", &path, &binding).await.expect(201);
    }
    let more = wait(&world, "PUT", &bound("one", "more"), &binding).await;
    refused(&more, 403, "QuotaExceeded");
    let patch = json!({"service_id": NET, "plan_id": "net-twenty"});
    assert_eq!(
        change(&world, "PATCH", &at("one"), &patch).await,
        succeeded()
    );
    let vpc = live(&world, "AWS::EC2::VPC").remove(0);
    for number in [0, ucp_store::BINDINGS_MAX - 1] {
        let shown = get(&world, &bound("one", &format!("b{number}")))
            .await
            .expect(200)
            .body;
        assert_eq!(shown["credentials"]["vpc"], vpc["VpcId"]);
    }
    world.finish().await;
}

/// The context tells nothing of the plan's version.
#[apply(on_every_store)]
async fn a_context_is_noted_whatever_the_version_of_the_plan(world: &World) {
    logs(world, "one", json!({})).await;
    let raised = (
        "logs.toml",
        "maintenance.version = \"1.0.0\"",
        "maintenance.version = \"1.1.0\"",
    );
    world.offer(&[raised]);
    let path = format!("{}?accepts_incomplete=true", at("one"));
    for plan in [Value::Null, json!(SMALL)] {
        let mut renamed = json!({"service_id": LOGS, "context": {"instance_name": "other"}});
        if !plan.is_null() {
            renamed["plan_id"] = plan;
        }
        ask(world, "PATCH", &path, &renamed).await.expect(200);
    }
    let behind = ask(world, "PATCH", &path, &update(json!({"retention": 30}))).await;
    refused(&behind, 422, "MaintenanceInfoConflict");
    // While a change runs, it waits for that.
    let raise = json!({"service_id": LOGS, "maintenance_info": {"version": "1.1.0"}});
    ask(world, "PATCH", &path, &raise).await.expect(202);
    let renamed = json!({"service_id": LOGS, "context": {"instance_name": "third"}});
    let meanwhile = ask(world, "PATCH", &path, &renamed).await;
    refused(&meanwhile, 422, "ConcurrencyError");
    world.settle().await;
}

/// It asks for nothing that could fail again.
#[apply(on_every_store)]
async fn a_context_is_noted_whatever_came_of_the_last_change(world: &World) {
    logs(world, "one", json!({})).await;
    let refusal = fault(fail(HandlerErrorCode::AccessDenied).saying("No."));
    world.aws.add_fault(refusal.on(Action::UpdateResource));
    let patch = update(json!({"retention": 30}));
    let failed = change(world, "PATCH", &at("one"), &patch).await;
    assert_eq!(failed["state"], "failed", "{failed}");
    world.aws.clear_faults();
    let raised = (
        "logs.toml",
        "maintenance.version = \"1.0.0\"",
        "maintenance.version = \"1.1.0\"",
    );
    world.offer(&[raised]);
    let updates = world.calls("UpdateResource");
    let path = format!("{}?accepts_incomplete=true", at("one"));
    let renamed = json!({"service_id": LOGS, "context": {"instance_name": "other"}});
    ask(world, "PATCH", &path, &renamed).await.expect(200);
    world.settle().await;
    assert_eq!(world.calls("UpdateResource"), updates);
    let group = "/planes/radius/local/resourceGroups/cf-space?api-version=2023-10-01-preview";
    let group = world.get(group).await.expect(200).body;
    for reference in group["resources"].as_array().expect("resources") {
        assert_eq!(reference["tags"]["osb-instance-name"], "other");
    }
    // What came of the last change is told as before.
    let last = get(world, &format!("{}/last_operation", at("one"))).await;
    assert_eq!(last.expect(200).body["state"], "failed");
    // Without a context it would put what was applied last.
    let same = json!({"service_id": LOGS});
    let behind = ask(world, "PATCH", &path, &same).await;
    refused(&behind, 422, "MaintenanceInfoConflict");
}

/// There is nothing to change.
#[apply(on_every_store)]
async fn what_was_never_made_is_not_updated(world: &World) {
    let refusal = fault(fail(HandlerErrorCode::AccessDenied).saying("No."));
    world.aws.add_fault(refusal.on(Action::CreateResource));
    let failed = change(world, "PUT", &at("one"), &order(LOGS, SMALL, json!({}))).await;
    assert_eq!(failed["state"], "failed", "{failed}");
    world.aws.clear_faults();
    let path = format!("{}?accepts_incomplete=true", at("one"));
    let reply = ask(world, "PATCH", &path, &update(json!({"retention": 30}))).await;
    refused(&reply, 404, "NotFound");
    assert!(live(world, "AWS::Logs::LogGroup").is_empty());
    logs(world, "one", json!({})).await;
}

/// An update would make it anew, and fails.
#[apply(on_every_store)]
async fn what_is_gone_cannot_be_used(world: &World) {
    logs(world, "one", json!({})).await;
    let [log_group] = &world.live("AWS::Logs::LogGroup")[..] else {
        panic!("one log group")
    };
    world.vanish("AWS::Logs::LogGroup", log_group);
    let refusal = fault(fail(HandlerErrorCode::AccessDenied).saying("No."));
    world.aws.add_fault(refusal.on(Action::CreateResource));
    let patch = update(json!({"retention": 30}));
    let failed = change(world, "PATCH", &at("one"), &patch).await;
    assert_eq!(failed["state"], "failed", "{failed}");
    assert_eq!(failed["instance_usable"], false, "{failed}");
    world.aws.clear_faults();
    assert_eq!(
        change(world, "PATCH", &at("one"), &patch).await,
        succeeded()
    );
}

/// AWS has reported a success, and nobody has seen it.
#[apply(on_every_store)]
async fn what_no_read_has_shown_is_not_told_to_be_usable(world: &World) {
    let order = order(LOGS, SMALL, json!({}));
    let operation = begin(world, "PUT", &at("one"), &order).await;
    while world.calls("CreateResource") == 0 {
        world.step().await;
        let next = world.store.next_claimable_at().await.expect("it answers");
        world.clock.move_to(next.expect("it is under way"));
    }
    let denied = fault(refuse(ExceptionCode::AccessDenied));
    world.aws.add_fault(denied.on(Action::GetResource));
    world.settle().await;
    assert_eq!(last(world, &at("one"), &operation).await, succeeded());
    let patch = update(json!({"retention": 30}));
    let failed = change(world, "PATCH", &at("one"), &patch).await;
    assert_eq!(failed["state"], "failed", "{failed}");
    assert_eq!(failed["instance_usable"], false, "{failed}");
    world.aws.clear_faults();
    assert_eq!(
        change(world, "PATCH", &at("one"), &patch).await,
        succeeded()
    );
}

/// Nobody ever sees a resource of a type without a read handler.
#[apply(on_every_store)]
async fn what_cannot_be_read_is_usable_as_aws_has_said(world: &World) {
    let document = "properties.PolicyDocument = { Version = \"2012-10-17\", Statement = [] }";
    world.offer(&[
        ("named.toml", "AWS::SQS::Queue", "AWS::IAM::Policy"),
        ("named.toml", "QueueName", "PolicyName"),
        ("named.toml", "properties.FifoQueue = true", document),
        ("named.toml", "replaces_to", "updates_to"),
        ("named.toml", "DelaySeconds = 5", "Roles = [\"one\"]"),
        ("named.toml", "DelaySeconds = 10", "Roles = [\"two\"]"),
    ]);
    let order = order(NAMED, "named-a", json!({}));
    assert_eq!(change(world, "PUT", &at("one"), &order).await, succeeded());
    let refusal = fault(fail(HandlerErrorCode::AccessDenied).saying("No."));
    world.aws.add_fault(refusal.on(Action::UpdateResource));
    let patch = json!({"service_id": NAMED, "plan_id": "named-b"});
    let failed = change(world, "PATCH", &at("one"), &patch).await;
    assert_eq!(failed["instance_usable"], true, "{failed}");
}

/// Its name is free only when the old one is gone.
#[apply(on_every_store)]
async fn what_has_a_name_of_its_own_is_deleted_before_it_is_replaced(world: &World) {
    world.offer(&[
        ("named.toml", "properties.FifoQueue = true\n", ""),
        ("named.toml", "DelaySeconds = 5", "FifoQueue = true"),
        ("named.toml", "DelaySeconds = 10", "FifoQueue = false"),
    ]);
    let named = order(NAMED, "named-a", json!({}));
    assert_eq!(change(world, "PUT", &at("one"), &named).await, succeeded());
    let patch = json!({"service_id": NAMED, "plan_id": "named-b"});
    assert_eq!(
        change(world, "PATCH", &at("one"), &patch).await,
        succeeded()
    );
    let queues = live(world, "AWS::SQS::Queue");
    assert_eq!(queues.len(), 1, "{queues:?}");
    assert_eq!(queues[0]["FifoQueue"], false);
}
