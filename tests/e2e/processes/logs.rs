//! What processes log by default (docs/logging.md).

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::client::Client;
use super::process::Process;

const ACCOUNT: &str = "123456789012";
const API_VERSION: &str = "api-version=2023-10-01-preview";

/// A success, a refusal, a probe, and a last request whose line is the last one.
async fn requests(url: &str) {
    let client = Client::new(url, ACCOUNT);
    for (path, status) in [
        (format!("/planes?{API_VERSION}"), 200),
        (format!("/planes/gcp/first?{API_VERSION}"), 400),
        ("/healthz".to_owned(), 200),
        (format!("/planes/gcp/last?{API_VERSION}"), 400),
    ] {
        assert_eq!(client.call("GET", &path, "").await.status, status, "{path}");
    }
}

/// Each request is one line, a refusal with its code. A probe is none.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_logs_a_line_per_request() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let database = format!("sqlite://{}", directory.path().join("ucp.db").display());
    let (_simulator, aws) = Process::simulator("1ms").await;
    let (process, url) = Process::serve_logging_by_default(&database, &aws, ACCOUNT).await;
    requests(&url).await;
    process.line("/planes/gcp/last").await;
    let output = process.output();
    let events = output.lines().map(serde_json::from_str);
    let events = events.map(|event: Result<Value, _>| event.expect("a JSON log"));
    let answered: Vec<Value> = events.filter(|event| event["span"].is_object()).collect();
    let told: Vec<_> = answered
        .iter()
        .map(|event| {
            assert_eq!(event["message"], "answered");
            assert!(event["http.duration_ms"].is_u64(), "{event}");
            let path = event["span"]["http.path"].as_str().expect("a path");
            (path, &event["http.status"], event["code"].as_str())
        })
        .collect();
    let (ok, refused) = (Value::from(200), Value::from(400));
    assert_eq!(
        told,
        [
            ("/planes", &ok, None),
            ("/planes/gcp/first", &refused, Some("InvalidPlaneType")),
            ("/planes/gcp/last", &refused, Some("InvalidPlaneType")),
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn dev_logs_a_line_per_request() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (process, url) = Process::dev(&directory.path().join("data"), &[]).await;
    requests(&url).await;
    process.line("/planes/gcp/last").await;
    let output = process.output();
    let answered: Vec<&str> = output
        .lines()
        .filter(|line| line.contains("answered"))
        .collect();
    let [ok, refused, _] = answered[..] else {
        panic!("expected three lines in:\n{output}")
    };
    assert!(ok.contains("/planes") && ok.contains("200"), "{ok}");
    assert!(refused.contains("InvalidPlaneType"), "{refused}");
}

/// What a client sends does not make the log longer than it needs, and shows as what it is.
#[tokio::test(flavor = "multi_thread")]
async fn the_line_of_a_request_is_bounded() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let database = format!("sqlite://{}", directory.path().join("ucp.db").display());
    let aws = "http://127.0.0.1:9";
    let (process, url) = Process::serve_logging_by_default(&database, aws, ACCOUNT).await;
    let address = url.trim_start_matches("http://");
    let long = "x".repeat(9_000);
    let request = format!(
        "GET /first\u{202e}/{long} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\ntraceparent: {long}\r\n\
         x-ms-correlation-request-id: {long}\r\nx-ms-client-request-id: {long}\r\n\r\n"
    );
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    stream
        .write_all(request.as_bytes())
        .await
        .expect("a request");
    let mut reply = String::new();
    stream.read_to_string(&mut reply).await.expect("a reply");
    let line = process.line("/first").await;
    assert!(line.len() < 2_000, "{} bytes: {line}", line.len());
    assert!(
        !line.contains('\u{202e}') && !line.contains("traceparent"),
        "{line}"
    );
}
