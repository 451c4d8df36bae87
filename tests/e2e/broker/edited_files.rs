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

/// Who asks for what he has gets what he has, whatever the files have gained since then.
#[apply(on_every_store)]
async fn the_same_again_stays_the_same(world: &World) {
    let put = order(LOGS, SMALL, json!({"note": "mine"}));
    assert_eq!(change(world, "PUT", &at("one"), &put).await, succeeded());
    wait(world, "PUT", &bound("one", "b"), &bind_logs())
        .await
        .expect(201);
    for edit in [GAINED, DEMANDED] {
        world.offer(&[edit]);
        let renamed = json!({"service_id": LOGS, "context": {"instance_name": "other"}});
        ask(world, "PATCH", &at("one"), &renamed).await.expect(200);
        let same = json!({"service_id": LOGS, "plan_id": SMALL, "parameters": {"retention": 7}});
        ask(world, "PATCH", &at("one"), &same).await.expect(200);
    }
    world.offer(&[GAINED]);
    ask(world, "PUT", &at("one"), &put).await.expect(200);
    ask(world, "PUT", &bound("one", "b"), &bind_logs())
        .await
        .expect(200);
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
    world.aws.clear_faults();
    let patch = json!({"service_id": NET, "plan_id": "net-ten"});
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
