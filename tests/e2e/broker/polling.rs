//! Asking for the last operation.

use std::time::Duration;

use serde_json::{Value, json};
use ucp_simulator::faults::{fail, fault};
use ucp_simulator::{Action, HandlerErrorCode};
use ucp_testkit::{GROUP, World, apply, on_every_store};

use super::*;

async fn last_as(world: &World, platform: &str, path: &str, operation: &str) -> Reply {
    let path = format!("{path}/last_operation?operation={operation}");
    ask_as(world, platform, "GET", &path, &Value::Null).await
}

/// It is as one that nobody knows: the latest change of what is asked about is told.
#[apply(on_every_store)]
async fn an_operation_of_something_else_is_not_told(world: &World) {
    let refusal = fault(fail(HandlerErrorCode::ServiceLimitExceeded).saying("Theirs."));
    let refusal = refusal.on(Action::CreateResource);
    world.aws.add_fault(refusal.of_type("AWS::S3::Bucket"));
    let path = format!("{}?accepts_incomplete=true", at("one"));
    let theirs = order(BUCKET, DEV, json!({}));
    let theirs = ask_as(world, "k8s", "PUT", &path, &theirs).await;
    let theirs = theirs.expect(202).body["operation"].clone();
    let theirs = theirs.as_str().unwrap();
    world.settle().await;
    world.aws.clear_faults();

    let mine = begin(world, "PUT", &at("one"), &order(BUCKET, DEV, json!({}))).await;
    world.settle().await;
    let bind = begin(world, "PUT", &bound("one", "b"), &bind_bucket()).await;
    let other = begin(world, "PUT", &at("two"), &order(LOGS, SMALL, json!({}))).await;
    world.settle().await;
    let failing =
        fault(fail(HandlerErrorCode::AccessDenied).saying("No.")).on(Action::UpdateResource);
    world.aws.add_fault(failing);
    let patch = json!({"service_id": LOGS, "parameters": {"retention": 30}});
    let failed = begin(world, "PATCH", &at("two"), &patch).await;
    world.settle().await;
    let group = format!("{GROUP}?api-version=2023-10-01-preview");
    let deletion = world.call_until_settled("DELETE", &group, "").await;
    let of_arm = deletion.header("location").unwrap_or_default().to_owned();
    let of_arm = of_arm.rsplit('/').next().unwrap_or_default();
    let of_arm = of_arm.split('?').next().unwrap_or_default();

    let nobodys = "0193c1f2-7d5e-7000-8000-000000000000";
    for operation in [theirs, &bind, &other, &failed, of_arm, nobodys, &mine] {
        let told = last_as(world, "cf", &at("one"), operation).await;
        assert_eq!(told.expect(200).body, succeeded(), "{operation}");
    }
    for operation in [theirs, &mine, &failed, of_arm, nobodys, &bind] {
        let told = last_as(world, "cf", &bound("one", "b"), operation).await;
        assert_eq!(told.expect(200).body, succeeded(), "{operation}");
    }
    for operation in [&mine, &bind, &other, nobodys] {
        let told = last_as(world, "k8s", &at("one"), operation).await;
        let told = told.expect(200).body;
        assert_eq!(told["state"], "failed", "{operation}");
        assert!(told.to_string().contains("Theirs."), "{told}");
    }
    // An earlier one of the instance itself is.
    let told = last_as(world, "cf", &at("two"), &other).await;
    assert_eq!(told.expect(200).body, succeeded());
    // What is another platform's is not there.
    for path in [at("two"), bound("one", "b")] {
        let told = last_as(world, "k8s", &path, &other).await;
        refused(&told, 404, "NotFound");
    }
}

/// The resource has a name, so it is looked for after a refusal, which is told meanwhile.
#[apply(on_every_store)]
async fn what_aws_has_answered_is_told_at_once(world: &World) {
    let refusal = fault(fail(HandlerErrorCode::AccessDenied).saying("Not allowed."));
    world.aws.add_fault(refusal.on(Action::CreateResource));
    let operation = begin(world, "PUT", &at("one"), &order(LOGS, SMALL, json!({}))).await;
    let told = refusal_told(world).await;
    assert_eq!(told["state"], "in progress", "{told}");
    let description = told["description"].as_str().unwrap();
    assert!(description.contains("Not allowed."), "{description}");
    world.settle().await;
    let ended = last(world, &at("one"), &operation).await;
    assert_eq!(ended["state"], "failed", "{ended}");
}

/// Steps until the refusal of an order of `one` is told. Returns the last operation then.
async fn refusal_told(world: &World) -> Value {
    for _ in 0..100 {
        let told = get(world, &format!("{}/last_operation", at("one")))
            .await
            .body;
        let description = told["description"].as_str().unwrap_or_default();
        if description.contains("AccessDenied") {
            return told;
        }
        world.clock.advance(Duration::from_secs(1));
        world.step().await;
        tokio::task::yield_now().await;
    }
    panic!("no refusal is told");
}

/// A platform that does not poll is told what AWS has answered, and not that it took too long.
#[tokio::test(start_paused = true)]
async fn who_waits_is_told_what_aws_has_answered() {
    let world = World::builder().build().await;
    let refusal = fault(fail(HandlerErrorCode::AccessDenied).saying("Not allowed."));
    world.aws.add_fault(refusal.on(Action::CreateResource));
    let body = order(LOGS, SMALL, json!({}));
    let (path, body) = (at("one"), &body);
    // From the refusal on nothing is carried out, so it takes too long.
    let (reply, _) = tokio::join!(ask(&world, "PUT", &path, body), refusal_told(&world));
    refused(&reply, 500, "AccessDenied");
    assert!(reply.text.contains("Not allowed."), "{}", reply.text);
    world.settle().await;
    let ended = get(&world, &format!("{path}/last_operation")).await;
    assert_eq!(ended.expect(200).body["state"], "failed");
    world.finish().await;
}
