//! What is counted of platforms: failed logins together with those of ARM, changes, and requests.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};
use tokio::time::Instant;
use ucp_api::Rates;
use ucp_app::CALLER_MAX_BYTES;
use ucp_listen::Peer;
use ucp_store::AuditOutcome;
use ucp_testkit::{GROUP, Reply, StoreKind, World, apply, on_every_store};

use super::*;

/// How many failures of an address in a minute are answered each.
const MOST: usize = 100;

/// Fails to sign in to the broker, or to ARM.
async fn fail(world: &World, last: u8, is_platform: bool) -> Reply {
    if is_platform {
        sign_in(world, last, "/v2/catalog", "Basic Y2Y6d3Jvbmc=").await
    } else {
        let path = format!("{GROUP}?api-version=2023-10-01-preview");
        sign_in(world, last, &path, "Bearer wrong").await
    }
}

async fn sign_in(world: &World, last: u8, path: &str, credentials: &str) -> Reply {
    let request = Request::get(path)
        .header("host", "localhost")
        .header("authorization", credentials)
        .header("x-broker-api-version", "2.17")
        .extension(Peer(SocketAddr::from(([192, 0, 2, last], 4_711))));
    let request = request.body(Body::empty()).expect("a request");
    world.send(request).await
}

/// An address has one count, whichever API it tries passwords and tokens at.
#[tokio::test(start_paused = true)]
async fn failed_logins_are_slowed_with_those_of_arm() {
    let world = World::builder().requiring_authentication();
    let world = world.build().await;
    world.expect_log("many logins from this address fail");
    for (number, millis) in [0, 0, 0, 0, 0, 100, 200, 400].into_iter().enumerate() {
        let began = Instant::now();
        fail(&world, 1, number % 2 == 0).await.expect(401);
        assert_eq!(began.elapsed(), Duration::from_millis(millis));
    }
    let more = (8..MOST).map(|number| fail(&world, 1, number % 2 == 0));
    for reply in futures_util::future::join_all(more).await {
        reply.expect(401);
    }
    let before = world.audited().await.len();
    let reply = fail(&world, 1, true).await;
    refused(&reply, 429, "TooManyRequests");
    let seconds: u64 = reply.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&seconds), "{seconds}");
    fail(&world, 1, false).await.expect(429);
    assert_eq!(world.audited().await.len(), before, "they are only counted");
    // Others are not slowed, and whoever knows the password gets in.
    let began = Instant::now();
    fail(&world, 2, true).await.expect(401);
    assert_eq!(began.elapsed(), Duration::ZERO);
    get(&world, "/v2/catalog").await.expect(200);
    world.finish().await;
}

/// Whoever guesses passwords is not told which one is right. A platform behind the same address goes on.
#[tokio::test(start_paused = true)]
async fn a_guess_beyond_the_limit_is_not_looked_at() {
    let world = World::builder().build().await;
    world.expect_log("many logins from this address fail");
    let right = headers("cf").remove(0).1;
    let catalog = async |last: u8| sign_in(&world, last, "/v2/catalog", &right).await;
    catalog(1).await.expect(200);
    let guesses = (0..2 * MOST).map(|number| fail(&world, 1 + (number % 2) as u8, true));
    for reply in futures_util::future::join_all(guesses).await {
        reply.expect(401);
    }
    refused(&catalog(2).await, 429, "TooManyRequests");
    catalog(1).await.expect(200);
    refused(&fail(&world, 1, true).await, 429, "TooManyRequests");
    tokio::time::advance(Duration::from_secs(60)).await;
    catalog(2).await.expect(200);
    world.finish().await;
}

/// Orders an instance.
async fn put(world: &World, platform: &str, instance: &str) -> Reply {
    let path = format!("{}?accepts_incomplete=true", at(instance));
    let order = order(BUCKET, DEV, json!({}));
    ask_as(world, platform, "PUT", &path, &order).await
}

#[apply(on_every_store)]
async fn too_many_changes_of_a_platform_are_refused(kind: StoreKind) {
    let rates = Rates {
        writes: NonZeroU32::new(1),
        aws_reads: None,
    };
    let Some(builder) = World::builder().rates(rates).on(kind).await else {
        return;
    };
    let world = builder.build().await;
    let put = async |platform: &str, instance: &str| put(&world, platform, instance).await;
    put("cf", "one").await.expect(202);
    put("cf", "two").await.expect(202);
    let reply = put("cf", "three").await;
    refused(&reply, 429, "TooManyRequests");
    assert_eq!(reply.header("retry-after"), Some("1"));
    // Each platform has its own, reads are free, and what is wrong is told.
    put("k8s", "one").await.expect(202);
    for _ in 0..5 {
        get(&world, "/v2/catalog").await.expect(200);
    }
    world.settle().await;
    refused(&get(&world, &at("three")).await, 404, "NotFound");
    world.clock.advance(Duration::from_secs(1));
    put("cf", "three").await.expect(202);
    world.settle().await;
    let events = world.audited().await;
    let too_many: Vec<_> = events.iter().filter(|it| it.status == Some(429)).collect();
    assert_eq!(too_many.len(), 1);
    assert_eq!(too_many[0].outcome, AuditOutcome::Refused);
    assert_eq!(too_many[0].code.as_deref(), Some("TooManyRequests"));
    world.finish().await;
}

/// Orders have their part of the memory that all requests work with, and each platform its own.
#[tokio::test(start_paused = true)]
async fn a_platform_has_only_so_much_under_way() {
    let world = World::builder().build().await;
    let put = async |platform: &str| put(&world, platform, "one").await;
    let held = world.room_of("broker:cf");
    held.enter(usize::MAX).await.unwrap();
    let reply = put("cf").await;
    refused(&reply, 429, "TooManyRequests");
    assert_eq!(reply.header("retry-after"), Some("1"));
    assert!(reply.text.contains("your requests"), "{}", reply.text);
    // What has no body is served, and so is another platform.
    get(&world, "/v2/catalog").await.expect(200);
    put("k8s").await.expect(202);
    drop(held);
    put("cf").await.expect(202);
    world.settle().await;
    world.finish().await;
}

/// What an order takes it has until it is accepted, and not only while it is read.
#[tokio::test(start_paused = true)]
async fn an_order_keeps_its_part_until_it_is_accepted() {
    let world = World::builder().build().await;
    let put = async |instance: &str| put(&world, "cf", instance).await;
    // There is room for one order, and not for two.
    let others = world.room_of("broker:cf");
    others.enter(CALLER_MAX_BYTES - (15 << 10)).await.unwrap();
    world.hold_next_accept();
    let while_it_is_held = async {
        world.is_accept_held().await;
        refused(&put("two").await, 429, "TooManyRequests");
        world.release_accepts();
    };
    let (first, ()) = tokio::join!(put("one"), while_it_is_held);
    first.expect(202);
    put("two").await.expect(202);
    world.settle().await;
    world.finish().await;
}

/// It is not known to which host a request goes that says two, or a user.
#[tokio::test]
async fn a_request_to_no_host_is_refused_everywhere() {
    let world = World::builder().build().await;
    let send = async |path: &str, hosts: &[&str]| {
        let request = hosts.iter().fold(Request::get(path), |request, host| {
            request.header("host", *host)
        });
        let request = headers("cf")
            .into_iter()
            .fold(request, |request, (name, value)| {
                request.header(name, value)
            });
        world.send(request.body(Body::empty()).unwrap()).await
    };
    for path in ["/v2/catalog", "/healthz", "/readyz"] {
        for hosts in [&["localhost", "localhost"][..], &["me@localhost"]] {
            let reply = send(path, hosts).await.expect(400);
            assert!(reply.text.contains("BadRequest"), "{path}: {}", reply.text);
        }
        send(path, &["anything.example"]).await.expect(200);
    }
    world.finish().await;
}

#[apply(on_every_store)]
async fn requests_of_platforms_are_measured(world: &World) {
    begin(world, "PUT", &at("one"), &order(BUCKET, DEV, json!({}))).await;
    get(world, "/v2/other").await.expect(404);
    ask(world, "PATCH", "/v2/other", &Value::Null)
        .await
        .expect(404);
    world.settle().await;
    let metrics = world.get("/metrics").await.expect(200).text;
    for line in [
        r#"ucp_http_requests_total{route="/v2/service_instances/{instance}",method="PUT",status="202"} 1"#,
        r#"ucp_http_request_duration_seconds_count{route="/v2/service_instances/{instance}",method="PUT"} 1"#,
        r#"ucp_http_requests_total{route="unserved",method="GET",status="404"} 1"#,
        r#"ucp_http_requests_total{route="unserved",method="PATCH",status="404"} 1"#,
    ] {
        assert!(metrics.lines().any(|it| it == line), "{line}: {metrics}");
    }
}
