//! Raw connections: clients that are slow or send too much, and identifiers in raw request targets (contract section 9,
//! D22).

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::client::PATIENCE;
use super::process::Process;

const LOG_GROUPS: &str =
    "/planes/aws/aws/accounts/123456789012/regions/us-west-2/providers/AWS.Logs/LogGroup";

async fn dev() -> (Process, String, tempfile::TempDir) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let quick = [
        "--simulator-latency-min=0ms",
        "--simulator-latency-max=1ms",
        "--verdict-wait=60s",
    ];
    let (process, url) = Process::dev(&directory.path().join("data"), &quick).await;
    let address = url.trim_start_matches("http://").to_owned();
    (process, address, directory)
}

/// Sends bytes, and reads until the server closes the connection.
async fn exchange(address: &str, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    // The server may close the connection before it has received everything.
    let _ = stream.write_all(bytes).await;
    let mut reply = Vec::new();
    let closed = timeout(PATIENCE, stream.read_to_end(&mut reply)).await;
    let closed = closed.expect("the server closes the connection");
    // It may also reset the connection after its reply has arrived.
    assert!(closed.is_ok() || !reply.is_empty(), "{closed:?}");
    String::from_utf8_lossy(&reply).into_owned()
}

/// A request with `Connection: close`.
async fn request(address: &str, method: &str, target: &[u8], body: &str) -> String {
    let length = body.len();
    let rest = format!(
        " HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    let bytes = [method.as_bytes(), b" ", target, rest.as_bytes()].concat();
    exchange(address, &bytes).await
}

fn status(reply: &str) -> &str {
    reply.split(' ').nth(1).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_clients_are_let_go() {
    let (_ucp, address, _directory) = dev().await;
    let head = format!("GET /healthz HTTP/1.1\r\nHost: {address}\r\nX-Slow: ");
    let silent = exchange(&address, head.as_bytes());
    let idle = exchange(&address, b"");
    let dripping = async {
        let mut stream = TcpStream::connect(&address).await.expect("a connection");
        stream.write_all(head.as_bytes()).await.expect("a head");
        let (mut replies, mut requests) = stream.split();
        let drip = async {
            while requests.write_all(b"x").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        };
        let mut reply = Vec::new();
        let ended = async {
            tokio::select! {
                _ = replies.read_to_end(&mut reply) => {}
                () = drip => {}
            }
        };
        timeout(PATIENCE, ended).await.expect("it ends");
        String::from_utf8_lossy(&reply).into_owned()
    };
    let body = format!(
        "PUT {LOG_GROUPS}/slow HTTP/1.1\r\nHost: {address}\r\nContent-Length: 100\r\n\r\n{{"
    );
    let slow_body = exchange(&address, body.as_bytes());
    let (silent, idle, dripping, slow_body) = tokio::join!(silent, idle, dripping, slow_body);
    for reply in [silent, idle, dripping] {
        assert!(matches!(status(&reply), "" | "408"), "{reply}");
    }
    assert_eq!(status(&slow_body), "408", "{slow_body}");
    assert!(slow_body.contains("RequestTimeout"), "{slow_body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn heads_are_bounded() {
    let (_ucp, address, _directory) = dev().await;
    let head = format!("GET /healthz HTTP/1.1\r\nHost: {address}\r\n");
    // Besides these, there are `Host` and `Connection`.
    for (others, expected) in [(98, "200"), (99, "431"), (200, "431")] {
        let many: String = (0..others).map(|n| format!("X-{n}: x\r\n")).collect();
        let bytes = format!("{head}Connection: close\r\n{many}\r\n");
        let reply = exchange(&address, bytes.as_bytes()).await;
        assert_eq!(status(&reply), expected, "{others}: {reply}");
    }
    let ends_at = |bytes: usize| {
        let start = format!("{head}Connection: close\r\nX-Large: ");
        let rest = bytes - start.len() - "\r\n\r\n".len();
        format!("{start}{}\r\n\r\n", "x".repeat(rest))
    };
    let reply = exchange(&address, ends_at(65_536).as_bytes()).await;
    assert_eq!(status(&reply), "200", "{reply}");
    let reply = exchange(&address, &ends_at(65_537).as_bytes()[..65_536]).await;
    assert_eq!(status(&reply), "431", "{reply}");
    let large = "x".repeat(1 << 20);
    let reply = exchange(
        &address,
        format!("{head}X-Large: {large}\r\n\r\n").as_bytes(),
    )
    .await;
    assert_eq!(status(&reply), "431", "{reply}");
    let reply = exchange(&address, b"\x16\x03\x01 no HTTP at all\r\n\r\n").await;
    assert_eq!(status(&reply), "400", "{reply}");
    let reply = request(&address, "GET", b"/healthz", "").await;
    assert_eq!(status(&reply), "200", "{reply}");
    // If the target names a host, the header does not count.
    for (host, expected) in [(address.as_str(), "200"), ("evil.example", "403")] {
        let target = format!("http://{host}/planes?api-version=2023-10-01-preview");
        let reply = request(&address, "GET", target.as_bytes(), "").await;
        assert_eq!(status(&reply), expected, "{reply}");
    }
}

/// Any text in the place of the identifier is an identifier or is rejected; a slash is written `%2F` (D22).
#[tokio::test(flavor = "multi_thread")]
async fn identifiers_may_hold_anything_that_is_escaped() {
    let (_ucp, address, _directory) = dev().await;
    for (written, name, given) in [
        ("a%2Fb", "a/b", "a%2Fb"),
        (
            "%2Faws%2Flambda%2Ff",
            "/aws/lambda/f",
            "%2Faws%2Flambda%2Ff",
        ),
        ("a.b_c-d%23e", "a.b_c-d#e", "a.b_c-d%23e"),
    ] {
        let target = format!("{LOG_GROUPS}/{written}");
        let made = request(&address, "PUT", target.as_bytes(), "{}").await;
        assert!(matches!(status(&made), "200" | "201"), "{made}");
        assert!(made.contains(&format!("/LogGroup/{given}\"")), "{made}");
        assert!(made.contains(&format!("\"name\":\"{name}\"")), "{made}");
    }
    for (written, expected) in [
        ("arn:aws:logs:us-west-2:123456789012:log-group:x", "404"),
        (
            "arn%3Aaws%3Alogs%3Aus-west-2%3A1%3Alog-group%3Ax%2Fy",
            "404",
        ),
        ("a|b", "404"),
        ("a%7Cb", "404"),
        ("a%20b", "404"),
        ("gr%C3%BC%C3%9Fe", "404"),
        ("a/b", "404"),
        ("a%00b", "400"),
        ("a%0d%0aX-Injected:%201", "400"),
        ("%ff", "400"),
        ("%zz", "404"),
        ("..", "400"),
        ("%2e%2e", "400"),
        ("a b", "400"),
    ] {
        let target = format!("{LOG_GROUPS}/{written}");
        let reply = request(&address, "GET", target.as_bytes(), "").await;
        assert_eq!(status(&reply), expected, "{written}: {reply}");
    }
    let raw = [LOG_GROUPS.as_bytes(), "/grüße".as_bytes()].concat();
    let reply = request(&address, "GET", &raw, "").await;
    assert!(matches!(status(&reply), "400" | "404"), "{reply}");
}

/// Ambiguous bodies are rejected; numbers that do not fit a double are preserved.
#[tokio::test(flavor = "multi_thread")]
async fn bodies_mean_one_thing() {
    let (_ucp, address, _directory) = dev().await;
    let target = format!("{LOG_GROUPS}/one-thing");
    let twice = r#"{"properties":{"RetentionInDays":7,"RetentionInDays":14}}"#;
    let reply = request(&address, "PUT", target.as_bytes(), twice).await;
    assert_eq!(status(&reply), "400", "{reply}");
    assert!(reply.contains("appears twice"), "{reply}");

    let plane = b"/planes/radius/numbers?api-version=2023-10-01-preview";
    let body =
        r#"{"location":"global","properties":{"resourceProviders":{},"large":9007199254740993}}"#;
    let head = format!(
        " HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let put = [b"PUT ", &plane[..], head.as_bytes()].concat();
    let reply = exchange(&address, &put).await;
    assert!(reply.contains("\"large\":9007199254740993"), "{reply}");
    let reply = request(&address, "GET", plane, "").await;
    assert!(reply.contains("\"large\":9007199254740993"), "{reply}");

    for head in [
        "Content-Length: 2\r\nContent-Length: 3\r\n",
        "Content-Encoding: gzip\r\nContent-Length: 2\r\n",
    ] {
        let bytes = format!(
            "PUT {target} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{head}\r\n{{}}"
        );
        let reply = exchange(&address, bytes.as_bytes()).await;
        assert!(matches!(status(&reply), "400" | "415"), "{reply}");
    }
}

/// A request that AWS keeps waiting is answered nevertheless.
#[tokio::test(flavor = "multi_thread")]
async fn every_request_is_answered_in_time() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let hang = r#"{"match":{"operation":"GetResource"},"effect":{"kind":"hang"}}"#;
    let arguments = [
        "--simulator-fault",
        hang,
        "--request-timeout=1s",
        "--verdict-wait=0s",
        "--group-delete-wait=0s",
        "--read-timeout=1h",
        "--call-timeout=1h",
    ];
    let (_ucp, url) = Process::dev(&directory.path().join("data"), &arguments).await;
    let address = url.trim_start_matches("http://");
    let target = format!("{LOG_GROUPS}/hanging");
    let reply = request(address, "GET", target.as_bytes(), "").await;
    assert_eq!(status(&reply), "503", "{reply}");
    assert!(reply.contains("\"ServiceUnavailable\""), "{reply}");
    assert!(reply.contains("not answered within 1 seconds"), "{reply}");
    assert!(
        reply.to_ascii_lowercase().contains("retry-after"),
        "{reply}"
    );
}
