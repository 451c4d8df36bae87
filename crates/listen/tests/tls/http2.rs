//! HTTP/2 over TLS: that it is spoken where a client asks for it, and that the limits of HTTP/1.1 hold for it.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use http_body_util::{BodyExt, Empty, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{CertificateParams, DistinguishedName};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_rustls::client::TlsStream;
use ucp_listen::{Limits, Place};

use super::identities::{Authority, Identity, connect};
use super::{HTTP1, LIMITS, PATIENCE, of_clients};

const HTTP2: &[&str] = &["h2"];

/// A server over TLS. It answers `/wait` when it is let, and goes on with `/go-on` until then, whether the client waits or
/// not.
struct Server {
    address: SocketAddr,
    authority: Authority,
    /// Lets as many requests end.
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
    let tls = of_clients(folder.path(), &authority);
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
        };
        async move {
            match request.uri().path() {
                "/wait" => waiting.await,
                "/go-on" => tokio::spawn(waiting).await.expect("no panic"),
                _ => {}
            }
            Ok::<_, Infallible>(Response::new(Full::new(Bytes::new())))
        }
    });
    let (shutdown, stopping) = oneshot::channel();
    let stopping = async {
        let _ = stopping.await;
    };
    let serving = ucp_listen::serve(listener, service, limits, Some(tls), Arc::new(()), stopping);
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

    async fn client(&self) -> (SendRequest<Empty<Bytes>>, Ended) {
        let io = TokioIo::new(self.stream(None).await);
        let client = Builder::new(TokioExecutor::new()).handshake(io).await;
        let (sender, connection) = client.expect("a connection");
        (sender, tokio::spawn(connection))
    }

    async fn until_waiting(&self, count: usize) {
        let mut waiting = self.waiting.clone();
        let reached = waiting.wait_for(|(begun, _)| *begun >= count);
        let reached = timeout(PATIENCE, reached).await;
        reached.expect("in time").expect("a server");
    }
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
    let address = super::serve(of_clients(folder.path(), &authority), LIMITS).await;
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
        let (mut sender, _ended) = server.client().await;
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

/// Who takes requests back that go on nevertheless has no more of them than others.
#[tokio::test]
async fn what_goes_on_without_its_client_keeps_its_place() {
    let limits = Limits {
        peer: Some(2),
        ..LIMITS
    };
    let server = server(limits).await;
    let (mut sender, _ended) = server.client().await;
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
    let (mut sender, ended) = server.client().await;
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
