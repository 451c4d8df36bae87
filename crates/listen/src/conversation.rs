//! One connection: TLS, if it is asked for, and the version of HTTP that the client speaks.

use std::error::Error;
use std::io::ErrorKind;
use std::pin::{Pin, pin};
use std::sync::Arc;

use hyper::body::{Body, Incoming};
use hyper::header::HOST;
use hyper::server::conn::{http1, http2};
use hyper::service::{Service, service_fn};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::limits::Limits;
use crate::replying::Replying;
use crate::subject;
use crate::tls::{Begun, Tls};

/// The maximum number of requests that a client may have open on one connection over HTTP/2.
const STREAMS: u32 = 100;
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

/// In the extensions of a request that came over TLS.
#[derive(Clone, Debug)]
pub struct OverTls {
    /// The name in the client's certificate, which an authority of [`TlsFiles::client_ca`](crate::TlsFiles::client_ca) has
    /// signed.
    pub client: Option<Arc<str>>,
}

/// Serves the requests of one connection.
pub(crate) async fn converse<S, B>(
    stream: TcpStream,
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
        return over_http1(replying(stream), service, limits, closing).await;
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
        Ok(Begun::Tls(stream)) => {
            let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
            let certificates = stream.get_ref().1.peer_certificates();
            let client = certificates.and_then(|chain| subject::name(chain.first()?));
            let over_tls = OverTls {
                client: client.map(Arc::from),
            };
            let service = service_fn(move |request| service.call(told(request, &over_tls)));
            match is_http2 {
                true => over_http2(*stream, service, limits, closing).await,
                false => over_http1(*stream, service, limits, closing).await,
            }
        }
        Ok(Begun::Plain(mut stream)) => {
            let told = async {
                stream.write_all(NOT_TLS).await?;
                stream.shutdown().await
            };
            if let Err(error) = told.await {
                tracing::debug!(%error, "a connection broke off");
            }
        }
        Err(error) => tracing::debug!(%error, "a TLS handshake failed"),
    }
}

/// Notes that the request came over TLS. A request over HTTP/2 has its host in the URI.
fn told(mut request: Request<Incoming>, over_tls: &OverTls) -> Request<Incoming> {
    request.extensions_mut().insert(over_tls.clone());
    if !request.headers().contains_key(HOST)
        && let Some(authority) = request.uri().authority()
        && let Ok(host) = authority.as_str().parse()
    {
        request.headers_mut().insert(HOST, host);
    }
    request
}

async fn over_http1<I, S, B>(stream: I, service: S, limits: Limits, closing: watch::Receiver<()>)
where
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
    carry_on(connection, http1::Connection::graceful_shutdown, closing).await;
}

async fn over_http2<I, S, B>(stream: I, service: S, limits: Limits, closing: watch::Receiver<()>)
where
    I: AsyncRead + AsyncWrite + Unpin,
    S: Service<Request<Incoming>, Response = Response<B>> + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS)
        .max_header_list_size(u32::try_from(limits.head_bytes).unwrap_or(u32::MAX));
    if let Some(limit) = limits.head_timeout {
        // A client that is gone does not answer.
        builder.keep_alive_interval(limit).keep_alive_timeout(limit);
    }
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    carry_on(connection, http2::Connection::graceful_shutdown, closing).await;
}

/// Waits for the end of a connection, which is asked for once the server stops.
async fn carry_on<C>(connection: C, end: impl FnOnce(Pin<&mut C>), mut closing: watch::Receiver<()>)
where
    C: Future<Output = hyper::Result<()>>,
{
    let mut connection = pin!(connection);
    let outcome = tokio::select! {
        outcome = connection.as_mut() => outcome,
        // Always an error: the sender never sends and is dropped at shutdown.
        _ = closing.changed() => {
            end(connection.as_mut());
            connection.await
        }
    };
    if let Err(error) = outcome {
        let cause = error.source().map(ToString::to_string);
        tracing::debug!(%error, cause, "a connection broke off");
    }
}
