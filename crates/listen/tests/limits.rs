//! The limits of connections, over real sockets.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use ucp_listen::{Http2Limits, Limits, Place, Refusal};

/// How long a test waits for anything. It is not a measurement.
const PATIENCE: Duration = Duration::from_secs(60);
const LONG: Duration = Duration::from_secs(3600);
/// More than what the operating system keeps for a client.
const LARGE: usize = 16 << 20;
const TOLD: &str = "HTTP/1.1 503 Service Unavailable\r\n\
    content-type: application/json\r\n\
    cache-control: no-store\r\n\
    retry-after: 1\r\n\
    connection: close\r\n\
    \r\n\
    {}";

const LIMITS: Limits = Limits {
    connections: 1,
    peer: None,
    refusal: Refusal {
        status: StatusCode::SERVICE_UNAVAILABLE,
        body: "{}",
    },
    head_bytes: 64 << 10,
    head_timeout: Some(LONG),
    write: None,
    http2: Http2Limits::USUAL,
    grace: None,
};

/// What goes on at `/go-on`, whether the client waits or not, ends with this.
static GATE: Semaphore = Semaphore::const_new(0);

/// Serves `/large` and `/go-on`, and nothing else.
async fn serve(limits: Limits) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let service = service_fn(async |request: Request<Incoming>| {
        let length = match request.uri().path() {
            "/large" => LARGE,
            "/go-on" => {
                let place = request.extensions().get::<Place>().cloned();
                let going_on = async move {
                    GATE.acquire().await.expect("it is never closed").forget();
                    drop(place);
                };
                tokio::spawn(going_on);
                0
            }
            _ => 0,
        };
        Ok::<_, Infallible>(Response::new(Full::new(Bytes::from(vec![b'x'; length]))))
    });
    tokio::spawn(ucp_listen::serve(
        listener,
        service,
        limits,
        None,
        Arc::new(()),
        std::future::pending(),
    ));
    address
}

async fn ask(address: SocketAddr, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    let head = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await.expect("a request");
    stream
}

/// Reads until the connection ends. Returns how much that was, or the error that ended it.
async fn read(mut stream: TcpStream) -> std::io::Result<usize> {
    let mut bytes = Vec::new();
    let read = timeout(PATIENCE, stream.read_to_end(&mut bytes)).await;
    read.expect("the connection ends")
}

#[tokio::test]
async fn a_peer_is_refused_what_others_get() {
    let address = serve(Limits {
        connections: 9,
        peer: Some(1),
        ..LIMITS
    })
    .await;
    let first = ask(address, "/large").await;
    let mut second = TcpStream::connect(address).await.expect("a connection");
    let mut told = String::new();
    let end = timeout(PATIENCE, second.read_to_string(&mut told)).await;
    end.expect("the connection ends").expect("it is not reset");
    assert_eq!(told, TOLD);

    let other = TcpSocket::new_v4().expect("a socket");
    other
        .bind("127.0.0.2:0".parse().expect("an address"))
        .expect("an address of loopback");
    let mut other = other.connect(address).await.expect("a connection");
    let head = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    other.write_all(head).await.expect("a request");
    assert!(read(other).await.expect("it is served") > 0);

    assert!(read(first).await.expect("it is served") > LARGE);
}

/// The end of a connection does not make room for another one while its request goes on.
#[tokio::test]
async fn what_goes_on_without_its_client_keeps_its_place() {
    let address = serve(Limits {
        connections: 9,
        peer: Some(1),
        ..LIMITS
    })
    .await;
    let left = ask(address, "/go-on").await;
    assert!(read(left).await.expect("it is served") > 0);
    let mut refused = TcpStream::connect(address).await.expect("a connection");
    let mut told = String::new();
    let end = timeout(PATIENCE, refused.read_to_string(&mut told)).await;
    end.expect("the connection ends").expect("it is not reset");
    assert_eq!(told, TOLD);
    GATE.add_permits(1);
    // Soon there is room again. Who is refused may find that in a reset, too.
    let served = async {
        while read(ask(address, "/").await)
            .await
            .map_or(true, |bytes| bytes == TOLD.len())
        {}
    };
    timeout(PATIENCE, served)
        .await
        .expect("there is room again");
}
