//! TLS over real sockets: what is spoken over it, who is let in, and certificates that change.

mod http2;
mod identities;

use std::convert::Infallible;
use std::fs;
use std::future::pending;
use std::io::ErrorKind;
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::SendRequest;
use hyper::header::HOST;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use rcgen::{CertificateParams, DistinguishedName};
use socket2::SockRef;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_rustls::client::TlsStream;
use ucp_listen::{
    Authority as SignedBy, Http2Limits, Limits, OverTls, Peer, Refusal, Tls, TlsError, TlsFiles,
    Unserved, Witness,
};

use identities::{Authority, Identity, connect};

/// How long a test waits for anything. It is not a measurement.
const PATIENCE: Duration = Duration::from_secs(60);

const HTTP1: &[&str] = &["http/1.1"];

const LIMITS: Limits = Limits {
    connections: 100,
    peer: None,
    refusal: Refusal {
        status: StatusCode::SERVICE_UNAVAILABLE,
        body: "{}",
    },
    head_bytes: 64 << 10,
    head_timeout: Some(Duration::from_secs(3600)),
    write: None,
    http2: Http2Limits::USUAL,
    grace: None,
};

/// Tells the version of HTTP, the host, and who the client is, or that the request did not come over TLS.
async fn serve(tls: Tls, limits: Limits) -> SocketAddr {
    watched(tls, limits).await.0
}

/// What the server tells of what it refuses.
#[derive(Default)]
struct Told {
    refused: Mutex<Vec<Unserved>>,
    /// Why certificates are not accepted.
    reasons: Mutex<Vec<String>>,
}

impl Told {
    fn all(&self) -> Vec<Unserved> {
        self.refused.lock().expect("no panic holds it").clone()
    }

    fn reasons(&self) -> Vec<String> {
        self.reasons.lock().expect("no panic holds it").clone()
    }
}

#[async_trait]
impl Witness for Told {
    fn refused(&self, Peer(address): Peer, why: Unserved) {
        assert!(address.ip().is_loopback());
        self.refused.lock().expect("no panic holds it").push(why);
    }

    async fn login_failed(&self, Peer(address): Peer, reason: &str) {
        assert!(address.ip().is_loopback());
        let mut reasons = self.reasons.lock().expect("no panic holds it");
        reasons.push(reason.to_owned());
    }
}

/// The same, and what it refuses before it is a request.
async fn watched(tls: Tls, limits: Limits) -> (SocketAddr, Arc<Told>) {
    let told = Arc::new(Told::default());
    let (address, _) = serve_before(Arc::clone(&told) as _, tls, limits, pending()).await;
    (address, told)
}

/// The same, with a witness of what it refuses, until `shutdown`. Returns its end, too.
async fn serve_before(
    witness: Arc<dyn Witness>,
    tls: Tls,
    limits: Limits,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let service = service_fn(async |request: Request<Incoming>| {
        let host = request.headers().get(HOST);
        let host = host.map(|host| String::from_utf8_lossy(host.as_bytes()).into_owned());
        let over_tls = request.extensions().get::<OverTls>();
        let client = over_tls.map(|over_tls| {
            let client = over_tls.client.as_deref()?;
            let [name, groups] = [&client.name, &client.groups.join("+")];
            Some(format!("{name} of {groups}: {:?}", client.signed_by))
        });
        let peer = request.extensions().get::<Peer>();
        assert!(peer.is_some_and(|peer| peer.0.ip().is_loopback()));
        let told = format!("{:?} {host:?} {client:?}", request.version());
        Ok::<_, Infallible>(Response::new(Full::new(Bytes::from(told))))
    });
    let serving = ucp_listen::serve(listener, service, limits, Some(tls), witness, shutdown);
    (address, tokio::spawn(serving))
}

/// Asks once.
async fn ask(stream: TlsStream<TcpStream>, uri: &str) -> Result<String, hyper::Error> {
    let io = TokioIo::new(stream);
    let (mut sender, connection) = hyper::client::conn::http1::handshake(io).await?;
    tokio::spawn(connection);
    let request = Request::builder().uri(uri).header(HOST, "localhost:2");
    let request = request.body(Empty::<Bytes>::new()).expect("a request");
    let response = sender.send_request(request).await?;
    let body = response.into_body().collect().await?.to_bytes();
    Ok(String::from_utf8_lossy(&body).into_owned())
}

#[tokio::test]
async fn requests_are_served_over_tls() {
    let (folder, authority) = (tempfile::tempdir().expect("a folder"), Authority::new());
    let files = authority.issue("localhost").write(folder.path());
    let address = serve(Tls::read(files).expect("a certificate"), LIMITS).await;
    for (uri, host) in [
        ("/x", "localhost:2"),
        ("https://localhost:1/x", "localhost:1"),
    ] {
        let stream = connect(address, &authority, None, HTTP1)
            .await
            .expect("a handshake");
        let answer = ask(stream, uri).await.expect("an answer");
        assert_eq!(answer, format!(r#"HTTP/1.1 Some("{host}") Some(None)"#));
    }
}

/// Such as `curl http://…` at a port of TLS.
#[tokio::test]
async fn who_does_not_speak_tls_is_told_so() {
    let (folder, authority) = (tempfile::tempdir().expect("a folder"), Authority::new());
    let files = authority.issue("localhost").write(folder.path());
    let (address, told) = watched(Tls::read(files).expect("a certificate"), LIMITS).await;
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    let request = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    stream.write_all(request).await.expect("a request");
    let mut head = [0; 24];
    let read = timeout(PATIENCE, stream.read_exact(&mut head)).await;
    read.expect("in time").expect("an answer");
    assert_eq!(&head, b"HTTP/1.1 400 Bad Request");
    assert_eq!(told.all(), [Unserved::NotTls]);
}

#[tokio::test]
async fn who_does_not_finish_the_handshake_is_let_go() {
    let (folder, authority) = (tempfile::tempdir().expect("a folder"), Authority::new());
    let files = authority.issue("localhost").write(folder.path());
    let limits = Limits {
        head_timeout: Some(Duration::from_millis(200)),
        ..LIMITS
    };
    let address = serve(Tls::read(files).expect("a certificate"), limits).await;
    for sent in [&b""[..], &[22, 3, 1]] {
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        stream.write_all(sent).await.expect("it is taken");
        let mut rest = Vec::new();
        let ended = timeout(PATIENCE, stream.read_to_end(&mut rest)).await;
        // Whether by its end or by a reset.
        drop(ended.expect("the connection ends"));
        assert!(rest.is_empty());
    }
}

/// A client without a certificate may have a token.
#[tokio::test]
async fn clients_of_other_authorities_are_refused() {
    let (folder, authority) = (tempfile::tempdir().expect("a folder"), Authority::new());
    let [clients, proxies, strangers] = [(); 3].map(|()| Authority::new());
    let files = TlsFiles {
        client_ca: Some(folder.path().join("clients.crt")),
        request_header_ca: Some(folder.path().join("proxies.crt")),
        ..authority.issue("localhost").write(folder.path())
    };
    // An authority may sign both.
    let both = Authority::new();
    for (path, own) in [
        (&files.client_ca, &clients),
        (&files.request_header_ca, &proxies),
    ] {
        let path = path.as_deref().expect("a path");
        fs::write(path, own.pem() + &both.pem()).expect("a file");
    }
    let (address, refused) = watched(Tls::read(files).expect("a certificate"), LIMITS).await;
    let stranger = strangers.issue("engine");
    let (client, proxy) = (SignedBy::OfClients, SignedBy::OfProxies);
    for (identity, told) in [
        (
            Some(&clients.issue("engine")),
            Some(Some(("engine of ", vec![client]))),
        ),
        (
            Some(&clients.issue_to("Ada Lovelace", Some("ops"))),
            Some(Some(("Ada Lovelace of ops", vec![client]))),
        ),
        (
            Some(&proxies.issue_to("front-proxy", None)),
            Some(Some(("front-proxy of ", vec![proxy]))),
        ),
        (
            Some(&both.issue("engine")),
            Some(Some(("engine of ", vec![client, proxy]))),
        ),
        (Some(&stranger), None),
        (None, Some(None)),
    ] {
        // With TLS 1.3 the client learns of the refusal when it reads.
        let answer = match connect(address, &authority, identity, HTTP1).await {
            Ok(stream) => ask(stream, "/x").await.ok(),
            Err(_) => None,
        };
        let told = told.map(|client| {
            let client = client.map(|(who, signed_by)| format!("{who}: {signed_by:?}"));
            format!(r#"HTTP/1.1 Some("localhost:2") Some({client:?})"#)
        });
        assert_eq!(answer, told);
    }
    assert_eq!(refused.all(), [Unserved::Certificate]);
    // All authorities here have the same name.
    assert_eq!(refused.reasons(), ["BadSignature"]);
}

/// Neither is a request of the service.
#[tokio::test]
async fn heads_that_cannot_be_read_are_told() {
    let (folder, authority) = (tempfile::tempdir().expect("a folder"), Authority::new());
    let files = authority.issue("localhost").write(folder.path());
    let (address, told) = watched(Tls::read(files).expect("a certificate"), LIMITS).await;
    let long = format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "y".repeat(65 << 10));
    for (head, status) in [("GET / HTTP/1.1\r\n:\r\n\r\n", "400"), (&long, "431")] {
        let stream = connect(address, &authority, None, HTTP1).await;
        let mut stream = stream.expect("a handshake");
        stream
            .write_all(head.as_bytes())
            .await
            .expect("it is taken");
        let mut start = [0; 12];
        let read = timeout(PATIENCE, stream.read_exact(&mut start)).await;
        read.expect("in time").expect("an answer");
        let start = String::from_utf8_lossy(&start).into_owned();
        assert_eq!(start, format!("HTTP/1.1 {status}"));
        let mut rest = Vec::new();
        let ended = timeout(PATIENCE, stream.read_to_end(&mut rest)).await;
        // Whether the client was told of the end or not.
        drop(ended.expect("in time"));
    }
    assert_eq!(told.all(), [Unserved::Head, Unserved::Head]);
}

/// What is not TLS would be read as a defect of the server.
#[tokio::test]
async fn a_connection_too_many_gets_no_reply_in_clear() {
    let (folder, authority) = (tempfile::tempdir().expect("a folder"), Authority::new());
    let files = authority.issue("localhost").write(folder.path());
    let limits = Limits {
        peer: Some(1),
        ..LIMITS
    };
    let (address, told) = watched(Tls::read(files).expect("a certificate"), limits).await;
    let first = connect(address, &authority, None, HTTP1)
        .await
        .expect("let in");
    let mut second = TcpStream::connect(address).await.expect("a connection");
    let mut reply = Vec::new();
    let ended = timeout(PATIENCE, second.read_to_end(&mut reply)).await;
    assert_eq!(ended.expect("in time").expect("an end"), 0);
    assert_eq!(told.all(), [Unserved::TooManyConnections]);
    drop(first);
}

/// TLS of a server that lets in clients with certificates of the authority.
fn of_clients(folder: &Path, authority: &Authority) -> Tls {
    let ca = folder.join("ca.crt");
    fs::write(&ca, authority.pem()).expect("a file");
    let files = TlsFiles {
        client_ca: Some(ca),
        ..authority.issue("localhost").write(folder)
    };
    Tls::read(files).expect("a certificate")
}

/// Who is let in has a name of its own.
#[tokio::test]
async fn certificates_without_a_name_are_refused() {
    let (folder, authority) = (tempfile::tempdir().expect("a folder"), Authority::new());
    let tls = of_clients(folder.path(), &authority);
    let (address, told) = watched(tls, LIMITS).await;
    let mut nameless = CertificateParams::default();
    nameless.distinguished_name = DistinguishedName::new();
    for identity in [
        authority.sign(&nameless),
        authority.issue_to("Anonymous", None),
    ] {
        let stream = connect(address, &authority, Some(&identity), HTTP1).await;
        let mut reply = String::new();
        let reading = stream
            .expect("a handshake")
            .read_to_string(&mut reply)
            .await;
        // Whether the client was told of the end of the connection or not.
        drop(reading);
        assert!(reply.starts_with("HTTP/1.1 403 Forbidden"), "{reply}");
    }
    assert_eq!(told.all(), [Unserved::Certificate; 2]);
    assert_eq!(told.reasons(), ["it has no name"; 2]);
}

/// Lets those go whose certificates are not accepted when it is told to.
struct Slow {
    /// How many there were.
    refused: Semaphore,
    gate: Semaphore,
}

impl Slow {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            refused: Semaphore::new(0),
            gate: Semaphore::new(0),
        })
    }

    /// Waits for the next one.
    async fn next(&self) {
        let next = timeout(PATIENCE, self.refused.acquire()).await;
        next.expect("in time").expect("it is never closed").forget();
    }
}

#[async_trait]
impl Witness for Slow {
    fn refused(&self, _: Peer, _: Unserved) {}

    async fn login_failed(&self, _: Peer, _: &str) {
        self.refused.add_permits(1);
        let passed = self.gate.acquire().await;
        passed.expect("it is never closed").forget();
    }
}

/// Certificates that are not accepted: of another authority, and without a name.
fn not_accepted(authority: &Authority) -> [Identity; 2] {
    let mut nameless = CertificateParams::default();
    nameless.distinguished_name = DistinguishedName::new();
    [Authority::new().issue("engine"), authority.sign(&nameless)]
}

/// So that who tries many certificates waits for each.
#[tokio::test]
async fn who_is_slowed_keeps_its_place() {
    let (folder, authority) = (tempfile::tempdir().expect("a folder"), Authority::new());
    let limits = Limits {
        peer: Some(1),
        ..LIMITS
    };
    let slow = Slow::new();
    let tls = of_clients(folder.path(), &authority);
    let (address, _) = serve_before(slow.clone(), tls, limits, pending()).await;
    for identity in not_accepted(&authority) {
        let refused = connect(address, &authority, Some(&identity), HTTP1).await;
        slow.next().await;
        for _ in 0..20 {
            let other = connect(address, &authority, None, HTTP1).await;
            assert!(other.is_err());
        }
        slow.gate.add_permits(1);
        let let_in = async { while connect(address, &authority, None, HTTP1).await.is_err() {} };
        timeout(PATIENCE, let_in).await.expect("in time");
        drop(refused);
    }
}

/// A client that wants to know what came of a certificate waits too.
#[tokio::test]
async fn who_is_slowed_learns_of_the_refusal_at_the_end() {
    let (folder, authority) = (tempfile::tempdir().expect("a folder"), Authority::new());
    let slow = Slow::new();
    let tls = of_clients(folder.path(), &authority);
    let (address, _) = serve_before(slow.clone(), tls, LIMITS, pending()).await;
    let [stranger, _] = not_accepted(&authority);
    let stream = connect(address, &authority, Some(&stranger), HTTP1).await;
    let mut stream = stream.expect("the client has done its part");
    slow.next().await;
    let heard = SockRef::from(stream.get_ref().0).peek(&mut [MaybeUninit::uninit()]);
    let heard = heard.expect_err("neither bytes nor the end have come");
    assert_eq!(heard.kind(), ErrorKind::WouldBlock);
    slow.gate.add_permits(1);
    let told = timeout(PATIENCE, stream.read(&mut [0])).await;
    let told = told.expect("in time").expect_err("it is refused");
    assert!(told.to_string().contains("fatal alert"), "{told}");
}

#[tokio::test]
async fn who_is_slowed_does_not_hold_up_the_shutdown() {
    let (folder, authority) = (tempfile::tempdir().expect("a folder"), Authority::new());
    for identity in not_accepted(&authority) {
        let (slow, (shutdown, stopping)) = (Slow::new(), oneshot::channel::<()>());
        let tls = of_clients(folder.path(), &authority);
        let (address, ended) = serve_before(slow.clone(), tls, LIMITS, async {
            let _ = stopping.await;
        })
        .await;
        let refused = connect(address, &authority, Some(&identity), HTTP1).await;
        slow.next().await;
        drop(shutdown);
        let ended = timeout(PATIENCE, ended).await;
        ended.expect("in time").expect("no panic");
        drop(refused);
    }
}

#[tokio::test]
async fn a_certificate_that_changes_is_used_from_then_on() {
    let (folder, old, new) = (
        tempfile::tempdir().expect("a folder"),
        Authority::new(),
        Authority::new(),
    );
    let files = old.issue("localhost").write(folder.path());
    let tls = Tls::read(files.clone()).expect("a certificate");
    let address = serve(tls.clone(), LIMITS).await;
    let trusts = async |root| connect(address, root, None, HTTP1).await.is_ok();
    assert!(!tls.refresh().expect("the same"));
    assert!(trusts(&old).await);

    // Between two writes the key is that of another certificate.
    let renewed = new.issue("localhost");
    fs::write(&files.certificate, &renewed.certificate).expect("a file");
    let halfway = tls.refresh().expect_err("the key is another one");
    assert!(matches!(halfway, TlsError::Unusable { .. }), "{halfway:?}");
    assert!(!tls.refresh().expect("told once"));
    assert!(trusts(&old).await);

    fs::remove_file(&files.key).expect("a file");
    let missing = tls.refresh().expect_err("it is not there");
    assert!(
        matches!(missing, TlsError::Unreadable { .. }),
        "{missing:?}"
    );
    assert!(!tls.refresh().expect("told once"));

    fs::write(&files.key, &renewed.key).expect("a file");
    assert!(tls.refresh().expect("a pair"));
    assert!(trusts(&new).await);
    assert!(!trusts(&old).await);
}

#[test]
fn what_cannot_be_used_is_named() {
    let (folder, authority) = (tempfile::tempdir().expect("a folder"), Authority::new());
    let files = authority.issue("localhost").write(folder.path());
    let without = |change: fn(&mut TlsFiles)| {
        let mut files = files.clone();
        change(&mut files);
        Tls::read(files).expect_err("it is refused").to_string()
    };
    assert!(
        without(|files| files.key.set_extension("no").then_some(()).expect("set"))
            .contains("tls.no")
    );
    let swapped = without(|files| std::mem::swap(&mut files.certificate, &mut files.key));
    assert!(swapped.contains("contains no private key"), "{swapped}");
    let empty = without(|files| files.client_ca = Some("/dev/null".into()));
    assert!(
        empty.contains("/dev/null contains no certificate"),
        "{empty}"
    );
}

/// What is open does not outlive the authority of its client.
#[tokio::test]
async fn connections_end_when_their_authority_is_removed() {
    let (folder, authority) = (tempfile::tempdir().expect("a folder"), Authority::new());
    let (old, new) = (Authority::new(), Authority::new());
    let ca = folder.path().join("ca.crt");
    fs::write(&ca, format!("{}{}", old.pem(), new.pem())).expect("a file");
    let files = TlsFiles {
        client_ca: Some(ca.clone()),
        ..authority.issue("localhost").write(folder.path())
    };
    let tls = Tls::read(files).expect("a certificate");
    let address = serve(tls.clone(), LIMITS).await;
    let mut open = Vec::new();
    for by in [&old, &new] {
        let identity = by.issue_to("ada", None);
        let stream = connect(address, &authority, Some(&identity), HTTP1).await;
        let io = TokioIo::new(stream.expect("a handshake"));
        let (mut sender, connection) = hyper::client::conn::http1::handshake(io)
            .await
            .expect("a connection");
        let connection = tokio::spawn(connection);
        let answer = told(&mut sender).await;
        assert!(answer.contains("ada of : [OfClients]"), "{answer}");
        open.push((sender, connection));
    }
    // Another change leaves both.
    fs::write(&ca, format!("{}{}", new.pem(), old.pem())).expect("a file");
    assert!(tls.refresh().expect("it can be used"));
    for (sender, _) in &mut open {
        told(sender).await;
    }
    fs::write(&ca, new.pem()).expect("a file");
    assert!(tls.refresh().expect("it can be used"));
    let (_, ended) = open.remove(0);
    let ended = timeout(PATIENCE, ended).await.expect("in time");
    ended.expect("no panic").expect("it is closed in order");
    let answer = told(&mut open[0].0).await;
    assert!(answer.contains("ada of : [OfClients]"), "{answer}");
}

/// Asks on a connection that stays open.
async fn told(sender: &mut SendRequest<Empty<Bytes>>) -> String {
    let request = Request::builder().uri("/").header(HOST, "localhost");
    let request = request.body(Empty::new()).expect("a request");
    let response = sender.send_request(request).await.expect("an answer");
    let body = response.into_body().collect().await.expect("a body");
    String::from_utf8_lossy(&body.to_bytes()).into_owned()
}
