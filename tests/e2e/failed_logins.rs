//! Logins that fail again and again: each costs the client time, and from some number on neither the audit nor the log has a
//! line for each.

use std::net::SocketAddr;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use futures_util::FutureExt as _;
use tokio::time::Instant;
use ucp_listen::Peer;
use ucp_store::{AuditEvent, AuditOutcome};
use ucp_testkit::{GROUP, Reply, StoreKind, World, apply, on_every_store};

const MINUTE: Duration = Duration::from_secs(60);
/// How many failures of an address in a minute have lines of their own.
const MOST: usize = 100;
/// More than a process stores of unknown callers in a minute.
const STORED: usize = 60;

fn peer(last: u8) -> Peer {
    Peer(SocketAddr::from(([192, 0, 2, last], 4_711)))
}

async fn world(kind: StoreKind) -> Option<World> {
    let world = World::builder().requiring_authentication().on(kind).await?;
    let world = world.build().await;
    world.expect_log("many logins from this address fail");
    Some(world)
}

/// Shows certificates that are not accepted, and leaves as soon as it would have to wait. Returns how often it would have.
fn show_certificates(world: &World, peer: Peer, count: usize) -> usize {
    let shown = (0..count).filter(|_| {
        let refused = world.witness().login_failed(peer, "UnknownIssuer");
        refused.now_or_never().is_none()
    });
    shown.count()
}

async fn ask(world: &World, peer: Peer, token: &str) -> Reply {
    let request = Request::get(format!("{GROUP}?api-version=2023-10-01-preview"))
        .header("host", "localhost")
        .header("authorization", token)
        .extension(peer);
    let request = request.body(Body::empty()).expect("a request");
    world.send(request).await
}

/// Returns what was refused since the latest call, and goes on to the next minute.
async fn refused(world: &World, seen: &mut usize) -> Vec<AuditEvent> {
    let events = world.audited().await;
    world.clock.advance(MINUTE);
    let refused = events[*seen..].to_vec();
    *seen = events.len();
    refused
}

/// Nobody else is slowed, and what is recorded is there before the wait.
#[apply(on_every_store)]
async fn failures_beyond_the_limit_are_only_counted(kind: StoreKind) {
    let Some(world) = world(kind).await else {
        return;
    };
    let mut seen = world.audited().await.len();
    world.clock.advance(MINUTE);
    assert_eq!(show_certificates(&world, peer(1), MOST), MOST - 5);
    let certificates = refused(&world, &mut seen).await;
    assert_eq!(certificates.len(), STORED);
    for event in &certificates {
        let said = (event.action.as_str(), event.peer.as_deref());
        assert_eq!(said, ("connect", Some("192.0.2.1")));
    }

    // One with room in the store says how many had none.
    ask(&world, peer(2), "Bearer wrong").await.expect(401);
    let first = refused(&world, &mut seen).await;
    assert_eq!(first.len(), 1);
    assert_eq!(first[0].suppressed, u64::try_from(MOST - STORED).unwrap());

    // Of the first address, neither certificates nor tokens have a line from now on.
    assert_eq!(show_certificates(&world, peer(1), 20), 20);
    for _ in 0..7 {
        let reply = ask(&world, peer(1), "Bearer wrong").await.expect(429);
        assert_eq!(reply.code(), "TooManyRequests");
    }
    assert_eq!(refused(&world, &mut seen).await, []);
    ask(&world, peer(2), "Bearer wrong").await.expect(401);
    let next = refused(&world, &mut seen).await;
    assert_eq!(next.len(), 1);
    assert_eq!((next[0].status, next[0].suppressed), (Some(401), 27));
    world.finish().await;
}

/// Whoever hangs up before their login is refused is recorded, too.
#[tokio::test(start_paused = true)]
async fn who_does_not_wait_for_the_refusal_is_recorded() {
    let world = world(StoreKind::Memory).await.expect("it needs nothing");
    for _ in 0..5 {
        ask(&world, peer(1), "Bearer wrong").await.expect(401);
    }
    let before = world.audited().await.len();
    let asking = ask(&world, peer(1), "Bearer wrong");
    let hung_up = tokio::time::timeout(Duration::from_millis(50), asking).await;
    assert!(hung_up.is_err(), "the sixth waits for twice as long");
    let left = world.audited().await.split_off(before);
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].outcome, AuditOutcome::Refused);
    assert_eq!(left[0].status, Some(401));
    assert_eq!(left[0].code.as_deref(), Some("AuthenticationFailed"));
    world.finish().await;
}

/// The place of a client that shows one certificate after the other is held for as long as it has to wait.
#[tokio::test(start_paused = true)]
async fn each_further_certificate_takes_longer() {
    let world = world(StoreKind::Memory).await.expect("it needs nothing");
    let waits = [0, 0, 0, 0, 0, 100, 200, 400, 800, 1_600, 2_000];
    for millis in waits {
        let began = Instant::now();
        let witness = world.witness();
        witness.login_failed(peer(1), "UnknownIssuer").await;
        assert_eq!(began.elapsed(), Duration::from_millis(millis));
    }
    show_certificates(&world, peer(1), MOST - waits.len());
    let began = Instant::now();
    let witness = world.witness();
    witness.login_failed(peer(1), "UnknownIssuer").await;
    assert_eq!(began.elapsed(), Duration::from_secs(2));
    world.finish().await;
}
