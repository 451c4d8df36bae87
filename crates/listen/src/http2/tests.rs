//! The limits of HTTP/1.1 hold for HTTP/2, and a few of its own. The connection is a pipe, and the time moves by itself when
//! nobody has anything to do.

mod raw;

use std::convert::Infallible;
use std::sync::Arc;

use http_body_util::{BodyExt, Empty, Full};
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::TokioExecutor;
use tokio::io::AsyncWriteExt as _;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use self::raw::{
    CANCEL, DATA, ENHANCE_YOUR_CALM, GOAWAY, HEADERS, NO_ERROR, PING, REFUSED_STREAM, RST_STREAM,
    Raw, get, half_a_head, ping, take_back,
};
use super::*;
use crate::limits::{Http2Limits, WriteLimit};
use crate::peers::{Peer, Peers};
use crate::places::Places;
use crate::replying::{Replying, Traffic};

const SECOND: Duration = Duration::from_secs(1);
const LONG: Duration = Duration::from_secs(3600);
/// More than the windows of a client.
const LARGE: usize = 4 << 20;
/// What the pipe takes that nobody reads.
const PIPE: usize = 1 << 20;
/// The window of a client, in bytes.
const WINDOW: u32 = 65_535;

const LIMITS: Limits = Limits {
    connections: 100,
    peer: None,
    refusal: Refusal {
        status: StatusCode::SERVICE_UNAVAILABLE,
        body: "{}",
    },
    head_bytes: 64 << 10,
    head_timeout: None,
    write: None,
    http2: Http2Limits {
        ping: Duration::from_secs(1_000_000),
        ..Http2Limits::USUAL
    },
    grace: None,
};

/// The server of a connection. It answers `/wait` when it is let, and to `/COUNT` with so many bytes.
struct Server {
    /// Lets as many requests be answered.
    gate: Arc<Semaphore>,
    /// How many requests wait.
    waiting: watch::Receiver<usize>,
    /// Begins the shutdown when it is dropped.
    closing: watch::Sender<()>,
    ended: JoinHandle<()>,
}

type Sender = SendRequest<Empty<Bytes>>;

/// Serves a connection whose pipe keeps so many bytes for the client.
async fn serve(limits: Limits, pipe: usize) -> (Server, Raw) {
    let gate = Arc::new(Semaphore::new(0));
    let (counter, waiting) = watch::channel(0);
    let (counter, open) = (Arc::new(counter), Arc::clone(&gate));
    let service = service_fn(move |request: Request<Incoming>| {
        let (counter, open) = (Arc::clone(&counter), Arc::clone(&open));
        async move {
            let path = request.uri().path().trim_start_matches('/');
            if path == "wait" {
                counter.send_modify(|count| *count += 1);
                open.acquire().await.expect("it is never closed").forget();
            }
            let body = vec![b'x'; path.parse().unwrap_or_default()];
            Ok::<_, Infallible>(Response::new(Full::new(Bytes::from(body))))
        }
    });
    let (ours, theirs) = tokio::io::duplex(pipe);
    let traffic = Traffic::new();
    let stream = Replying::new(ours, limits.write, traffic.clone());
    let peers = Peers::new(limits.connections, limits.peer);
    let admitted = peers.admit([192, 0, 2, 1].into()).await;
    let visit = Visit {
        peer: Peer(([192, 0, 2, 1], 1).into()),
        places: Places::new(admitted.expect("room")),
        traffic,
        witness: Arc::new(()),
    };
    let (closing, closed) = watch::channel(());
    let serving = over_http2(stream, visit, service, limits, closed, pending());
    let server = Server {
        gate,
        waiting,
        closing,
        ended: tokio::spawn(serving),
    };
    (server, Raw(theirs))
}

/// The same with a client that makes room for some bytes, and for more when it has read them.
async fn connect(limits: Limits) -> (Server, Sender) {
    let (server, Raw(stream)) = serve(limits, PIPE).await;
    let client = Builder::new(TokioExecutor::new())
        .initial_stream_window_size(WINDOW)
        .handshake(TokioIo::new(stream))
        .await;
    let (sender, connection) = client.expect("a connection");
    tokio::spawn(connection);
    (server, sender)
}

/// The same with a client of raw frames, which has begun to speak.
async fn connect_raw(limits: Limits) -> (Server, Raw) {
    let (server, mut raw) = serve(limits, PIPE).await;
    raw.begin().await;
    (server, raw)
}

impl Server {
    async fn until_waiting(&self, count: usize) {
        let mut waiting = self.waiting.clone();
        let reached = waiting.wait_for(|waiting| *waiting >= count).await;
        reached.expect("a server");
    }
}

async fn ask(sender: &mut Sender, path: &str) -> Response<hyper::body::Incoming> {
    let request = Request::builder().uri(format!("https://localhost{path}"));
    let request = request.body(Empty::new()).expect("a request");
    sender.send_request(request).await.expect("an answer")
}

/// Asks in a task of its own.
fn asking(sender: &Sender, path: &'static str) -> JoinHandle<StatusCode> {
    let mut sender = sender.clone();
    tokio::spawn(async move { ask(&mut sender, path).await.status() })
}

async fn length(response: Response<hyper::body::Incoming>) -> Result<usize, hyper::Error> {
    let body = response.into_body().collect().await?;
    Ok(body.to_bytes().len())
}

#[tokio::test]
async fn heads_are_bounded() {
    let limits = Limits {
        head_bytes: 1_000,
        ..LIMITS
    };
    for (limits, count, bytes, status) in [
        (limits, 1, 100, 200),
        (limits, 1, 1_000, 431),
        (LIMITS, 100, 1, 200),
        (LIMITS, 101, 1, 431),
    ] {
        let (_server, mut sender) = connect(limits).await;
        let mut request = Request::builder().uri("https://localhost/1");
        for number in 0..count {
            request = request.header(format!("x-{number}"), "v".repeat(bytes));
        }
        let request = request.body(Empty::new()).expect("a request");
        let response = sender.send_request(request).await.expect("an answer");
        assert_eq!(response.status(), status, "{count} of {bytes}");
    }
}

#[tokio::test]
async fn replies_are_whole() {
    let (_server, mut sender) = connect(LIMITS).await;
    for bytes in [0, 1, 2, 16 << 10, (16 << 10) + 1, LARGE] {
        let response = ask(&mut sender, &format!("/{bytes}")).await;
        if bytes > 0 {
            assert_eq!(response.headers()["content-length"], bytes.to_string());
        }
        assert_eq!(length(response).await.expect("a body"), bytes);
    }
}

/// Who makes no room for a reply loses it, and nothing else.
#[tokio::test(start_paused = true)]
async fn a_reply_that_is_not_taken_is_reset_alone() {
    for (stall, whole) in [(2 * SECOND, LONG), (LONG, 2 * SECOND)] {
        let limits = Limits {
            write: Some(WriteLimit { stall, whole }),
            ..LIMITS
        };
        for bytes in [LARGE, WINDOW as usize + 1] {
            let (server, mut sender) = connect(limits).await;
            let waiting = asking(&sender, "/wait");
            server.until_waiting(1).await;
            let unread = ask(&mut sender, &format!("/{bytes}")).await;
            sleep(3 * SECOND).await;
            let reset = length(unread).await;
            assert!(reset.is_err(), "{bytes} with {stall:?} and {whole:?}");
            server.gate.add_permits(1);
            assert_eq!(waiting.await.expect("no panic"), 200);
            let next = ask(&mut sender, "/9").await;
            assert_eq!(length(next).await.expect("a body"), 9);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_reset_is_told() {
    let limits = Limits {
        write: Some(WriteLimit {
            stall: 2 * SECOND,
            whole: LONG,
        }),
        ..LIMITS
    };
    let (_server, mut raw) = connect_raw(limits).await;
    raw.send(&get(1, "/999999")).await;
    let reset = raw.next(&[RST_STREAM, GOAWAY]).await.expect("a frame");
    assert_eq!((reset.kind, reset.stream), (RST_STREAM, 1));
    assert_eq!(reset.code(), CANCEL);
}

/// A client that asks on and on without reading holds what it may, and no more.
#[tokio::test(start_paused = true)]
async fn a_reply_that_is_not_taken_keeps_its_place() {
    let limits = Limits {
        connections: 1,
        ..LIMITS
    };
    let (_server, mut sender) = connect(limits).await;
    let unread = ask(&mut sender, &format!("/{LARGE}")).await;
    assert_eq!(ask(&mut sender, "/9").await.status(), 503);
    assert_eq!(length(unread).await.expect("a body"), LARGE);
    assert_eq!(ask(&mut sender, "/9").await.status(), 200);
}

/// A window that is as large as the reply is enough.
#[tokio::test(start_paused = true)]
async fn what_fits_into_the_window_is_no_slow_reply() {
    let limits = Limits {
        write: Some(WriteLimit {
            stall: SECOND,
            whole: SECOND,
        }),
        ..LIMITS
    };
    let (server, mut sender) = connect(limits).await;
    let unread = ask(&mut sender, "/65535").await;
    // Meanwhile another one is in the making.
    let waiting = asking(&sender, "/wait");
    server.until_waiting(1).await;
    sleep(9 * SECOND).await;
    server.gate.add_permits(1);
    assert_eq!(waiting.await.expect("no panic"), 200);
    assert_eq!(length(unread).await.expect("a body"), WINDOW as usize);
}

#[tokio::test(start_paused = true)]
async fn who_asks_for_nothing_is_let_go() {
    let limits = Limits {
        head_timeout: Some(5 * SECOND),
        ..LIMITS
    };
    for sent in [
        None,
        Some(Vec::new()),
        Some(half_a_head(1)),
        Some(get(1, "/9")),
    ] {
        let begun = Instant::now();
        let (server, mut raw) = serve(limits, PIPE).await;
        if let Some(sent) = &sent {
            raw.begin().await;
            raw.send(sent).await;
        }
        raw.ends().await;
        // It is also given the time to confirm the end.
        let took = begun.elapsed();
        assert!(
            5 * SECOND <= took && took < 7 * SECOND,
            "{took:?}: {sent:?}"
        );
        server.ended.await.expect("no panic");
    }
    // Who waits for a reply is not idle.
    let (server, sender) = connect(limits).await;
    let waiting = asking(&sender, "/wait");
    server.until_waiting(1).await;
    sleep(60 * SECOND).await;
    server.gate.add_permits(1);
    assert_eq!(waiting.await.expect("no panic"), 200);
}

#[tokio::test(start_paused = true)]
async fn requests_beyond_the_limit_are_refused() {
    let limits = Limits {
        http2: Http2Limits {
            streams: 2,
            ..LIMITS.http2
        },
        ..LIMITS
    };
    let (server, mut raw) = connect_raw(limits).await;
    raw.send(&[get(1, "/wait"), get(3, "/wait"), get(5, "/wait")].concat())
        .await;
    let refused = raw.next(&[RST_STREAM]).await.expect("a frame");
    assert_eq!((refused.stream, refused.code()), (5, REFUSED_STREAM));
    server.until_waiting(2).await;
    server.gate.add_permits(2);
    for _ in 0..2 {
        assert!(raw.next(&[HEADERS]).await.is_some());
    }
    // A client that knows the limit gets all of its requests answered.
    let (server, mut sender) = connect(limits).await;
    assert_eq!(ask(&mut sender, "/1").await.status(), 200);
    server.gate.add_permits(9);
    let asked: Vec<_> = (0..9).map(|_| asking(&sender, "/wait")).collect();
    for answer in asked {
        assert_eq!(answer.await.expect("no panic"), 200);
    }
}

/// A rapid reset (CVE-2023-44487).
#[tokio::test(start_paused = true)]
async fn who_takes_back_too_many_requests_is_let_go() {
    let limits = Limits {
        http2: Http2Limits {
            resets: 5,
            ..LIMITS.http2
        },
        ..LIMITS
    };
    let taken_back = |count: u32| -> Vec<u8> {
        let streams = (0..count).map(|number| 2 * number + 1);
        streams
            .flat_map(|stream| [get(stream, "/wait"), take_back(stream)].concat())
            .collect()
    };
    let (_server, mut raw) = connect_raw(limits).await;
    let mut allowed = taken_back(5);
    allowed.extend(ping(b"all fine"));
    raw.send(&allowed).await;
    let answer = raw.next(&[PING, GOAWAY]).await.expect("a frame");
    assert_eq!((answer.kind, &answer.payload[..]), (PING, &b"all fine"[..]));

    let (_server, mut raw) = connect_raw(limits).await;
    raw.send(&taken_back(6)).await;
    assert_eq!(raw.ends().await, Some(ENHANCE_YOUR_CALM));
}

#[tokio::test(start_paused = true)]
async fn who_breaks_the_protocol_too_often_is_let_go() {
    let limits = Limits {
        http2: Http2Limits {
            streams: 1,
            errors: 2,
            ..LIMITS.http2
        },
        ..LIMITS
    };
    let (_server, mut raw) = connect_raw(limits).await;
    raw.send(&[get(1, "/wait"), get(3, "/wait"), get(5, "/wait")].concat())
        .await;
    for stream in [3, 5] {
        let refused = raw.next(&[RST_STREAM, GOAWAY]).await.expect("a frame");
        assert_eq!((refused.kind, refused.stream), (RST_STREAM, stream));
        assert_eq!(refused.code(), REFUSED_STREAM);
    }
    raw.send(&get(7, "/wait")).await;
    assert_eq!(raw.ends().await, Some(ENHANCE_YOUR_CALM));
}

#[tokio::test(start_paused = true)]
async fn who_does_not_answer_pings_is_let_go() {
    let limits = Limits {
        http2: Http2Limits {
            ping: 5 * SECOND,
            ..LIMITS.http2
        },
        ..LIMITS
    };
    let begun = Instant::now();
    let (_server, mut dead) = connect_raw(limits).await;
    dead.send(&get(1, "/wait")).await;
    dead.ends().await;
    assert!(begun.elapsed() < 12 * SECOND, "{:?}", begun.elapsed());
    // A client that answers them is not.
    let (server, sender) = connect(limits).await;
    let waiting = asking(&sender, "/wait");
    server.until_waiting(1).await;
    sleep(60 * SECOND).await;
    server.gate.add_permits(1);
    assert_eq!(waiting.await.expect("no panic"), 200);
}

#[tokio::test(start_paused = true)]
async fn the_end_waits_for_requests_and_not_for_idle_clients() {
    let (server, mut idle) = connect_raw(LIMITS).await;
    // It is served, and then does not confirm that the server leaves.
    idle.send(&ping(b"anything")).await;
    let answer = idle.next(&[PING]).await.expect("a frame");
    assert_eq!(answer.payload, b"anything");
    let begun = Instant::now();
    drop(server.closing);
    assert_eq!(idle.ends().await, Some(NO_ERROR));
    assert!(begun.elapsed() < 2 * SECOND, "{:?}", begun.elapsed());

    let (server, sender) = connect(LIMITS).await;
    let waiting = asking(&sender, "/wait");
    server.until_waiting(1).await;
    drop(server.closing);
    sleep(60 * SECOND).await;
    server.gate.add_permits(1);
    assert_eq!(waiting.await.expect("no panic"), 200);
    server.ended.await.expect("no panic");
}

/// What is left of a reply is sent, as over HTTP/1.1, though the request has ended.
#[tokio::test(start_paused = true)]
async fn the_end_waits_for_who_reads_slowly() {
    let (server, mut slow) = serve(LIMITS, 1 << 10).await;
    slow.begin().await;
    slow.send(&get(1, "/60000")).await;
    let head = slow.next(&[HEADERS]).await.expect("a head");
    assert_eq!(head.stream, 1);
    drop(server.closing);
    let mut bytes = 0;
    while bytes < 60_000 {
        sleep(5 * SECOND).await;
        let data = slow.next(&[DATA]).await.expect("it is not cut off");
        bytes += data.payload.len();
    }
    assert_eq!(slow.next(&[DATA]).await, None);
    server.ended.await.expect("no panic");
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_frames_ends_the_connection() {
    let (server, mut raw) = connect_raw(LIMITS).await;
    // Those of the beginning are among them.
    for _ in 0..LIMITS.http2.frames - 10 {
        raw.send(&ping(b"a flood!")).await;
        raw.next(&[PING]).await.expect("an answer");
    }
    for _ in 0..200 {
        if raw.0.write_all(&ping(b"too much")).await.is_err() {
            break;
        }
    }
    raw.ends().await;
    server.ended.await.expect("it has ended");
}
