//! Rates: how often a caller may change what is in a scope, and read it from AWS.

use std::num::NonZeroU32;
use std::time::Duration;

use serde_json::{Value, json};
use ucp_api::Rates;
use ucp_store::AuditOutcome;
use ucp_testkit::{ACCOUNT, GROUP, REGION, StoreKind, World, apply, on_every_store};

use crate::sets::{send, set};

const API: &str = "api-version=2023-10-01-preview";
const LOGS: &str = "AWS.Logs/LogGroup";

async fn world(kind: StoreKind, writes: u32, aws_reads: u32) -> Option<World> {
    let rates = Rates {
        writes: NonZeroU32::new(writes),
        aws_reads: NonZeroU32::new(aws_reads),
    };
    let builder = World::builder().rates(rates).on(kind).await?;
    Some(builder.build().await)
}

#[apply(on_every_store)]
async fn too_many_changes_in_a_scope_are_refused(kind: StoreKind) {
    let Some(world) = world(kind, 1, 0).await else {
        return;
    };
    let tags = |tag: &str| json!({"location": "global", "tags": {"is": tag}}).to_string();
    let path = format!("{GROUP}?{API}");
    world.call("PUT", &path, &tags("first")).await.expect(200);
    let refused = world.call("PUT", &path, &tags("second")).await.expect(429);
    assert_eq!(refused.code(), "TooManyRequests");
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert!(
        refused
            .text
            .contains("planes/radius/local/resourcegroups/rg"),
        "{}",
        refused.text
    );
    let group = world.get(&path).await.expect(200);
    assert_eq!(group.body["tags"]["is"], "first", "nothing was done");
    // Another group, and an account and region, have their own.
    world.put_group("other").await;
    world
        .put(LOGS, "one", json!({"LogGroupName": "one"}))
        .await
        .expect(201);
    world
        .put(LOGS, "two", json!({"LogGroupName": "two"}))
        .await
        .expect(201);
    world
        .put(LOGS, "three", json!({"LogGroupName": "three"}))
        .await
        .expect(429);
    world.clock.advance(Duration::from_secs(1));
    world.call("PUT", &path, &tags("second")).await.expect(200);
    world.settle().await;
    let events = world.audited().await;
    let refused = events.iter().filter(|event| event.status == Some(429));
    let refused: Vec<_> = refused
        .map(|event| (event.outcome, event.code.as_deref()))
        .collect();
    assert_eq!(
        refused,
        [(AuditOutcome::Refused, Some("TooManyRequests")); 2]
    );
    world.finish().await;
}

/// Reads of what the store has are free, also if they are many.
#[apply(on_every_store)]
async fn too_many_reads_from_aws_are_refused(kind: StoreKind) {
    let Some(world) = world(kind, 0, 2).await else {
        return;
    };
    let logs = format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{LOGS}");
    for _ in 0..2 {
        world.get(&logs).await.expect(200);
        world.get(&format!("{logs}/none")).await.expect(404);
    }
    let calls = world.calls("GetResource") + world.calls("ListResources");
    let refused = world.get(&logs).await.expect(429);
    assert_eq!(refused.code(), "TooManyRequests");
    let body = json!({"properties": {"LogGroupName": "none"}});
    world.post(LOGS, "get", &body).await.expect(429);
    assert_eq!(
        world.calls("GetResource") + world.calls("ListResources"),
        calls
    );
    let elsewhere = logs.replace(REGION, "eu-west-1");
    world.get(&elsewhere).await.expect(200);
    for _ in 0..20 {
        world.get(&format!("{GROUP}?{API}")).await.expect(200);
    }
    let events = world.audited().await.split_off(1);
    assert_eq!(events.len(), 2, "a read is an event only if it is refused");
    for event in events {
        let code = event.code.as_deref();
        assert_eq!(
            (event.outcome, event.status, code),
            (AuditOutcome::Refused, Some(429), Some("TooManyRequests"))
        );
        assert_eq!(event.action, format!("{LOGS}/read"));
    }
    world.clock.advance(Duration::from_millis(500));
    world.get(&logs).await.expect(200);
    world.get(&logs).await.expect(429);
    world.finish().await;
}

/// A set counts by its resources, also if a plan has them.
#[tokio::test]
async fn a_set_counts_as_many_as_it_has() {
    let world = world(StoreKind::Memory, 2, 4).await.expect("a world");
    world.put_group("rg").await;
    let later = || world.clock.advance(Duration::from_secs(10));
    let log_group =
        |name: &str| json!({"alias": name, "type": LOGS, "properties": {"LogGroupName": name}});
    let four: Value = ["a", "b", "c", "d"]
        .iter()
        .map(|name| log_group(name))
        .collect();
    let four = set(four);
    for action in ["validate", "whatIf"] {
        later();
        for expected in [200, 200, 429] {
            let reply = send(&world, action, &four).await;
            assert_eq!(reply.status, expected, "{action}: {}", reply.text);
        }
    }
    later();
    let put = json!({"properties": {"LogGroupName": "a"}});
    for expected in [[200; 8].as_slice(), &[429]].concat() {
        let reply = world.post(LOGS, "validate", &put).await;
        assert_eq!(reply.status, expected, "{}", reply.text);
    }
    later();
    let planned = send(&world, "whatIf", &four).await.expect(200);
    let plan = &planned.body["properties"]["planId"];
    let group = format!("{GROUP}?{API}");
    let tags = json!({"location": "global"}).to_string();
    for _ in 0..3 {
        world.call("PUT", &group, &tags).await.expect(200);
    }
    // There is room for three more in a second and a half.
    let refused = send(&world, "apply", &json!({ "planId": plan })).await;
    assert_eq!(refused.expect(429).header("retry-after"), Some("2"));
    later();
    send(&world, "apply", &json!({ "planId": plan }))
        .await
        .expect(202);
    world.call("PUT", &group, &tags).await.expect(429);
    world.settle().await;
    // So do the resources that a set deletes without listing them: five of them need a second and a quarter.
    later();
    let fifth = log_group("e");
    world.put(LOGS, "e", fifth["properties"].clone()).await;
    world.settle().await;
    later();
    let mut complete = set(json!([log_group("f")]));
    complete["mode"] = json!("Complete");
    for _ in 0..7 {
        let reply = send(&world, "validate", &set(json!([log_group("f")]))).await;
        reply.expect(200);
    }
    let refused = send(&world, "whatIf", &complete).await.expect(429);
    assert_eq!(refused.header("retry-after"), Some("2"));
}

/// So does an import into a group.
#[tokio::test]
async fn an_import_counts_as_many_as_it_has() {
    let world = world(StoreKind::Memory, 2, 0).await.expect("a world");
    world.put_group("rg").await;
    world.clock.advance(Duration::from_secs(10));
    let region = format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}");
    let items = |names: &[&str]| {
        let item = |name: &&str| json!({"scope": region, "type": LOGS, "alias": name, "primaryIdentifier": name});
        let items: Value = names.iter().map(item).collect();
        json!({ "resources": items }).to_string()
    };
    let import = format!("{GROUP}/:import");
    let three = world.call("POST", &import, &items(&["a", "b", "c"])).await;
    three.expect(202);
    let two = world.call("POST", &import, &items(&["d", "e"])).await;
    assert_eq!(two.expect(429).code(), "TooManyRequests");
    world.settle().await;
}

/// By default there is none.
#[apply(on_every_store)]
async fn without_a_rate_there_is_no_limit(world: &World) {
    for _ in 0..100 {
        world.put_group("rg").await;
    }
}
