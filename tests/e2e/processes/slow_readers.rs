//! Clients that hold connections and do not read. Probes and honest clients are served nevertheless.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{Instant, timeout};

use super::client::{Client, PATIENCE};
use super::process::Process;

const ACCOUNT: &str = "123456789012";
/// The number of hostile connections, which is the maximum of all by default.
const HOSTILE: usize = 1_000;
/// A probe is answered within this time. Kubernetes waits for a second, unless told otherwise; the rest is for a busy machine.
const PROBED: Duration = Duration::from_secs(5);
/// A process stops within this time.
const STOPPED: Duration = Duration::from_secs(10);
/// The largest file that is served.
const LARGE: &str = "/docs/swagger-ui-bundle.js";

/// A server with these arguments, its address, and the URL of its probes.
async fn server(arguments: &[&str]) -> (Process, String, String, tempfile::TempDir) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let database = format!("sqlite://{}", directory.path().join("ucp.db").display());
    let arguments = [&["--probe-listen=127.0.0.1:0"], arguments].concat();
    let aws = "http://127.0.0.1:9";
    let (process, url) = Process::serve_with(&arguments, &database, aws, ACCOUNT).await;
    let line = process.line("listening for probes").await;
    let event: Value = serde_json::from_str(&line).expect("a JSON log");
    let probes = event["probe.address"].as_str().expect("an address");
    let probes = format!("http://{probes}");
    (process, url, probes, directory)
}

/// Asks for a large file on many connections, and reads nothing.
async fn hold(url: &str, connections: usize) -> Vec<TcpStream> {
    let address = url.trim_start_matches("http://");
    let head = format!("GET {LARGE} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    let mut held = Vec::new();
    for _ in 0..connections {
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        stream.write_all(head.as_bytes()).await.expect("a request");
        held.push(stream);
    }
    held
}

/// Expects that probes are answered at once.
async fn is_alive(probes: &str) {
    let client = Client::new(probes, ACCOUNT);
    for path in ["/healthz", "/readyz"] {
        let asked = Instant::now();
        let answer = client.call("GET", path, "").await;
        let took = asked.elapsed();
        assert_eq!(answer.status, 200, "{path}: {}", answer.text);
        assert!(took < PROBED, "{path} took {took:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_read_does_not_keep_others_out_for_long() {
    let arguments = ["--max-connections-per-peer=0", "--write-timeout=3s"];
    let (_server, url, probes, _directory) = server(&arguments).await;
    let held = hold(&url, HOSTILE).await;
    let began = Instant::now();
    is_alive(&probes).await;
    let client = Client::new(&url, ACCOUNT);
    client.put_group().await;
    let took = began.elapsed();
    assert!(took < Duration::from_secs(30), "{took:?}");
    drop(held);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_stops_in_time_while_clients_do_not_read() {
    let arguments = ["--max-connections-per-peer=0", "--write-timeout=1h"];
    let (mut server, url, probes, _directory) = server(&arguments).await;
    let held = hold(&url, HOSTILE).await;
    is_alive(&probes).await;
    let asked = Instant::now();
    server.terminate();
    let status = server.ended().await;
    let took = asked.elapsed();
    assert!(took < STOPPED, "{took:?}: {}", server.output());
    assert!(status.success(), "{}", server.output());
    drop(held);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_address_does_not_take_all_connections() {
    let (_server, url, probes, _directory) = server(&["--max-connections=9"]).await;
    let address: std::net::SocketAddr = url
        .trim_start_matches("http://")
        .parse()
        .expect("an address");
    // Half of all, rounded up.
    let held = hold(&url, 5).await;

    let mut refused = TcpStream::connect(address).await.expect("a connection");
    let mut told = String::new();
    let end = timeout(PATIENCE, refused.read_to_string(&mut told)).await;
    end.expect("the connection ends").expect("it is not reset");
    let (head, body) = told.split_once("\r\n\r\n").expect("a reply");
    assert!(
        head.starts_with("HTTP/1.1 503 ") && head.contains("retry-after"),
        "{head}"
    );
    let body: Value = serde_json::from_str(body).expect("JSON");
    assert_eq!(body["error"]["code"], json!("ServiceUnavailable"), "{body}");
    let message = body["error"]["message"].as_str().expect("a message");
    assert!(message.contains("--max-connections-per-peer"), "{message}");

    let other = TcpSocket::new_v4().expect("a socket");
    other
        .bind("127.0.0.2:0".parse().expect("an address"))
        .expect("an address of loopback");
    let mut other = other.connect(address).await.expect("a connection");
    let head = format!("GET /version HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    other.write_all(head.as_bytes()).await.expect("a request");
    let mut reply = String::new();
    let end = timeout(PATIENCE, other.read_to_string(&mut reply)).await;
    end.expect("it is served").expect("a reply");
    assert!(reply.starts_with("HTTP/1.1 200 "), "{reply}");
    is_alive(&probes).await;
    drop(held);
}

/// Only the probes are there.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_else_is_served_where_probes_are() {
    let (_server, _url, probes, _directory) = server(&["--roles=api"]).await;
    let client = Client::new(&probes, ACCOUNT);
    for path in [
        "/planes?api-version=2023-10-01-preview",
        "/docs/",
        "/version",
        "/",
    ] {
        assert_eq!(client.call("GET", path, "").await.status, 404, "{path}");
    }
}

/// Who sends nothing to the probes is let go, so that it does not keep them from others.
#[tokio::test(flavor = "multi_thread")]
async fn a_silent_probe_is_let_go() {
    let (_server, _url, probes, _directory) = server(&[]).await;
    let address = probes.trim_start_matches("http://");
    let mut silent = Vec::new();
    // As many as there may be, so that the probes wait until some of them are let go.
    for _ in 0..64 {
        silent.push(TcpStream::connect(address).await.expect("a connection"));
    }
    let client = Client::new(&probes, ACCOUNT);
    assert_eq!(client.call("GET", "/healthz", "").await.status, 200);
    for mut stream in silent {
        let mut nothing = Vec::new();
        let end = timeout(PATIENCE, stream.read_to_end(&mut nothing)).await;
        let _ = end.expect("the connection ends");
    }
}

/// A worker without an API has probes all the same.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_answers_probes() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let database = format!("sqlite://{}", directory.path().join("ucp.db").display());
    let arguments = ["--roles=worker", "--probe-listen=127.0.0.1:0"];
    let mut worker = Process::serve_unheard_with(&database, &arguments);
    let line = worker.line("listening for probes").await;
    let event: Value = serde_json::from_str(&line).expect("a JSON log");
    let probes = event["probe.address"].as_str().expect("an address");
    is_alive(&format!("http://{probes}")).await;
    worker.terminate();
    assert!(worker.ended().await.success(), "{}", worker.output());
}

/// The limit of open files is raised as far as it may be, and a limit that is too low is told of.
#[tokio::test(flavor = "multi_thread")]
async fn descriptors_are_counted_at_the_start() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let database = format!("sqlite://{}", directory.path().join("ucp.db").display());
    let arguments = ["--max-connections=100000000"];
    let aws = "http://127.0.0.1:9";
    let (server, _) = Process::serve_with(&arguments, &database, aws, ACCOUNT).await;
    let line = server.line("limit of open files").await;
    let event: Value = serde_json::from_str(&line).expect("a JSON log");
    let told = |field: &str| event[field].as_u64().expect("a number");
    assert_eq!(
        told("descriptors.needed"),
        200_000_640,
        "two for each connection: {line}"
    );
    assert!(told("descriptors.limit") < 200_000_640, "{line}");
    assert!(line.contains("--max-connections"), "{line}");
}
