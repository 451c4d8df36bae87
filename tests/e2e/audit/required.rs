//! A server that answers nothing that it could not record.

use std::time::Duration;

use serde_json::json;
use ucp_store::AuditOutcome;
use ucp_testkit::{GROUP, StoreKind, World, apply, on_every_store};

use super::{API, VPC};

async fn world(kind: StoreKind) -> Option<World> {
    let builder = World::builder().requiring_audit().on(kind).await?;
    Some(builder.build().await)
}

/// Waits until what could not be recorded has been.
async fn recovered(world: &World) {
    while world.get("/readyz").await.status != 200 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[apply(on_every_store)]
async fn what_cannot_be_recorded_is_not_answered(kind: StoreKind) {
    let Some(world) = world(kind).await else {
        return;
    };
    world.expect_log("audit events could not be recorded");
    world.expect_log("not ready");
    let path = format!("{GROUP}-2?{API}");
    let body = r#"{"location":"global"}"#;
    world.call("PUT", &path, body).await.expect(200);
    world.refuse_audit(true);
    let refused = world.call("PUT", &path, body).await.expect(503);
    assert_eq!(refused.code(), "ServiceUnavailable");
    assert!(
        refused.text.contains("may have been done"),
        "{}",
        refused.text
    );
    assert!(refused.header("retry-after").is_some());
    // From here on, nothing is even tried.
    let put = world
        .put(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await
        .expect(503);
    assert!(put.text.contains("Nothing was done"), "{}", put.text);
    assert_eq!(world.asked_store("accept_operation"), 0);
    let stranger = [("origin", "https://evil.example")];
    world
        .send_with(&stranger, "GET", GROUP, "")
        .await
        .expect(503);
    let unready = world.get("/readyz").await.expect(503);
    assert_eq!(unready.body["audit"], "Failing");
    // What is not recorded anyway is answered.
    world.get(&format!("{GROUP}?{API}")).await.expect(200);
    world.refuse_audit(false);
    recovered(&world).await;
    assert_eq!(
        world.get("/readyz").await.expect(200).body["audit"],
        "Recording"
    );
    world
        .put(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await
        .expect(201);
    world.settle().await;
    let events = world.audited().await;
    let statuses: Vec<_> = events
        .iter()
        .map(|event| event.status.expect("a value"))
        .collect();
    // Of what was done before the 503 there is an event, too.
    assert_eq!(statuses, [200, 200, 200, 503, 403, 201, 201]);
    assert_eq!(events[3].outcome, AuditOutcome::Failed);
    world.finish().await;
}

/// The event is there before the reply.
#[apply(on_every_store)]
async fn an_answered_request_is_recorded(kind: StoreKind) {
    let Some(world) = world(kind).await else {
        return;
    };
    let before = world.asked_store("append_audit_events");
    for name in ["a", "b", "c"] {
        world.put_group(name).await;
    }
    assert_eq!(world.asked_store("append_audit_events") - before, 3);
    world.finish().await;
}

/// Without that, requests do not wait for the audit.
#[apply(on_every_store)]
async fn by_default_nobody_waits_for_the_audit(world: &World) {
    world.expect_log("audit events could not be recorded");
    world.refuse_audit(true);
    world.put_group("a").await;
    let ready = world.get("/readyz").await.expect(200);
    assert_eq!(ready.body["audit"], "Failing");
    world.refuse_audit(false);
    let events = world.audited().await;
    assert_eq!(events.len(), 2, "{events:?}");
}
