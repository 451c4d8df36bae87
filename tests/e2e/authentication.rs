//! Who calls: requests with tokens, without, and with those that are not valid.

use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use serde_json::json;
use ucp_access::Role;
use ucp_testkit::{
    ACCOUNT, GROUP, REGION, Reply, StoreKind, World, apply, on_every_store, tracked_by,
};

const API: &str = "api-version=2023-10-01-preview";

async fn known(kind: StoreKind) -> Option<World> {
    let builder = World::builder().on(kind).await?;
    Some(builder.requiring_authentication().build().await)
}

async fn ask(world: &World, headers: &[(&'static str, &str)]) -> Reply {
    let path = format!("{GROUP}?{API}");
    world.send_with(headers, "GET", &path, "").await
}

async fn ask_with(world: &World, token: &str) -> Reply {
    ask(world, &[("authorization", &format!("Bearer {token}"))]).await
}

/// Asserts that a reply is 401 in ARM's shape, with a challenge.
#[track_caller]
fn assert_unknown(reply: Reply, is_invalid: bool) {
    let reply = reply.expect(401);
    assert_eq!(reply.code(), "AuthenticationFailed");
    let challenge = if is_invalid {
        r#"Bearer realm="ucp", error="invalid_token""#
    } else {
        r#"Bearer realm="ucp""#
    };
    assert_eq!(reply.header("www-authenticate"), Some(challenge));
    assert!(reply.header("x-ms-request-id").is_some());
}

/// The put of a VPC, with a token.
fn put(token: Option<&str>) -> Request<Body> {
    let path =
        format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/AWS.EC2/VPC/:put");
    let tracked_by = tracked_by("AWS.EC2/VPC", "main");
    let body = json!({"trackedBy": tracked_by, "properties": {"CidrBlock": "10.0.0.0/16"}});
    let mut request = Request::post(path).header("host", "localhost:8787");
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    let body = Body::from(body.to_string());
    request.body(body).expect("a request")
}

#[apply(on_every_store)]
async fn a_token_is_the_caller_of_what_it_does(kind: StoreKind) {
    let Some(world) = known(kind).await else {
        return;
    };
    assert_unknown(world.send(put(None)).await, false);
    let token = world.token("ci", Role::Owner, &["/"], None).await;
    let accepted = world.send_until_settled(put(Some(&token))).await;
    let accepted = accepted.expect(201);
    world.settle().await;
    let status = accepted
        .status_url()
        .split_once("://localhost:8787")
        .unwrap()
        .1;
    let bearer = format!("Bearer {token}");
    let status = world
        .send_with(&[("authorization", &bearer)], "GET", status, "")
        .await
        .expect(200);
    assert_eq!(status.body["caller"], "token:ci");
    let events = world.events("AWS.EC2/VPC", "main").await;
    assert_eq!(events[0].caller, "token:ci");
    world.finish().await;
}

#[apply(on_every_store)]
async fn who_is_not_known_gets_only_what_is_public(kind: StoreKind) {
    let Some(world) = known(kind).await else {
        return;
    };
    for path in [
        "/healthz",
        "/readyz",
        "/openapi.json",
        "/docs/",
        "/docs/errors/AuthenticationFailed",
        "/docs/how-to/README.md",
    ] {
        world.get(path).await.expect(200);
        // Whether the store answers or not.
        let wrong = [("authorization", "Bearer ucp_wrong")];
        world.send_with(&wrong, "GET", path, "").await.expect(200);
    }
    for path in ["/planes", "/version", "/nothing", "/planes/docs/x", GROUP] {
        for method in ["GET", "HEAD", "PUT", "POST", "OPTIONS"] {
            let reply = world.send_with(&[], method, path, "").await;
            assert_eq!(reply.status, 401, "{method} {path}: {}", reply.text);
            let challenge = reply.header("www-authenticate");
            assert_eq!(challenge, Some(r#"Bearer realm="ucp""#));
        }
    }
    assert_unknown(ask(&world, &[("authorization", "Basic dTpw")]).await, false);
    world.finish().await;
}

/// They are refused even where nobody has to be known.
#[apply(on_every_store)]
async fn tokens_that_are_not_valid_are_refused(kind: StoreKind) {
    for is_required in [true, false] {
        let Some(builder) = World::builder().on(kind).await else {
            return;
        };
        let world = if is_required {
            builder.requiring_authentication().build().await
        } else {
            builder.build().await
        };
        world.tolerate_log("many logins from this address fail");
        let token = world.token("ci", Role::Owner, &["/"], None).await;
        ask_with(&world, &token).await.expect(200);
        let last = if token.ends_with('A') { 'B' } else { 'A' };
        let (id, secret) = (&token[4..16], &token[17..]);
        for wrong in [
            token[..59].to_owned(),
            format!("{}{last}", &token[..59]),
            format!("{token}A"),
            format!("ucp_{id}_{}", "A".repeat(43)),
            format!("ucp_aaaaaaaaaaaa_{secret}"),
            token.to_ascii_uppercase(),
            "ucp_".to_owned(),
            "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ.".to_owned(),
            String::new(),
        ] {
            let reply = ask_with(&world, &wrong).await;
            assert!(wrong.is_empty() || !reply.text.contains(&wrong));
            assert_unknown(reply, true);
        }
        world.finish().await;
    }
}

#[apply(on_every_store)]
async fn a_token_expires_by_the_clock(kind: StoreKind) {
    let Some(world) = known(kind).await else {
        return;
    };
    let lifetime = Duration::from_secs(3_600);
    let token = world.token("ci", Role::Owner, &["/"], Some(lifetime)).await;
    world.clock.advance(lifetime - Duration::from_millis(1));
    ask_with(&world, &token).await.expect(200);
    world.clock.advance(Duration::from_millis(1));
    let reply = ask_with(&world, &token).await;
    assert!(reply.text.contains("expired"), "{}", reply.text);
    assert_unknown(reply, true);
    world.finish().await;
}

#[apply(on_every_store)]
async fn a_revoked_token_is_refused_within_five_seconds(kind: StoreKind) {
    let Some(world) = known(kind).await else {
        return;
    };
    let token = world.token("ci", Role::Owner, &["/"], None).await;
    ask_with(&world, &token).await.expect(200);
    // By another process.
    let (id, now) = (&token[4..16], ucp_model::Clock::now(world.clock.as_ref()));
    assert!(world.store.revoke_token(id, now).await.unwrap());
    world.clock.advance(Duration::from_millis(4_999));
    ask_with(&world, &token).await.expect(200);
    world.clock.advance(Duration::from_millis(1));
    let reply = ask_with(&world, &token).await;
    assert!(reply.text.contains("revoked"), "{}", reply.text);
    assert_unknown(reply, true);
    world.finish().await;
}

/// Whoever reaches the port can send these headers.
#[apply(on_every_store)]
async fn headers_of_a_proxy_count_only_from_a_proxy(kind: StoreKind) {
    let Some(world) = known(kind).await else {
        return;
    };
    let forged = [
        ("x-remote-user", "admin"),
        ("x-remote-group", "system:masters"),
    ];
    assert_unknown(ask(&world, &forged).await, false);
    let token = world.token("ci", Role::Owner, &["/"], None).await;
    let bearer = format!("Bearer {token}");
    let headers = [&forged[..], &[("authorization", &bearer)]].concat();
    let path = format!("/planes/radius/local/resourceGroups/x?{API}");
    let body = r#"{"location":"global"}"#;
    world
        .send_with(&headers, "PUT", &path, body)
        .await
        .expect(200);
    world.finish().await;
}

#[apply(on_every_store)]
async fn a_put_that_changes_nothing_reads_no_more_with_a_token(world: &World) {
    let token = world.token("ci", Role::Owner, &["/"], None).await;
    let accepted = world.send_until_settled(put(Some(&token))).await;
    accepted.expect(201);
    world.settle().await;
    let cost = async |token: Option<&str>| {
        let before = world.asked_of_store();
        world.send(put(token)).await.expect(200);
        let mut after = world.asked_of_store();
        for (method, count) in before {
            *after.entry(method).or_default() -= count;
        }
        after.retain(|_, count| *count > 0);
        after
    };
    ask_with(world, &token).await.expect(200);
    let without = cost(None).await;
    assert!(!without.is_empty());
    assert_eq!(cost(Some(&token)).await, without);
}

#[apply(on_every_store)]
async fn the_use_of_a_token_is_recorded_once_a_minute(world: &World) {
    let token = world.token("ci", Role::Owner, &["/"], None).await;
    let last_used = async || {
        let stored = world.store.get_token(&token[4..16]).await.unwrap();
        stored.unwrap().last_used_at
    };
    let noted = || world.asked_store("note_token_use");
    // A wrong secret is no use of the token.
    let wrong = format!("{}_{}", &token[..16], "A".repeat(43));
    ask_with(world, &wrong).await.expect(401);
    assert_eq!((last_used().await, noted()), (None, 0));
    let now = || ucp_model::Clock::now(world.clock.as_ref());
    for minute in 1..=2 {
        let first = now();
        for _ in 0..11 {
            ask_with(world, &token).await.expect(200);
            // The reply did not wait for it.
            while last_used().await != Some(first) {
                tokio::task::yield_now().await;
            }
            world.clock.advance(Duration::from_millis(5_400));
        }
        assert_eq!(noted(), minute);
        world.clock.advance(Duration::from_secs(1));
    }
}

/// Who is known does not wait beside who tries.
#[apply(on_every_store)]
async fn failed_logins_are_slowed(world: &World) {
    world.expect_log("many logins from this address fail");
    let token = world.token("ci", Role::Owner, &["/"], None).await;
    for _ in 0..5 {
        ask_with(world, "ucp_wrong").await.expect(401);
    }
    let began = tokio::time::Instant::now();
    let slowed = async {
        ask_with(world, "ucp_wrong").await.expect(401);
        began.elapsed()
    };
    let known = async {
        ask_with(world, &token).await.expect(200);
        ask(world, &[]).await.expect(200);
    };
    let (slowed, ()) = tokio::join!(slowed, known);
    assert!(slowed >= Duration::from_millis(100), "{slowed:?}");
}
