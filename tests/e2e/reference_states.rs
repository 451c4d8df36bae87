//! The state of a reference is that of its last change that was carried out.

use serde_json::{Value, json};
use ucp_simulator::faults::{fail, fault, refuse};
use ucp_simulator::{Action, ExceptionCode, HandlerErrorCode};
use ucp_testkit::{ACCOUNT, REGION, Reply, World, apply, on_every_store, tracked_by};

const VPC: &str = "AWS.EC2/VPC";

fn declared() -> Value {
    json!({"CidrBlock": "10.0.0.0/16"})
}

async fn state(world: &World) -> String {
    let state = &world.references().await[0]["provisioningState"];
    state.as_str().expect("a state").to_owned()
}

/// Begins a change and cancels it before anything is sent.
async fn cancel_at_once(world: &World, action: &str, body: &Value) -> Reply {
    let path =
        format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{VPC}/:{action}");
    let reply = world
        .send_without_waiting("POST", &path, &body.to_string())
        .await;
    let status = reply.status_url().replace("http://localhost:8787", "");
    world
        .send_without_waiting("POST", &format!("{status}/:cancel"), "")
        .await
        .expect(202);
    world.settle().await;
    assert_eq!(world.status(&reply).await["status"], "Canceled");
    reply
}

#[apply(on_every_store)]
async fn a_refused_put_leaves_a_healthy_reference_healthy(world: &World) {
    world.put_and_settle(VPC, "main", declared()).await;
    let replacing = json!({"CidrBlock": "10.1.0.0/16"});
    world.put(VPC, "main", replacing).await.expect(409);
    assert_eq!(state(world).await, "Succeeded");
    let read_only = json!({"CidrBlock": "10.0.0.0/16", "VpcId": "vpc-other"});
    world.put(VPC, "main", read_only).await.expect(400);
    assert_eq!(state(world).await, "Succeeded");

    world.aws.add_fault(
        fault(refuse(ExceptionCode::AccessDenied))
            .on(Action::GetResource)
            .times(2),
    );
    world.put(VPC, "main", declared()).await.expect(403);
    assert_eq!(state(world).await, "Succeeded");

    let body = json!({"trackedBy": tracked_by(VPC, "main"), "properties": declared()});
    for action in ["put", "delete"] {
        cancel_at_once(world, action, &body).await;
        assert_eq!(state(world).await, "Succeeded", "{action}");
    }
}

#[apply(on_every_store)]
async fn a_refused_put_leaves_a_failed_reference_failed(world: &World) {
    world.put_and_settle(VPC, "main", declared()).await;
    world.aws.add_fault(
        fault(fail(HandlerErrorCode::GeneralServiceException))
            .on(Action::UpdateResource)
            .times(1),
    );
    let changed = json!({"CidrBlock": "10.0.0.0/16", "EnableDnsSupport": false});
    world.put_and_settle(VPC, "main", changed).await;
    assert_eq!(state(world).await, "Failed");

    let body = json!({"trackedBy": tracked_by(VPC, "main"), "properties": declared()});
    cancel_at_once(world, "put", &body).await;
    assert_eq!(state(world).await, "Failed");

    world.put(VPC, "main", declared()).await.expect(200);
    assert_eq!(state(world).await, "Succeeded", "it is as declared");
}

#[apply(on_every_store)]
async fn a_first_put_or_import_that_is_refused_leaves_no_reference(world: &World) {
    let import = json!({"trackedBy": tracked_by(VPC, "main"), "primaryIdentifier": "vpc-1"});
    world.post(VPC, "import", &import).await.expect(404);
    cancel_at_once(world, "import", &import).await;
    let put = json!({"trackedBy": tracked_by(VPC, "main"), "properties": declared()});
    cancel_at_once(world, "put", &put).await;
    assert!(world.references().await.is_empty());
}
