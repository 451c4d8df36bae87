//! What requests that change nothing cost.

use std::time::Duration;

use serde_json::{Value, json};
use ucp_testkit::{World, apply, on_every_store, tracked_by};

use super::{
    LOG_GROUP, Request, VPC, change_outside, changes, logs, path, reads, reads_since, stored,
    stray, until,
};
use crate::puts::all_at_once;

const POLICY: &str = "AWS.IAM/Policy";

#[apply(on_every_store)]
async fn the_same_put_again_is_two_reads_and_leaves_nothing(world: &World) {
    let declared = json!({"CidrBlock": "10.0.0.0/16"});
    world.put_and_settle(VPC, "main", declared.clone()).await;
    let before = stored(world, VPC, "main").await;
    let put = Request::put(VPC, "main", &declared);
    for _ in 0..2 {
        let same = put.costs(world, 200, 1, &[("recorded_alias", 1)]).await;
        assert!(same.header("azure-asyncoperation").is_none());
        assert_eq!(same.body["properties"]["provisioningState"], "Succeeded");
    }
    assert_eq!(stored(world, VPC, "main").await, before);

    stray(world, "logs").await;
    let declared = json!({"RetentionInDays": 7});
    for same in [
        Request::put_by_name(LOG_GROUP, "logs", &declared),
        Request::patch(LOG_GROUP, "logs", &declared),
        Request::new("POST", LOG_GROUP, ":put", &json!({"properties": logs(7)})),
    ] {
        same.costs(world, 200, 1, &[("recorded_target", 1)]).await;
    }
    assert_eq!(stored(world, VPC, "main").await, before);
    assert_eq!(changes(world), [2, 0, 0]);
}

#[apply(on_every_store)]
async fn the_same_put_of_a_type_that_cannot_be_read_asks_aws_nothing(world: &World) {
    let declared = json!({"PolicyName": "p", "Roles": ["one"],
        "PolicyDocument": {"Version": "2012-10-17", "Statement": []}});
    world.put_and_settle(POLICY, "p", declared.clone()).await;
    let before = stored(world, POLICY, "p").await;
    let put = Request::put(POLICY, "p", &declared);
    put.costs(world, 200, 0, &[("recorded_alias", 1)]).await;
    assert_eq!(stored(world, POLICY, "p").await, before);
}

/// The only reference, as it is stored.
async fn reference(world: &World, resource_type: &str, alias: &str) -> ucp_model::Reference {
    let id = tracked_by(resource_type, alias).parse();
    let id = id.expect("a reference id");
    let found = world.store.get_reference(&id).await;
    found.expect("the store answers").expect("the reference")
}

#[apply(on_every_store)]
async fn what_is_observed_is_renewed_at_most_once_a_minute(world: &World) {
    let declared = json!({"CidrBlock": "10.0.0.0/16"});
    world.put_and_settle(VPC, "main", declared.clone()).await;
    let put = Request::put(VPC, "main", &declared);
    let mut before = reference(world, VPC, "main").await;
    let events = world.events(VPC, "main").await;
    let read = [("recorded_alias", 1)];
    let written = [("recorded_alias", 1), ("remember", 1)];
    for _ in 0..2 {
        let shown = world.get(&tracked_by(VPC, "main")).await.expect(200).body;
        let observed_at = before.observed_at.expect("it was observed");
        world
            .clock
            .move_to(observed_at.after(Duration::from_millis(59_999)));
        put.costs(world, 200, 1, &read).await;
        assert_eq!(reference(world, VPC, "main").await, before);

        world.clock.advance(Duration::from_millis(1));
        put.costs(world, 200, 1, &written).await;
        let after = reference(world, VPC, "main").await;
        assert_eq!(
            after.observed_at,
            Some(observed_at.after(Duration::from_secs(60)))
        );
        let expected = ucp_model::Reference {
            observed_at: after.observed_at,
            updated_at: after.updated_at,
            revision: before.revision + 1,
            ..before
        };
        assert_eq!(after, expected, "and nothing else");
        let mut shown_after = world.get(&tracked_by(VPC, "main")).await.expect(200).body;
        assert_ne!(shown_after["observedAt"], shown["observedAt"]);
        shown_after["observedAt"] = shown["observedAt"].clone();
        assert_eq!(shown_after, shown);
        before = after;
        put.costs(world, 200, 1, &read).await;
    }
    assert_eq!(world.events(VPC, "main").await, events);
}

#[apply(on_every_store)]
async fn an_outside_change_of_what_is_not_declared_is_shown_at_once(world: &World) {
    let declared = json!({"CidrBlock": "10.0.0.0/16"});
    world.put_and_settle(VPC, "main", declared.clone()).await;
    let vpc = world.live("AWS::EC2::VPC").remove(0);
    change_outside(
        world,
        "AWS::EC2::VPC",
        &vpc,
        &json!({"EnableDnsHostnames": true}),
    );
    let put = Request::put(VPC, "main", &declared);
    let events = world.events(VPC, "main").await;
    let same = put
        .costs(world, 200, 1, &[("recorded_alias", 1), ("remember", 1)])
        .await;
    assert_eq!(same.body["properties"]["EnableDnsHostnames"], true);
    let shown = &world.references().await[0]["properties"];
    assert_eq!(shown["EnableDnsHostnames"], true);
    put.costs(world, 200, 1, &[("recorded_alias", 1)]).await;
    assert_eq!(world.events(VPC, "main").await, events);
}

#[apply(on_every_store)]
async fn an_outside_change_of_what_is_declared_is_an_update(world: &World) {
    world.put_and_settle(LOG_GROUP, "logs", logs(7)).await;
    change_outside(
        world,
        "AWS::Logs::LogGroup",
        "logs",
        &json!({"RetentionInDays": 30}),
    );
    let put = Request::put(LOG_GROUP, "logs", &logs(7));
    let updated = put
        .costs(
            world,
            201,
            1,
            &[("recorded_alias", 1), ("accept_operation", 1)],
        )
        .await;
    world.settle().await;
    let status = world.status(&updated).await;
    assert_eq!(status["status"], "Succeeded", "{status}");
    assert_eq!(status["properties"]["RetentionInDays"], 7);
    assert_eq!(changes(world), [1, 1, 0]);
}

/// Another declaration with the same effect has to be remembered, since a later put may leave out a part of it.
#[apply(on_every_store)]
async fn another_declaration_that_changes_nothing_is_remembered(world: &World) {
    let declared = json!({"CidrBlock": "10.0.0.0/16"});
    world.put_and_settle(VPC, "main", declared.clone()).await;
    let vpc = world.live("AWS::EC2::VPC").remove(0);
    let names = json!({"EnableDnsHostnames": true});
    change_outside(world, "AWS::EC2::VPC", &vpc, &names);
    let same = Request::put(VPC, "main", &declared);
    same.alone(world).await.expect(200);
    let more = json!({"CidrBlock": "10.0.0.0/16", "EnableDnsHostnames": true});
    let put = Request::put(VPC, "main", &more);
    put.costs(world, 200, 1, &[("recorded_alias", 1), ("remember", 1)])
        .await;
    assert_eq!(
        reference(world, VPC, "main")
            .await
            .baseline
            .unwrap()
            .declared,
        more
    );
    put.costs(world, 200, 1, &[("recorded_alias", 1)]).await;
}

#[apply(on_every_store)]
async fn puts_that_change_nothing_do_not_refuse_each_other(world: &World) {
    let declared = json!({"CidrBlock": "10.0.0.0/16"});
    world.put_and_settle(VPC, "main", declared.clone()).await;
    let vpc = world.live("AWS::EC2::VPC").remove(0);
    let put = Request::put(VPC, "main", &declared);
    change_outside(
        world,
        "AWS::EC2::VPC",
        &vpc,
        &json!({"EnableDnsHostnames": true}),
    );
    let before = stored(world, VPC, "main").await;
    // All of them have read the same before the first of them writes.
    let count = reads(world);
    (0..30).for_each(|_| world.hold_next_read());
    let release = async {
        until("all have read", async || reads_since(world, count) == 30).await;
        world.release_reads();
    };
    let (statuses, ()) = tokio::join!(all_at_once(30, || put.alone(world)), release);
    assert_eq!(statuses, [200; 30]);
    let after = stored(world, VPC, "main").await;
    assert_eq!(after.operations, before.operations);
    assert_eq!(after.history, before.history);
}

#[apply(on_every_store)]
async fn an_update_is_read_for_by_its_request_and_after_its_success(world: &World) {
    let declared = |days: u32| Request::put(LOG_GROUP, "logs", &logs(days));
    world.put_and_settle(LOG_GROUP, "logs", logs(7)).await;
    let days = [(14, 0, 2), (30, 4_999, 2), (60, 5_000, 3)];
    for (days, millis, expected) in days {
        let before = reads(world);
        let updated = declared(days).alone(world).await.expect(201);
        assert_eq!(reads(world), before + 1, "the look of the request");
        world.clock.advance(Duration::from_millis(millis));
        world.settle().await;
        let status = world.status(&updated).await;
        assert_eq!(status["properties"]["RetentionInDays"], days, "{status}");
        assert_eq!(reads(world), before + expected, "after {millis} ms");
    }
}

#[apply(on_every_store)]
async fn a_request_that_does_not_wait_does_not_look(world: &World) {
    world.put_and_settle(LOG_GROUP, "logs", logs(7)).await;
    stray(world, "other").await;
    let days = json!({"RetentionInDays": 7});
    for request in [
        Request::put(LOG_GROUP, "logs", &logs(7)),
        Request::put_by_name(LOG_GROUP, "other", &days),
        Request::patch(LOG_GROUP, "other", &days),
        Request::import(LOG_GROUP, "imported", "other"),
        Request::delete_by_name(LOG_GROUP, "other"),
        Request::delete(LOG_GROUP, "logs"),
    ] {
        let before = reads(world);
        let reply = request.unwaited(world).await;
        assert!(matches!(reply.status, 201 | 202), "{request:?}: {reply:?}");
        assert_eq!(reads(world), before, "{request:?}");
        world.settle().await;
        let status: Value = world.status(&reply).await;
        assert_eq!(status["status"], "Succeeded", "{request:?}: {status}");
        assert!(reads(world) > before, "{request:?}");
    }
    assert_eq!(changes(world), [2, 0, 2]);
}

#[apply(on_every_store)]
async fn what_is_too_large_is_refused_without_a_look(world: &World) {
    world.put_and_settle(LOG_GROUP, "logs", logs(7)).await;
    let large =
        json!({"LogGroupName": "logs", "DataProtectionPolicy": {"is": "x".repeat(300_000)}});
    let refused = Request::put(LOG_GROUP, "logs", &large);
    refused.costs(world, 413, 0, &[]).await;
    let path = path(LOG_GROUP, "logs");
    let body = json!({"properties": large}).to_string();
    let by_name = Request {
        method: "PUT",
        path,
        body,
    };
    by_name.costs(world, 413, 0, &[]).await;
}

/// A name that AWS spells quite otherwise than its caller.
#[apply(on_every_store)]
async fn another_spelling_costs_at_most_two_reads(world: &World) {
    stray(world, "real/name").await;
    world.also_name("real/name", "asked");
    let days = json!({"RetentionInDays": 7});
    let named = json!({"LogGroupName": "asked", "RetentionInDays": 7});
    let twice = [("recorded_target", 2)];
    for request in [
        Request::put_by_name(LOG_GROUP, "asked", &days),
        Request::patch(LOG_GROUP, "asked", &days),
        Request::new("POST", LOG_GROUP, ":put", &json!({ "properties": named })),
    ] {
        let same = request.costs(world, 200, 2, &twice).await;
        assert_eq!(same.body["id"], path(LOG_GROUP, "real%2Fname"));
    }
    let changed = json!({"RetentionInDays": 14});
    let updated = Request::put_by_name(LOG_GROUP, "asked", &changed);
    let updated = updated.attended(world).await.expect(201);
    world.settle().await;
    let status = world.status(&updated).await;
    assert_eq!(status["status"], "Succeeded", "{status}");
    assert_eq!(status["properties"]["RetentionInDays"], 14);

    // Under an alias, the spelling is remembered.
    let named = json!({"LogGroupName": "asked", "RetentionInDays": 14});
    let adopted = Request::put(LOG_GROUP, "main", &named);
    let calls = [
        ("recorded_alias", 2),
        ("recorded_target", 2),
        ("count_references", 1),
        ("get_reference", 1),
        ("adopt", 1),
    ];
    adopted.costs(world, 200, 2, &calls).await;
    let reference = &world.references().await[0];
    assert_eq!(reference["mapsTo"]["primaryIdentifier"], "real/name");
    adopted.costs(world, 200, 1, &[("recorded_alias", 1)]).await;

    Request::delete_by_name(LOG_GROUP, "asked")
        .attended(world)
        .await
        .expect(202);
    world.settle().await;
    assert!(world.live("AWS::Logs::LogGroup").is_empty());
    assert!(world.references().await.is_empty());
}
