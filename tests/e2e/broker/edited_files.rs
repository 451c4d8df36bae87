//! Files of offerings that are edited while there are instances.

use serde_json::{Value, json};
use ucp_simulator::faults::{fail, fault};
use ucp_simulator::{Action, HandlerErrorCode};
use ucp_testkit::{World, apply, on_every_store};

use super::*;

/// A parameter of the instance that has a default, and one of bindings.
const GAINED: (&str, &str, &str) = (
    "logs.toml",
    "[binding]\n",
    "[parameters.kept]\nat = \"secret/KmsKeyId\"\nupdatable = true\ndefault = \"alias/x\"\n[binding]\nparameters.who = { type = \"string\", default = \"anybody\" }\n",
);
/// A parameter that has to be given.
const DEMANDED: (&str, &str, &str) = (
    "logs.toml",
    "[binding]\n",
    "[parameters.key]\nat = \"secret/KmsKeyId\"\nrequired = true\n[binding]\n",
);
/// A plan without a version.
const UNVERSIONED: (&str, &str, &str) = ("logs.toml", "maintenance.version = \"1.0.0\"\n", "");
/// A resource more, which the second plan changes.
const QUEUE: [(&str, &str, &str); 2] = [
    (
        "net.toml",
        "[binding]\n",
        "[resources.queue]\ntype = \"AWS::SQS::Queue\"\n[binding]\n",
    ),
    (
        "net.toml",
        "presets.vpc.CidrBlock = \"10.20.0.0/16\"",
        "presets.vpc.CidrBlock = \"10.20.0.0/16\"\npresets.queue.DelaySeconds = 5",
    ),
];

/// Who asks for what they have gets what they have, whatever the files have gained since then.
#[apply(on_every_store)]
async fn the_same_again_stays_the_same(world: &World) {
    let put = order(LOGS, SMALL, json!({"note": "mine"}));
    assert_eq!(change(world, "PUT", &at("one"), &put).await, succeeded());
    wait(world, "PUT", &bound("one", "b"), &bind_logs())
        .await
        .expect(201);
    for edit in [GAINED, DEMANDED, UNVERSIONED] {
        world.offer(&[edit]);
        let renamed = json!({"service_id": LOGS, "context": {"instance_name": "other"}});
        ask(world, "PATCH", &at("one"), &renamed).await.expect(200);
        let same = json!({"service_id": LOGS, "plan_id": SMALL, "parameters": {"retention": 7}});
        ask(world, "PATCH", &at("one"), &same).await.expect(200);
        ask(world, "PUT", &at("one"), &put).await.expect(200);
        ask(world, "PUT", &bound("one", "b"), &bind_logs())
            .await
            .expect(200);
    }
    world.offer(&[GAINED]);
    let other = order(LOGS, SMALL, json!({"note": "mine", "retention": 30}));
    refused(
        &ask(world, "PUT", &at("one"), &other).await,
        409,
        "Conflict",
    );
    let shown = get(world, &at("one")).await.expect(200).body;
    assert_eq!(shown["parameters"], json!({"retention": 7, "note": "mine"}));
    // A change brings the new default along.
    let patch = json!({"service_id": LOGS, "parameters": {"note": "new"}});
    ask(
        world,
        "DELETE",
        &format!(
            "{}?service_id={LOGS}&plan_id={SMALL}&accepts_incomplete=true",
            bound("one", "b")
        ),
        &Value::Null,
    )
    .await
    .expect(200);
    assert_eq!(
        change(world, "PATCH", &at("one"), &patch).await,
        succeeded()
    );
    let shown = get(world, &at("one")).await.expect(200).body;
    assert_eq!(
        shown["parameters"],
        json!({"retention": 7, "note": "new", "kept": "alias/x"})
    );
    // What was put and patched by now is what it is.
    refused(&ask(world, "PUT", &at("one"), &put).await, 409, "Conflict");
    let put = order(LOGS, SMALL, json!({"note": "new"}));
    ask(world, "PUT", &at("one"), &put).await.expect(200);
}

/// A server that has newer files takes over while an update runs.
#[apply(on_every_store)]
async fn an_update_that_runs_is_known_again(world: &World) {
    logs(world, "one", json!({})).await;
    let patch = json!({"service_id": LOGS, "parameters": {"retention": 30}});
    let operation = begin(world, "PATCH", &at("one"), &patch).await;
    world.offer(&[GAINED]);
    assert_eq!(begin(world, "PATCH", &at("one"), &patch).await, operation);
    world.settle().await;
    assert_eq!(last(world, &at("one"), &operation).await, succeeded());
}

/// What goes on after a failure is what was asked for, and not more.
#[apply(on_every_store)]
async fn a_put_after_a_failed_deletion_brings_nothing_along(world: &World) {
    logs(world, "one", json!({})).await;
    wait(world, "PUT", &bound("one", "b"), &bind_logs())
        .await
        .expect(201);
    let refusal = fault(fail(HandlerErrorCode::AccessDenied).saying("Not yours."));
    world.aws.add_fault(refusal.on(Action::DeleteResource));
    let path = format!("{}?service_id={LOGS}&plan_id={SMALL}", at("one"));
    let failed = change(world, "DELETE", &path, &Value::Null).await;
    assert_eq!(failed["state"], "failed");
    world.aws.clear_faults();
    world.offer(&[GAINED]);
    let put = order(LOGS, SMALL, json!({}));
    assert_eq!(change(world, "PUT", &at("one"), &put).await, succeeded());
    let shown = get(world, &at("one")).await.expect(200).body;
    assert_eq!(shown["parameters"], json!({"retention": 7}));
}

const SPACE: &str = "/planes/radius/local/resourceGroups/cf-space";

/// Puts a log group with ARM, under an alias that begins as those of an instance do.
async fn put_log_group(world: &World, alias: &str) -> String {
    let tracked = format!("{SPACE}/providers/AWS.Logs/LogGroup:reference/{alias}");
    let put = json!({"trackedBy": tracked, "properties": {"LogGroupName": "data"}});
    let path =
        "/planes/aws/aws/accounts/123456789012/regions/us-west-2/providers/AWS.Logs/LogGroup/:put";
    world.call("POST", path, &put.to_string()).await.expect(201);
    world.settle().await;
    tracked
}

/// What ARM has put under the aliases of an instance is no order's: neither a creation nor an update nor a deletion takes it away.
#[apply(on_every_store)]
async fn an_order_leaves_alone_what_no_order_has_made(world: &World) {
    logs(world, "other", json!({})).await;
    let tracked = put_log_group(world, "one:data").await;
    logs(world, "one", json!({})).await;
    assert_eq!(live(world, "AWS::Logs::LogGroup").len(), 3);
    let patch = json!({"service_id": "logs-service", "parameters": {"retention": 14},
        "context": {"platform": "cloudfoundry", "instance_name": "renamed"}});
    assert_eq!(
        change(world, "PATCH", &at("one"), &patch).await,
        succeeded()
    );
    assert_eq!(live(world, "AWS::Logs::LogGroup").len(), 3);
    let path = format!("{tracked}?api-version=2023-10-01-preview");
    let left = world.call("GET", &path, "").await.expect(200);
    assert_eq!(left.body.get("tags"), None, "{}", left.text);
    let path = format!("{}?service_id=logs-service&plan_id=logs-small", at("one"));
    change(world, "DELETE", &path, &Value::Null).await;
    let left = live(world, "AWS::Logs::LogGroup");
    assert_eq!(left.len(), 2, "{left:?}");
    world
        .call(
            "GET",
            &format!("{tracked}?api-version=2023-10-01-preview"),
            "",
        )
        .await
        .expect(200);
}

/// A creation that would take over what ARM has put fails.
#[apply(on_every_store)]
async fn an_order_takes_over_no_reference(world: &World) {
    logs(world, "other", json!({})).await;
    put_log_group(world, "one:group").await;
    let put = order("logs-service", "logs-small", json!({}));
    let failed = change(world, "PUT", &at("one"), &put).await;
    assert_eq!(failed["state"], "failed", "{failed}");
    let description = failed["description"].as_str().expect("a description");
    assert!(
        description.contains("not made by the service instance"),
        "{failed}"
    );
    assert_eq!(world.calls("UpdateResource"), 0);
}

/// A resource of another name in the files is another one. What it would adopt is kept as it is.
#[apply(on_every_store)]
async fn what_is_called_otherwise_in_the_files_is_kept(world: &World) {
    logs(world, "one", json!({})).await;
    world.offer(&[
        ("logs.toml", "[resources.group]", "[resources.journal]"),
        ("logs.toml", "group/", "journal/"),
        ("logs.toml", ".group.", ".journal."),
    ]);
    let patch = json!({"service_id": "logs-service", "parameters": {"retention": 14}});
    let failed = change(world, "PATCH", &at("one"), &patch).await;
    assert_eq!(failed["state"], "failed", "{failed}");
    assert_eq!(live(world, "AWS::Logs::LogGroup").len(), 1, "{failed}");
    world.offer(&[]);
    assert_eq!(
        change(world, "PATCH", &at("one"), &patch).await,
        succeeded()
    );
    assert_eq!(live(world, "AWS::Logs::LogGroup")[0]["RetentionInDays"], 14);
}

/// A creation that goes on after a failure deletes what has left the files since then.
#[apply(on_every_store)]
async fn what_leaves_the_files_during_a_creation_goes(world: &World) {
    world.offer(&QUEUE);
    let refusal = fault(fail(HandlerErrorCode::ServiceInternalError).saying("No."));
    let refusal = refusal.on(Action::CreateResource);
    world.aws.add_fault(refusal.of_type("AWS::EC2::VPC"));
    let put = order(NET, "net-ten", json!({}));
    let failed = change(world, "PUT", &at("one"), &put).await;
    assert_eq!(failed["state"], "failed");
    assert_eq!(live(world, "AWS::SQS::Queue").len(), 1);
    world.aws.clear_faults();
    world.offer(&[]);
    assert_eq!(change(world, "PUT", &at("one"), &put).await, succeeded());
    assert_eq!(live(world, "AWS::EC2::VPC").len(), 1);
    assert!(live(world, "AWS::SQS::Queue").is_empty());
}

/// A change of the plan that has failed half-way may have replaced resources. There is a way back.
#[apply(on_every_store)]
async fn a_replacing_update_that_has_failed_goes_back(world: &World) {
    world.offer(&QUEUE);
    let put = order(NET, "net-ten", json!({}));
    assert_eq!(change(world, "PUT", &at("one"), &put).await, succeeded());
    let refusal = fault(fail(HandlerErrorCode::ServiceInternalError).saying("No."));
    let refusal = refusal.on(Action::UpdateResource);
    world.aws.add_fault(refusal.of_type("AWS::SQS::Queue"));
    let patch = json!({"service_id": NET, "plan_id": "net-twenty"});
    let failed = change(world, "PATCH", &at("one"), &patch).await;
    assert_eq!(failed["state"], "failed");
    assert_eq!(live(world, "AWS::EC2::VPC")[0]["CidrBlock"], "10.20.0.0/16");
    // The way back is there as long as it takes.
    world.aws.clear_faults();
    let refusal = fault(fail(HandlerErrorCode::ServiceInternalError).saying("No."));
    let refusal = refusal.on(Action::CreateResource);
    world.aws.add_fault(refusal.of_type("AWS::EC2::VPC"));
    let patch = json!({"service_id": NET, "plan_id": "net-ten"});
    let failed = change(world, "PATCH", &at("one"), &patch).await;
    assert_eq!(failed["state"], "failed");
    world.aws.clear_faults();
    assert_eq!(
        change(world, "PATCH", &at("one"), &patch).await,
        succeeded()
    );
    let vpcs = live(world, "AWS::EC2::VPC");
    assert_eq!(
        (vpcs.len(), &vpcs[0]["CidrBlock"]),
        (1, &json!("10.0.0.0/16"))
    );
}
