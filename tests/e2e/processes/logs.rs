//! What processes log by default (docs/logging.md).

use serde_json::Value;

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
