//! Requests are weighed by the memory that they work with: those of one caller wait for each other, and are refused after a while.

use axum::body::Body;
use axum::http::Request;
use serde_json::json;
use ucp_access::Role;
use ucp_app::CALLER_MAX_BYTES;
use ucp_testkit::{ACCOUNT, REGION, Reply, World, tracked_by};

use crate::rights::grant;

const LOGS: &str = "AWS.Logs/LogGroup";

/// Sends a request without stepping the engine, so that time passes while it waits.
async fn send(world: &World, who: &str, method: &str, path: &str, body: &str) -> Reply {
    let bearer = format!("Bearer {who}");
    let headers = [("authorization", &*bearer)];
    world.send_with(&headers, method, path, body).await
}

/// A put whose declaration has so many values that two of them are more than a caller may have under way.
async fn put(world: &World, who: &str, alias: &str) -> Reply {
    let values = vec![0; 42_000];
    let properties = json!({"LogGroupName": alias, "DataProtectionPolicy": {"Values": values}});
    let body = json!({"trackedBy": tracked_by(LOGS, alias), "properties": properties});
    let path = format!(
        "/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{LOGS}/:put?api-version=2023-10-01-preview"
    );
    send(world, who, "POST", &path, &body.to_string()).await
}

#[tokio::test(start_paused = true)]
async fn a_caller_has_only_so_much_under_way() {
    let owners = ["alice", "bob"].map(|name| grant(name, Role::Owner, &["/"]));
    let world = &World::builder().granting(owners.to_vec()).build().await;
    world.put_group("rg").await;
    world.hold_next_accept();
    let held = put(world, "alice", "first");
    let others = async {
        world.is_accept_held().await;
        let refused = put(world, "alice", "second").await.expect(429);
        assert_eq!(refused.code(), "TooManyRequests", "{}", refused.text);
        assert_eq!(refused.header("retry-after"), Some("1"));
        assert!(refused.text.contains("your requests"), "{}", refused.text);
        // What has no body is served, and so is somebody else.
        let group = "/planes/radius/local/resourceGroups/rg?api-version=2023-10-01-preview";
        send(world, "alice", "GET", group, "").await.expect(200);
        put(world, "bob", "third").await.expect(201);
        world.release_accepts();
    };
    let (held, ()) = tokio::join!(held, others);
    held.expect(201);
    put(world, "alice", "second").await.expect(201);
}

/// What stands in the groups of a refactor takes room as it is read, however small the body is.
#[tokio::test]
async fn a_refactor_takes_room_for_what_it_compares() {
    let world = &World::builder()
        .granting(vec![grant("alice", Role::Owner, &["/"])])
        .build()
        .await;
    world.put_group("rg").await;
    put(world, "alice", "large").await.expect(201);
    world.settle().await;
    let path = "/planes/radius/local/resourceGroups/rg/:refactor?api-version=2023-10-01-preview";
    let plan = json!({"scope": format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}"),
        "mode": "plan", "resources": []});
    let plan = async || send(world, "alice", "POST", path, &plan.to_string()).await;
    let others = world.room_of("alice");
    others.enter(CALLER_MAX_BYTES - (2 << 20)).await.unwrap();
    let refused = plan().await.expect(429);
    assert_eq!(refused.code(), "TooManyRequests", "{}", refused.text);
    drop(others);
    plan().await.expect(200);
}

/// Of a group with large resources, those that a set does not list take no room.
#[tokio::test]
async fn a_set_takes_room_for_what_it_lists() {
    let world = &World::builder()
        .granting(vec![grant("alice", Role::Owner, &["/"])])
        .build()
        .await;
    world.put_group("rg").await;
    for alias in ["a", "b", "c"] {
        put(world, "alice", alias).await.expect(201);
        world.settle().await;
    }
    let path = "/planes/radius/local/resourceGroups/rg/:whatIf?api-version=2023-10-01-preview";
    let what_if = async |alias: &str| {
        let set = json!({"resources": [{
            "alias": alias, "type": LOGS, "properties": {"LogGroupName": alias},
            "scope": format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}"),
        }]});
        send(world, "alice", "POST", path, &set.to_string()).await
    };
    let others = world.room_of("alice");
    others.enter(CALLER_MAX_BYTES - (4 << 20)).await.unwrap();
    what_if("d").await.expect(200);
    what_if("a").await.expect(429);
}

/// Whoever takes long to receive a reply has no more of the memory than that reply.
#[tokio::test]
async fn a_reply_that_is_not_taken_keeps_its_own_length() {
    let world = &World::builder()
        .granting(vec![grant("alice", Role::Owner, &["/"])])
        .build()
        .await;
    world.put_group("rg").await;
    put(world, "alice", "a").await.expect(201);
    world.settle().await;
    let path = "/planes/radius/local/resourceGroups/rg?api-version=2023-10-01-preview";
    let request = Request::get(path)
        .header("host", "localhost")
        .header("authorization", "Bearer alice");
    let response = world.answered(request.body(Body::empty()).unwrap()).await;
    let length = response.headers()["content-length"].to_str().unwrap();
    let length: usize = length.parse().unwrap();
    assert!(length > 80_000, "{length}");
    let rest = CALLER_MAX_BYTES - length - 2_048;
    let more = world.room_of("alice");
    more.enter(rest).await.unwrap();
    assert!(more.take(4_096).is_err());
    drop(response);
    more.take(4_096).unwrap();
}
