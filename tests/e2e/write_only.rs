//! Write-only values: what a put has sent is unknown until a put succeeds.

use serde_json::{Value, json};
use ucp_simulator::faults::{Effect, fail, fault, refuse};
use ucp_simulator::{Action, ExceptionCode, HandlerErrorCode};
use ucp_testkit::{
    ACCOUNT, REGION, StoreKind, World, apply, crash_everywhere, on_every_store, tracked_by,
};

const SECRET: &str = "AWS.SecretsManager/Secret";

fn declare(value: &str) -> Value {
    json!({"Name": "s", "SecretString": value})
}

/// Puts the value before the failed put again: it is sent, and the put after that has nothing to do.
async fn put_the_old_value_again(world: &World) {
    world.aws.clear_faults();
    let updates = world.calls("UpdateResource");
    world.put(SECRET, "s", declare("one")).await.expect(201);
    world.settle().await;
    assert_eq!(world.calls("UpdateResource"), updates + 1);
    world.put(SECRET, "s", declare("one")).await.expect(200);
}

#[apply(on_every_store)]
async fn the_old_value_is_sent_after_an_update_that_failed_half_way(world: &World) {
    world.put_and_settle(SECRET, "s", declare("one")).await;
    world.aws.add_fault(
        fault(fail(HandlerErrorCode::NotStabilized).made())
            .on(Action::UpdateResource)
            .times(1),
    );
    let ended = world.put_and_settle(SECRET, "s", declare("two")).await;
    assert_eq!(ended["status"], "Failed");
    put_the_old_value_again(world).await;
}

#[apply(on_every_store)]
async fn the_new_value_is_sent_again_after_an_update_that_failed(world: &World) {
    world.put_and_settle(SECRET, "s", declare("one")).await;
    world.aws.add_fault(
        fault(fail(HandlerErrorCode::NotStabilized))
            .on(Action::UpdateResource)
            .times(1),
    );
    world.put_and_settle(SECRET, "s", declare("two")).await;
    world.put(SECRET, "s", declare("two")).await.expect(201);
    world.settle().await;
    assert_eq!(world.calls("UpdateResource"), 2);
    world.put(SECRET, "s", declare("two")).await.expect(200);
}

#[apply(on_every_store)]
async fn the_old_value_is_sent_after_an_update_that_was_cancelled(world: &World) {
    world.put_and_settle(SECRET, "s", declare("one")).await;
    world.aws.add_fault(
        fault(Effect::Latency {
            least_millis: 60_000,
            most_millis: 60_000,
        })
        .on(Action::UpdateResource)
        .times(1),
    );
    let reply = world.put(SECRET, "s", declare("two")).await.expect(201);
    world.step().await;
    let path = reply.status_url().replace("http://localhost:8787", "");
    let cancel = format!("{path}/:cancel");
    world.call("POST", &cancel, "").await.expect(202);
    world.settle().await;
    assert_eq!(world.status(&reply).await["status"], "Canceled");
    put_the_old_value_again(world).await;
}

/// AWS refuses the update, and the put after it, which needs no update but for the secret, is carried out.
#[apply(on_every_store)]
async fn the_old_value_is_sent_after_an_update_that_aws_refused(world: &World) {
    world.expect_log("the call did not succeed");
    world.put_and_settle(SECRET, "s", declare("one")).await;
    world.aws.add_fault(
        fault(refuse(ExceptionCode::AccessDenied))
            .on(Action::UpdateResource)
            .times(1),
    );
    let ended = world.put_and_settle(SECRET, "s", declare("two")).await;
    assert_eq!(ended["status"], "Failed");
    put_the_old_value_again(world).await;
}

/// The create that replaces what is gone fails, but leaves a resource with the new value.
#[apply(on_every_store)]
async fn the_old_value_is_sent_after_a_create_that_failed_half_way(world: &World) {
    world.put_and_settle(SECRET, "s", declare("one")).await;
    let secret = world.live("AWS::SecretsManager::Secret").remove(0);
    world.vanish("AWS::SecretsManager::Secret", &secret);
    world.aws.add_fault(
        fault(fail(HandlerErrorCode::NotStabilized).made())
            .on(Action::CreateResource)
            .times(1),
    );
    let ended = world.put_and_settle(SECRET, "s", declare("two")).await;
    assert_eq!(ended["status"], "Failed");
    put_the_old_value_again(world).await;
}

/// Wherever the process dies during an update that fails in the end, the old value is sent again.
#[apply(on_every_store)]
async fn a_crash_does_not_make_a_sent_value_known(kind: StoreKind) {
    crash_everywhere(kind, async |world| {
        world.put_and_settle(SECRET, "s", declare("one")).await;
        world.aws.add_fault(
            fault(fail(HandlerErrorCode::GeneralServiceException).made())
                .on(Action::UpdateResource),
        );
        let path =
            format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{SECRET}/:put");
        world.may_crash();
        let put = async |value: &str| {
            let body = json!({"trackedBy": tracked_by(SECRET, "s"), "properties": declare(value)});
            world.see_through("POST", &path, &body.to_string()).await
        };
        let ended = put("two").await.expect("it is an operation");
        assert_eq!(ended["status"], "Failed");
        world.aws.clear_faults();
        let updates = world.calls("UpdateResource");
        put("one").await;
        assert!(world.calls("UpdateResource") > updates);
    })
    .await;
}
