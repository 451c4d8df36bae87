//! One connection: TLS, if it is asked for, and HTTP/1.1 over it.

use std::error::Error;
use std::future::pending;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;

use hyper::body::{Body, Incoming};
use hyper::header::HOST;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_rustls::rustls::pki_types::UnixTime;

use crate::certificate::ClientCertificate;
use crate::client::Client;
use crate::limits::Limits;
use crate::replying::Replying;
use crate::tls::{Begun, Tls};

/// What a client gets that does not speak TLS where it must. It is an error of ARM's shape.
const NOT_TLS: &[u8] = concat!(
    "HTTP/1.1 400 Bad Request\r\n",
    "Content-Type: application/json\r\n",
    "Cache-Control: no-store\r\n",
    "Connection: close\r\n",
    "\r\n",
    r#"{"error":{"code":"BadRequest","message":"This port speaks TLS only. Use https:// in the URL."}}"#,
)
.as_bytes();

/// What a client gets whose certificate does not say who it is.
const UNNAMED: &[u8] = concat!(
    "HTTP/1.1 403 Forbidden\r\n",
    "Content-Type: application/json\r\n",
    "Cache-Control: no-store\r\n",
    "Connection: close\r\n",
    "\r\n",
    r#"{"error":{"code":"AuthorizationFailed","message":"The certificate has no name: neither a common name, "#,
    r#"nor a URI or DNS name. Use one that says who you are."}}"#,
)
.as_bytes();

/// In the extensions of every request: the address at the other end of its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer(pub SocketAddr);

/// In the extensions of a request that came over TLS.
#[derive(Clone, Debug)]
pub struct OverTls {
    /// The certificate of the client, if it has one, as it is at the time of the request.
    pub client: Option<Arc<ClientCertificate>>,
}

/// Serves the requests of one connection.
pub(crate) async fn converse<S, B>(
    stream: TcpStream,
    peer: Peer,
    service: S,
    limits: Limits,
    tls: Option<Tls>,
    closing: watch::Receiver<()>,
) where
    S: Service<Request<Incoming>, Response = Response<B>> + Send + Sync + 'static,
    S::Future: Send,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    let replying = |stream| Replying::new(stream, limits.write);
    let Some(tls) = tls else {
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(peer);
            service.call(request)
        });
        return over_http1(replying(stream), service, limits, closing, pending()).await;
    };
    let beginning = tls.begin(stream, replying);
    let begun = match limits.head_timeout {
        None => beginning.await,
        Some(limit) => match timeout(limit, beginning).await {
            Ok(begun) => begun,
            Err(_) => Err(ErrorKind::TimedOut.into()),
        },
    };
    match begun {
        Ok(Begun::Tls(stream, authorities)) => {
            let chain = stream.get_ref().1.peer_certificates();
            let client = match chain.filter(|chain| !chain.is_empty()) {
                None => None,
                Some(chain) => {
                    let signed_by = authorities.of(chain, UnixTime::now());
                    match Client::read(chain.to_vec(), signed_by, authorities, tls) {
                        Some(client) => Some(Arc::new(client)),
                        None => return tell(*stream, UNNAMED).await,
                    }
                }
            };
            let caller = client.clone();
            let service = service_fn(move |mut request: Request<Incoming>| {
                request.extensions_mut().insert(peer);
                let client = caller.as_ref();
                let client = client.map(|client| client.certificate(UnixTime::now()));
                service.call(told(request, OverTls { client }))
            });
            let refused = async {
                match &client {
                    Some(client) => client.is_refused().await,
                    None => pending().await,
                }
            };
            over_http1(*stream, service, limits, closing, refused).await;
        }
        Ok(Begun::Plain(stream)) => tell(stream, NOT_TLS).await,
        Err(error) => tracing::debug!(%error, "a TLS handshake failed"),
    }
}

/// Sends a reply without reading a request, and ends the connection.
async fn tell<I: AsyncWrite + Unpin>(mut stream: I, reply: &[u8]) {
    let told = async {
        stream.write_all(reply).await?;
        stream.shutdown().await
    };
    if let Err(error) = told.await {
        tracing::debug!(%error, "a connection broke off");
    }
}

/// Notes that the request came over TLS. If its URI has a host, `Host` does not count (RFC 9112, section 3.2.2).
fn told(mut request: Request<Incoming>, over_tls: OverTls) -> Request<Incoming> {
    request.extensions_mut().insert(over_tls);
    if let Some(authority) = request.uri().authority()
        && let Ok(host) = authority.as_str().parse()
    {
        request.headers_mut().insert(HOST, host);
    }
    request
}

/// Serves requests until the client leaves, the server closes, or the client is `refused`. A request that has begun is
/// answered.
async fn over_http1<I, S, B>(
    stream: I,
    service: S,
    limits: Limits,
    mut closing: watch::Receiver<()>,
    refused: impl Future<Output = ()>,
) where
    I: AsyncRead + AsyncWrite + Unpin,
    S: Service<Request<Incoming>, Response = Response<B>>,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: Body<Error: Into<Box<dyn Error + Send + Sync>>> + 'static,
{
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_timeout)
        .max_header_size(limits.head_bytes)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    let outcome = tokio::select! {
        outcome = connection.as_mut() => outcome,
        // Always an error: the sender never sends and is dropped at shutdown.
        _ = closing.changed() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
        () = refused => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = outcome {
        let cause = error.source().map(ToString::to_string);
        tracing::debug!(%error, cause, "a connection broke off");
    }
}
