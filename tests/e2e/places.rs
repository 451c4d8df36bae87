//! What goes on without its client keeps the place of the client among the connections of its address. What waits for nobody
//! ends.

use std::net::SocketAddr;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Extension;
use axum::http::{Request, StatusCode};
use axum::routing::get;
use futures_util::FutureExt as _;
use hyper_util::service::TowerToHyperService;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::spawn_blocking;
use ucp_cpu_pool::CpuPool;
use ucp_listen::{Http2Limits, Limits, Place, Refusal};
use ucp_store::AuditOutcome;
use ucp_testkit::{ACCOUNT, GROUP, REGION, World, apply, on_every_store, tracked_by};

/// A server that gives an address one place, and its requests to the test.
struct Door {
    address: SocketAddr,
    places: UnboundedReceiver<Place>,
}

impl Door {
    async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let limits = Limits {
            connections: 9,
            peer: Some(1),
            refusal: Refusal {
                status: StatusCode::SERVICE_UNAVAILABLE,
                body: "",
            },
            head_bytes: 64 << 10,
            head_timeout: None,
            write: None,
            http2: Http2Limits::USUAL,
            grace: None,
        };
        let (given, places) = unbounded_channel();
        let take = get(async move |Extension(place): Extension<Place>| {
            given.send(place).expect("the test takes it");
        });
        let service = TowerToHyperService::new(Router::new().route("/", take));
        let forever = std::future::pending();
        let serving = ucp_listen::serve(listener, service, limits, None, Arc::new(()), forever);
        tokio::spawn(serving);
        Self { address, places }
    }

    /// Asks for the place. `None` if it is taken.
    async fn place(&mut self) -> Option<Place> {
        let mut stream = TcpStream::connect(self.address).await.expect("a port");
        // What is refused may be closed before it is read.
        let _ = stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await;
        let mut head = [0; 12];
        let read = stream.read_exact(&mut head).await;
        if read.is_ok() && head == *b"HTTP/1.1 200" {
            self.places.recv().await
        } else {
            None
        }
    }

    /// Waits until the place is free.
    async fn freed(&mut self) {
        while self.place().await.is_none() {
            tokio::task::yield_now().await;
        }
    }
}

/// A request for an action on resources of a type, from the client that has this place.
fn post(resource_type: &str, action: &str, body: &Value, place: Place) -> Request<Body> {
    let path = format!(
        "/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{resource_type}/:{action}"
    );
    Request::post(path)
        .header("host", "127.0.0.1")
        .header("content-type", "application/json")
        .extension(place)
        .body(Body::from(body.to_string()))
        .expect("a request")
}

#[apply(on_every_store)]
async fn a_change_that_goes_on_keeps_its_place(world: &World) {
    let mut door = Door::open().await;
    let place = door.place().await.expect("it is free");
    let body = json!({
        "alias": "logs",
        "trackedBy": tracked_by("AWS.Logs/LogGroup", "logs"),
        "properties": {"LogGroupName": "logs"},
    });
    world.hold_next_read();
    tokio::select! {
        reply = world.send(post("AWS.Logs/LogGroup", "put", &body, place)) => panic!("{reply:?}"),
        () = world.is_read_held() => {}
    }
    assert!(door.place().await.is_none());
    world.release_reads();
    let stepping = async {
        loop {
            world.step().await;
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        () = stepping => {}
        () = door.freed() => {}
    }
    world.settle().await;
}

/// The request ends with its client, and what a thread judges for it cannot. There is one such thread, and the test keeps it busy.
#[test]
fn what_is_judged_for_nobody_keeps_its_place() {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(1)
        .build();
    runtime.expect("a runtime").block_on(async {
        let world = World::builder().judged_in(CpuPool::new()).build().await;
        let mut door = Door::open().await;
        let place = door.place().await.expect("it is free");
        let (let_go, held) = mpsc::channel::<()>();
        let busy = spawn_blocking(move || held.recv().expect("the test lets it go"));
        // Too much to be judged at once.
        let properties = json!({"AliasAttributes": vec![""; 20_000]});
        let body = json!({"properties": properties});
        let request = post("AWS.Cognito/UserPool", "validate", &body, place);
        assert!(world.send(request).now_or_never().is_none());
        for _ in 0..20 {
            assert!(door.place().await.is_none());
        }
        let_go.send(()).expect("it is held");
        busy.await.expect("no panic");
        door.freed().await;
        world.finish().await;
    });
}

/// Waits until there is an operation to carry out.
async fn is_accepted(world: &World) {
    let is_due = async || {
        let at = world.store.next_claimable_at().await;
        at.expect("an answer").is_some()
    };
    while !is_due().await {
        tokio::task::yield_now().await;
    }
}

/// The deletion goes on, and the request that would tell of its end does not.
#[apply(on_every_store)]
async fn nobody_waits_for_the_end_of_a_deletion_without_its_client(world: &World) {
    let properties = json!({"LogGroupName": "logs"});
    world
        .put_and_settle("AWS.Logs/LogGroup", "logs", properties)
        .await;
    let before = world.audited().await.len();
    let path = format!("{GROUP}?api-version=2023-10-01-preview");
    tokio::select! {
        reply = world.send_with(&[], "DELETE", &path, "") => panic!("{reply:?}"),
        () = is_accepted(world) => {}
    }
    // A world waits for twenty seconds.
    let recorded = async {
        loop {
            let mut events = world.audited().await.split_off(before);
            match events.pop() {
                Some(event) => break event,
                None => tokio::task::yield_now().await,
            }
        }
    };
    let recorded = tokio::time::timeout(Duration::from_secs(10), recorded).await;
    let event = recorded.expect("nobody waits");
    assert_eq!(
        (event.outcome, event.status),
        (AuditOutcome::Allowed, Some(202))
    );
    assert!(event.operation.is_some());
    world.settle().await;
    world.get(&path).await.expect(404);
}
