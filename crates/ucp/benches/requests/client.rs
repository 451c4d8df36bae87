//! The client: connections of HTTP/1.1, each of which sends its next request when the reply has arrived.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::sync::Barrier;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// How long to wait for the end of an operation.
const PATIENCE: Duration = Duration::from_secs(60);
/// The interval between polls of an operation.
const AGAIN: Duration = Duration::from_millis(20);

/// A request, as bytes.
pub(crate) type Prepared = Request<Full<Bytes>>;

/// Prepares a request to `server`. An empty body is none.
pub(crate) fn request(server: SocketAddr, method: Method, path: &str, body: &str) -> Prepared {
    Request::builder()
        .method(method)
        .uri(path)
        .header("host", server.to_string())
        .header("content-type", "application/json")
        .body(Full::from(body.to_owned()))
        .expect("a request")
}

/// A reply.
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    /// Where to poll the operation.
    pub(crate) status_path: Option<String>,
    pub(crate) body: Bytes,
}

/// A connection.
pub(crate) struct Connection(SendRequest<Full<Bytes>>);

impl Connection {
    pub(crate) async fn open(server: SocketAddr) -> Self {
        let stream = TcpStream::connect(server).await.expect("a connection");
        stream.set_nodelay(true).expect("an option");
        let (requests, connection) = handshake(TokioIo::new(stream)).await.expect("HTTP");
        tokio::spawn(connection);
        Self(requests)
    }

    /// Sends a request and reads the whole reply.
    pub(crate) async fn send(&mut self, request: Prepared) -> Reply {
        self.0.ready().await.expect("the connection stays open");
        let reply = self.0.send_request(request).await.expect("a reply");
        let (head, body) = reply.into_parts();
        let status_url = head.headers.get("azure-asyncoperation");
        let status_url = status_url.and_then(|url| url.to_str().ok());
        let status_path = status_url.and_then(|url| Some(url[url.find("/planes/")?..].to_owned()));
        Reply {
            status: head.status,
            status_path,
            body: body.collect().await.expect("a whole reply").to_bytes(),
        }
    }

    /// Waits until the operation at `path` has ended, and demands that it has succeeded.
    pub(crate) async fn follow(&mut self, server: SocketAddr, path: &str) {
        let patient_until = Instant::now() + PATIENCE;
        loop {
            let polled = self.send(request(server, Method::GET, path, "")).await;
            let body: Value = serde_json::from_slice(&polled.body).expect("a JSON body");
            match body["status"].as_str() {
                Some("Succeeded") => return,
                Some("Failed" | "Canceled") => panic!("{body}"),
                _ => assert!(Instant::now() < patient_until, "{body}"),
            }
            tokio::time::sleep(AGAIN).await;
        }
    }
}

/// What the connections send: the request of a connection, and how many it has sent before.
pub(crate) type Script = Arc<dyn Fn(usize, usize) -> Prepared + Send + Sync>;

/// How long to send.
#[derive(Clone, Copy)]
pub(crate) struct Period {
    pub(crate) warm_up: Duration,
    pub(crate) measured: Duration,
}

/// What came back.
#[derive(Default)]
pub(crate) struct Outcome {
    /// The time that each reply took that arrived in the measured time, shortest first.
    pub(crate) latencies: Vec<Duration>,
    /// All replies, also of the warm-up.
    pub(crate) replies: usize,
    /// The replies, of all, that are refusals.
    pub(crate) refused: usize,
    /// The replies, of all, that are successes but not the expected one.
    pub(crate) unexpected: usize,
    /// The operations that were started.
    pub(crate) operations: Vec<String>,
}

/// Sends requests on several connections at once, and returns when all replies have arrived.
pub(crate) async fn load(
    server: SocketAddr,
    connections: usize,
    script: &Script,
    expected: StatusCode,
    period: Period,
) -> Outcome {
    let all_open = Arc::new(Barrier::new(connections));
    let mut senders = JoinSet::new();
    for number in 0..connections {
        let (script, all_open) = (Arc::clone(script), Arc::clone(&all_open));
        senders.spawn(async move {
            let mut connection = Connection::open(server).await;
            all_open.wait().await;
            let from = Instant::now() + period.warm_up;
            let until = from + period.measured;
            let mut outcome = Outcome::default();
            loop {
                let sent_at = Instant::now();
                if sent_at >= until {
                    return outcome;
                }
                let request = script(number, outcome.replies);
                let reply = connection.send(request).await;
                let arrived_at = Instant::now();
                if (from..until).contains(&arrived_at) {
                    outcome.latencies.push(arrived_at - sent_at);
                }
                outcome.replies += 1;
                if !reply.status.is_success() {
                    outcome.refused += 1;
                } else if reply.status != expected {
                    outcome.unexpected += 1;
                }
                outcome.operations.extend(reply.status_path);
            }
        });
    }
    let mut all = Outcome::default();
    while let Some(sender) = senders.join_next().await {
        let one = sender.expect("no connection breaks");
        all.latencies.extend(one.latencies);
        all.replies += one.replies;
        all.refused += one.refused;
        all.unexpected += one.unexpected;
        all.operations.extend(one.operations);
    }
    all.latencies.sort_unstable();
    all
}
