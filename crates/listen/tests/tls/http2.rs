//! HTTP/2 over TLS: that it is spoken where a client asks for it, and that the limits of HTTP/1.1 hold for it.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Empty, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{CertificateParams, DistinguishedName};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_rustls::client::TlsStream;
use ucp_listen::{Http2Limits, Limits, Place, Tls, TlsFiles, WriteLimit};

use super::identities::{Authority, Identity, connect};
use super::{HTTP1, LIMITS, PATIENCE};

const HTTP2: &[&str] = &["h2"];
const LONG: Duration = Duration::from_secs(3600);
const SHORT: Duration = Duration::from_millis(300);
/// More than the windows of a client.
const LARGE: usize = 4 << 20;

/// The kinds of frames, and their flags (RFC 9113, section 6).
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
/// The codes of errors (RFC 9113, section 7).
const REFUSED_STREAM: u8 = 7;
const ENHANCE_YOUR_CALM: u8 = 11;

/// A server over TLS. It answers `/wait` when it is let, and goes on with `/go-on` until then, whether the client waits or
/// not. It answers to `/large` with much.
struct Server {
    address: SocketAddr,
    authority: Authority,
    /// Lets as many requests be answered.
    gate: Arc<Semaphore>,
    /// How many requests have begun to wait, and how many have ended.
    waiting: watch::Receiver<(usize, usize)>,
    /// Begins the shutdown.
    shutdown: Option<oneshot::Sender<()>>,
    ended: JoinHandle<()>,
    _folder: tempfile::TempDir,
}

async fn server(limits: Limits) -> Server {
    let (folder, authority) = (tempfile::tempdir().expect("a folder"), Authority::new());
    let ca = folder.path().join("ca.crt");
    std::fs::write(&ca, authority.pem()).expect("a file");
    let tls = Tls::read(TlsFiles {
        client_ca: Some(ca),
        ..authority.issue("localhost").write(folder.path())
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let gate = Arc::new(Semaphore::new(0));
    let (counter, waiting) = watch::channel((0, 0));
    let (counter, open) = (Arc::new(counter), Arc::clone(&gate));
    let service = service_fn(move |request: Request<Incoming>| {
        let (counter, open) = (Arc::clone(&counter), Arc::clone(&open));
        let place = request.extensions().get::<Place>().cloned();
        let waiting = async move {
            counter.send_modify(|(begun, _)| *begun += 1);
            open.acquire().await.expect("it is never closed").forget();
            counter.send_modify(|(_, ended)| *ended += 1);
            drop(place);
            0
        };
        async move {
            let length = match request.uri().path() {
                "/wait" => waiting.await,
                "/go-on" => tokio::spawn(waiting).await.expect("no panic"),
                "/large" => LARGE,
                exactly => exactly.trim_start_matches('/').parse().unwrap_or_default(),
            };
            let body = Bytes::from(vec![b'x'; length]);
            Ok::<_, Infallible>(Response::new(Full::new(body)))
        }
    });
    let (shutdown, stopping) = oneshot::channel();
    let stopping = async {
        let _ = stopping.await;
    };
    let tls = tls.expect("a certificate");
    let serving = ucp_listen::serve(listener, service, limits, Some(tls), stopping);
    Server {
        address,
        authority,
        gate,
        waiting,
        shutdown: Some(shutdown),
        ended: tokio::spawn(serving),
        _folder: folder,
    }
}

type Ended = JoinHandle<Result<(), hyper::Error>>;

impl Server {
    async fn stream(&self, identity: Option<&Identity>) -> TlsStream<TcpStream> {
        let stream = connect(self.address, &self.authority, identity, HTTP2).await;
        stream.expect("a handshake")
    }

    /// Connects a client that makes room for `window` bytes, and for more when it has read them.
    async fn client(&self, window: u32) -> (SendRequest<Empty<Bytes>>, Ended) {
        let io = TokioIo::new(self.stream(None).await);
        let client = Builder::new(TokioExecutor::new())
            .initial_stream_window_size(window)
            .handshake(io)
            .await;
        let (sender, connection) = client.expect("a connection");
        (sender, tokio::spawn(connection))
    }

    /// Connects a client of raw frames, which has begun to speak.
    async fn raw(&self) -> Raw {
        let mut raw = Raw(self.stream(None).await);
        let mut begin = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
        begin.extend(frame(SETTINGS, 0, 0, &[]));
        raw.send(&begin).await;
        raw
    }

    async fn until_waiting(&self, count: usize) {
        let mut waiting = self.waiting.clone();
        let reached = waiting.wait_for(|(begun, _)| *begun >= count);
        let reached = timeout(PATIENCE, reached).await;
        reached.expect("in time").expect("a server");
    }
}

/// A client of raw frames.
struct Raw(TlsStream<TcpStream>);

impl Raw {
    async fn send(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).await.expect("it is taken");
        self.0.flush().await.expect("it is taken");
    }

    /// Returns the next frame of one of these kinds: its kind and its payload. `None` at the end of the connection.
    async fn next(&mut self, kinds: &[u8]) -> Option<(u8, Vec<u8>)> {
        let reading = async {
            loop {
                let mut head = [0; 9];
                self.0.read_exact(&mut head).await.ok()?;
                let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
                let mut payload = vec![0; length as usize];
                self.0.read_exact(&mut payload).await.ok()?;
                if kinds.contains(&head[3]) {
                    return Some((head[3], payload));
                }
            }
        };
        timeout(PATIENCE, reading)
            .await
            .expect("an answer or an end")
    }

    /// Expects that the server ends the connection, and returns the code of the error that it tells, if it does.
    async fn ends(&mut self) -> Option<u8> {
        let mut told = None;
        while let Some((_, payload)) = self.next(&[GOAWAY]).await {
            told = payload.get(7).copied();
        }
        told
    }
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len())
        .expect("a short one")
        .to_be_bytes();
    let mut frame = length[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// Returns the frame of a GET of `/wait`.
fn wait(stream: u32) -> Vec<u8> {
    // GET and https by their numbers, the path, and the authority `x` (RFC 7541, appendix A).
    let mut fields = vec![0x82, 0x87, 0x04, 5];
    fields.extend(b"/wait");
    fields.extend([0x01, 1, b'x']);
    frame(HEADERS, END_STREAM | END_HEADERS, stream, &fields)
}

/// Returns the frame that takes a request back.
fn take_back(stream: u32) -> Vec<u8> {
    frame(RST_STREAM, 0, stream, &[0, 0, 0, 8])
}

fn get(path: &str) -> Request<Empty<Bytes>> {
    let request = Request::builder().uri(format!("https://localhost:1{path}"));
    request.body(Empty::new()).expect("a request")
}

/// Asks once over HTTP/2.
async fn ask(stream: TlsStream<TcpStream>, request: Request<Empty<Bytes>>) -> (StatusCode, String) {
    let client = Builder::new(TokioExecutor::new()).handshake(TokioIo::new(stream));
    let (mut sender, connection) = client.await.expect("a connection");
    tokio::spawn(connection);
    let response = sender.send_request(request).await.expect("an answer");
    let status = response.status();
    let body = response.into_body().collect().await.expect("a body");
    (
        status,
        String::from_utf8_lossy(&body.to_bytes()).into_owned(),
    )
}

#[tokio::test]
async fn requests_are_served_over_http2() {
    let (folder, authority) = (tempfile::tempdir().expect("a folder"), Authority::new());
    let ca = folder.path().join("ca.crt");
    std::fs::write(&ca, authority.pem()).expect("a file");
    let files = TlsFiles {
        client_ca: Some(ca),
        ..authority.issue("localhost").write(folder.path())
    };
    let address = super::serve(Tls::read(files).expect("a certificate"), LIMITS).await;
    let ada = authority.issue_to("ada", Some("ops"));
    // The authority of the request is its host, whatever else a header says.
    for (identity, host, client) in [
        (None, None, "Some(None)"),
        (None, Some("elsewhere"), "Some(None)"),
        (Some(&ada), None, r#"Some(Some("ada of ops: [OfClients]"))"#),
    ] {
        let stream = connect(address, &authority, identity, HTTP2).await;
        let mut request = get("/x");
        if let Some(host) = host {
            let host = host.parse().expect("a value");
            request.headers_mut().insert("host", host);
        }
        let (status, answer) = ask(stream.expect("a handshake"), request).await;
        assert_eq!(status, 200);
        assert_eq!(answer, format!(r#"HTTP/2.0 Some("localhost:1") {client}"#));
    }
}

#[tokio::test]
async fn a_client_chooses_the_version() {
    let server = server(LIMITS).await;
    for (offered, chosen) in [
        (&["h2", "http/1.1"][..], Some("h2")),
        (&["http/1.1", "h2"], Some("h2")),
        (HTTP1, Some("http/1.1")),
        (&[], None),
    ] {
        let stream = connect(server.address, &server.authority, None, offered).await;
        let stream = stream.expect("a handshake");
        let agreed = stream.get_ref().1.alpn_protocol();
        assert_eq!(agreed, chosen.map(str::as_bytes), "{offered:?}");
    }
}

#[tokio::test]
async fn certificates_without_a_name_are_refused() {
    let server = server(LIMITS).await;
    let mut nameless = CertificateParams::default();
    nameless.distinguished_name = DistinguishedName::new();
    let identity = server.authority.sign(&nameless);
    let stream = server.stream(Some(&identity)).await;
    let (status, body) = ask(stream, get("/1")).await;
    assert_eq!(status, 403);
    assert!(body.contains("The certificate has no name"), "{body}");
}

#[tokio::test]
async fn heads_are_bounded() {
    let limits = Limits {
        head_bytes: 1_000,
        ..LIMITS
    };
    let server = server(limits).await;
    let with = |count: usize, length: usize| {
        let mut request = get("/1");
        for number in 0..count {
            let name = format!("x-{number}").parse::<hyper::header::HeaderName>();
            let value = "v".repeat(length).parse().expect("a value");
            request.headers_mut().insert(name.expect("a name"), value);
        }
        request
    };
    for (request, status) in [(with(1, 100), 200), (with(1, 1_000), 431)] {
        let (answered, _) = ask(server.stream(None).await, request).await;
        assert_eq!(answered, status);
    }
    let server = self::server(LIMITS).await;
    for (request, status) in [(with(100, 1), 200), (with(101, 1), 431)] {
        let (answered, _) = ask(server.stream(None).await, request).await;
        assert_eq!(answered, status);
    }
}

#[tokio::test]
async fn replies_are_whole() {
    let server = server(LIMITS).await;
    for length in [0, 1, 2, 16 << 10, (16 << 10) + 1, LARGE] {
        let (mut sender, _) = server.client(65_535).await;
        let response = sender.send_request(get(&format!("/{length}"))).await;
        let response = response.expect("an answer");
        if length > 0 {
            assert_eq!(response.headers()["content-length"], length.to_string());
        }
        let body = response.into_body().collect().await.expect("a body");
        assert_eq!(body.to_bytes().len(), length);
    }
}

#[tokio::test]
async fn who_makes_no_room_for_a_reply_is_let_go() {
    let window = 65_535;
    for write in [
        WriteLimit {
            stall: SHORT,
            whole: LONG,
        },
        WriteLimit {
            stall: LONG,
            whole: SHORT,
        },
    ] {
        let limits = Limits {
            write: Some(write),
            ..LIMITS
        };
        let server = server(limits).await;
        for length in [LARGE, window as usize + 1] {
            let (mut sender, ended) = server.client(window).await;
            let response = sender.send_request(get(&format!("/{length}"))).await;
            let unread = response.expect("the head of the reply");
            let ended = timeout(PATIENCE, ended).await;
            drop(ended.unwrap_or_else(|_| panic!("{length}: it is held with {write:?}")));
            drop(unread);
        }
    }
}

/// A window that is as large as the reply is enough.
#[tokio::test]
async fn what_fits_into_the_window_is_no_slow_reply() {
    let write = WriteLimit {
        stall: SHORT,
        whole: SHORT,
    };
    let limits = Limits {
        write: Some(write),
        ..LIMITS
    };
    let server = server(limits).await;
    let (mut sender, _ended) = server.client(65_535).await;
    let response = sender.send_request(get("/65535")).await.expect("an answer");
    // Meanwhile another one ends late.
    let mut other = sender.clone();
    let waiting = tokio::spawn(async move { other.send_request(get("/wait")).await });
    server.until_waiting(1).await;
    tokio::time::sleep(2 * SHORT).await;
    server.gate.add_permits(1);
    let waited = waiting.await.expect("no panic").expect("an answer");
    assert_eq!(waited.status(), 200);
    let body = response.into_body().collect().await.expect("a body");
    assert_eq!(body.to_bytes().len(), 65_535);
}

#[tokio::test]
async fn who_asks_for_nothing_is_let_go() {
    let limits = Limits {
        head_timeout: Some(SHORT),
        ..LIMITS
    };
    let server = server(limits).await;
    let mut silent = Raw(server.stream(None).await);
    silent.ends().await;
    let mut idle = server.raw().await;
    idle.ends().await;
    let mut halfway = server.raw().await;
    halfway.send(&frame(HEADERS, END_STREAM, 1, &[0x82])).await;
    halfway.ends().await;
    // Who waits for a reply is not idle.
    let (mut sender, _ended) = server.client(65_535).await;
    let waiting = tokio::spawn(async move { sender.send_request(get("/wait")).await });
    server.until_waiting(1).await;
    let mut idle = server.raw().await;
    idle.ends().await;
    server.gate.add_permits(1);
    let waited = waiting.await.expect("no panic").expect("an answer");
    assert_eq!(waited.status(), 200);
}

#[tokio::test]
async fn requests_beyond_the_limit_are_refused() {
    let limits = Limits {
        http2: Http2Limits {
            streams: 2,
            ..Http2Limits::USUAL
        },
        ..LIMITS
    };
    let server = server(limits).await;
    let mut raw = server.raw().await;
    raw.send(&[wait(1), wait(3), wait(5)].concat()).await;
    let refused = raw.next(&[RST_STREAM]).await;
    assert_eq!(refused, Some((RST_STREAM, vec![0, 0, 0, REFUSED_STREAM])));
    server.until_waiting(2).await;
    server.gate.add_permits(2);
    for _ in 0..2 {
        assert!(raw.next(&[HEADERS]).await.is_some());
    }
    // A client that knows the limit gets all of its requests answered.
    let (mut sender, _ended) = server.client(65_535).await;
    let first = sender.send_request(get("/1")).await.expect("an answer");
    assert_eq!(first.status(), 200);
    server.gate.add_permits(9);
    let asked = (0..9).map(|_| {
        let mut sender = sender.clone();
        tokio::spawn(async move { sender.send_request(get("/wait")).await })
    });
    for answer in asked.collect::<Vec<_>>() {
        assert_eq!(
            answer.await.expect("no panic").expect("an answer").status(),
            200
        );
    }
}

#[tokio::test]
async fn a_request_beside_another_counts_as_a_connection() {
    for limits in [
        Limits {
            peer: Some(2),
            ..LIMITS
        },
        Limits {
            connections: 2,
            ..LIMITS
        },
    ] {
        let server = server(limits).await;
        let (mut sender, _ended) = server.client(65_535).await;
        let ask = || {
            let mut sender = sender.clone();
            tokio::spawn(async move { sender.send_request(get("/wait")).await })
        };
        let first = [ask(), ask()];
        server.until_waiting(2).await;
        let refused = sender.send_request(get("/1")).await.expect("an answer");
        assert_eq!(refused.status(), 503);
        assert_eq!(refused.headers()["retry-after"], "1");
        let body = refused.into_body().collect().await.expect("a body");
        assert_eq!(body.to_bytes(), "{}");
        server.gate.add_permits(2);
        for answer in first {
            assert_eq!(
                answer.await.expect("no panic").expect("an answer").status(),
                200
            );
        }
        let served = sender.send_request(get("/1")).await.expect("an answer");
        assert_eq!(served.status(), 200);
    }
}

/// A rapid reset (CVE-2023-44487).
#[tokio::test]
async fn who_takes_back_too_many_requests_is_let_go() {
    let limits = Limits {
        http2: Http2Limits {
            resets: 5,
            ..Http2Limits::USUAL
        },
        ..LIMITS
    };
    let server = server(limits).await;
    let taken_back = |count: u32| -> Vec<u8> {
        let streams = (0..count).map(|number| 2 * number + 1);
        streams
            .flat_map(|stream| [wait(stream), take_back(stream)].concat())
            .collect()
    };
    let mut raw = server.raw().await;
    let mut allowed = taken_back(5);
    allowed.extend(frame(PING, 0, 0, b"all fine"));
    raw.send(&allowed).await;
    assert_eq!(
        raw.next(&[PING, GOAWAY]).await,
        Some((PING, b"all fine".to_vec()))
    );

    let mut raw = server.raw().await;
    raw.send(&taken_back(6)).await;
    assert_eq!(raw.ends().await, Some(ENHANCE_YOUR_CALM));
}

#[tokio::test]
async fn who_breaks_the_protocol_too_often_is_let_go() {
    let limits = Limits {
        http2: Http2Limits {
            streams: 1,
            errors: 2,
            ..Http2Limits::USUAL
        },
        ..LIMITS
    };
    let server = server(limits).await;
    let mut raw = server.raw().await;
    raw.send(&[wait(1), wait(3), wait(5)].concat()).await;
    for _ in 0..2 {
        let refused = raw.next(&[RST_STREAM, GOAWAY]).await;
        assert_eq!(refused, Some((RST_STREAM, vec![0, 0, 0, REFUSED_STREAM])));
    }
    raw.send(&wait(7)).await;
    assert_eq!(raw.ends().await, Some(ENHANCE_YOUR_CALM));
}

#[tokio::test]
async fn who_does_not_answer_pings_is_let_go() {
    let limits = Limits {
        http2: Http2Limits {
            ping: SHORT,
            ..Http2Limits::USUAL
        },
        ..LIMITS
    };
    let server = server(limits).await;
    // A client that answers them is not.
    let (mut sender, _ended) = server.client(65_535).await;
    let waiting = tokio::spawn(async move { sender.send_request(get("/wait")).await });
    server.until_waiting(1).await;
    let mut dead = server.raw().await;
    dead.send(&wait(1)).await;
    dead.ends().await;
    server.gate.add_permits(2);
    let waited = waiting.await.expect("no panic").expect("an answer");
    assert_eq!(waited.status(), 200);
}

#[tokio::test]
async fn a_shutdown_waits_for_requests_and_not_for_idle_clients() {
    let mut server = server(LIMITS).await;
    let (mut sender, ended) = server.client(65_535).await;
    let waiting = tokio::spawn(async move { sender.send_request(get("/wait")).await });
    server.until_waiting(1).await;
    let mut idle = server.raw().await;
    // It is served, and then does not confirm that the server leaves.
    idle.send(&frame(PING, 0, 0, b"anything")).await;
    while idle.next(&[PING]).await != Some((PING, b"anything".to_vec())) {}
    drop(server.shutdown.take());
    assert_eq!(idle.ends().await, Some(0));
    assert!(!server.ended.is_finished(), "a request is under way");
    server.gate.add_permits(1);
    let waited = waiting.await.expect("no panic").expect("an answer");
    assert_eq!(waited.status(), 200);
    timeout(PATIENCE, ended)
        .await
        .expect("in time")
        .expect("no panic")
        .expect("in order");
    timeout(PATIENCE, server.ended)
        .await
        .expect("in time")
        .expect("no panic");
}

/// Who takes requests back that go on nevertheless has no more of them than others.
#[tokio::test]
async fn what_goes_on_without_its_client_keeps_its_place() {
    let limits = Limits {
        peer: Some(2),
        ..LIMITS
    };
    let server = server(limits).await;
    let (mut sender, _ended) = server.client(65_535).await;
    for count in [1, 2] {
        let left = sender.send_request(get("/go-on"));
        tokio::select! {
            _ = left => panic!("it waits"),
            () = server.until_waiting(count) => {}
        }
    }
    for path in ["/go-on", "/1"] {
        let refused = sender.send_request(get(path)).await.expect("an answer");
        assert_eq!(refused.status(), 503, "{path}");
    }
    // Not even on another connection.
    let other = connect(server.address, &server.authority, None, HTTP2).await;
    assert!(other.is_err());
    server.gate.add_permits(2);
    let served = async {
        while sender
            .send_request(get("/1"))
            .await
            .expect("an answer")
            .status()
            != 200
        {}
    };
    timeout(PATIENCE, served).await.expect("in time");
}

#[tokio::test]
async fn a_shutdown_waits_for_what_goes_on_without_its_client() {
    let mut server = server(LIMITS).await;
    let (mut sender, ended) = server.client(65_535).await;
    let left = sender.send_request(get("/go-on"));
    tokio::select! {
        _ = left => panic!("it waits"),
        () = server.until_waiting(1) => {}
    }
    drop(server.shutdown.take());
    let ended = timeout(PATIENCE, ended).await;
    ended
        .expect("in time")
        .expect("no panic")
        .expect("in order");
    // Nobody listens any more.
    let closed = async { while TcpStream::connect(server.address).await.is_ok() {} };
    timeout(PATIENCE, closed).await.expect("in time");
    server.gate.add_permits(1);
    let stopped = timeout(PATIENCE, server.ended).await;
    stopped.expect("in time").expect("no panic");
    assert_eq!(*server.waiting.borrow(), (1, 1));
}
