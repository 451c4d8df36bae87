//! One connection: TLS, if it is asked for, and the version of HTTP over it that was agreed on.

use std::convert::Infallible;
use std::error::Error;
use std::future::{pending, ready};
use std::io::ErrorKind;
use std::sync::Arc;

use hyper::body::{Body, Bytes, Incoming};
use hyper::header::HOST;
use hyper::service::{Service, service_fn};
use hyper::{Request, Response, StatusCode, Uri};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_rustls::rustls::pki_types::UnixTime;
use tokio_rustls::server::TlsStream;

use crate::certificate::ClientCertificate;
use crate::client::Client;
use crate::http1::over_http1;
use crate::http2::over_http2;
use crate::limits::Limits;
use crate::refusal::Refusal;
use crate::replying::Replying;
use crate::tls::{Begun, Flushed, HTTP2, Tls};
use crate::unserved::{Unserved, refused_certificate};
use crate::visit::Visit;

/// What a client gets that does not speak TLS where it must.
const NOT_TLS: Refusal = Refusal {
    status: StatusCode::BAD_REQUEST,
    body: r#"{"error":{"code":"BadRequest","message":"This port speaks TLS only. Use https:// in the URL."}}"#,
};

/// What a client gets whose certificate does not say who it is.
const UNNAMED: Refusal = Refusal {
    status: StatusCode::FORBIDDEN,
    body: concat!(
        r#"{"error":{"code":"AuthorizationFailed","message":"The certificate has no name: neither a common name, "#,
        r#"nor a URI or DNS name. Use one that says who you are."}}"#,
    ),
};

/// Why such a certificate is not accepted.
const NAMELESS: &str = "it has no name";

/// In the extensions of a request that came over TLS.
#[derive(Clone, Debug)]
pub struct OverTls {
    /// The certificate of the client, if it has one, as it is at the time of the request.
    pub client: Option<Arc<ClientCertificate>>,
}

/// Serves the requests of one connection.
pub(crate) async fn converse<S, B>(
    stream: TcpStream,
    visit: Visit,
    service: S,
    limits: Limits,
    tls: Option<Tls>,
    closing: watch::Receiver<()>,
) where
    S: Service<Request<Incoming>, Response = Response<B>> + Send + Sync + 'static,
    S::Future: Send + 'static,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static,
{
    let (peer, traffic) = (visit.peer, visit.traffic.clone());
    let replying = |stream| Replying::new(stream, limits.write, traffic);
    let Some(tls) = tls else {
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(peer);
            service.call(normal(request))
        });
        return over_http1(replying(stream), visit, service, limits, closing, pending()).await;
    };
    let beginning = tls.begin(stream, replying);
    let begun = match limits.head_timeout {
        None => beginning.await,
        Some(limit) => match timeout(limit, beginning).await {
            Ok(begun) => begun,
            Err(_) => Err(ErrorKind::TimedOut.into()),
        },
    };
    let (stream, authorities) = match begun {
        Ok(Begun::Tls(stream, authorities)) => (stream, authorities),
        Ok(Begun::Plain(stream)) => {
            visit.refused(Unserved::NotTls);
            return tell(stream, &NOT_TLS.text()).await;
        }
        Ok(Begun::Failed(error, stream)) => {
            tracing::debug!(%error, "a TLS handshake failed");
            match refused_certificate(&error) {
                Some(reason) => visit.login_failed(&reason, closing).await,
                None => visit.refused(Unserved::Handshake),
            }
            return tell(stream, "").await;
        }
        Err(error) => {
            tracing::debug!(%error, "a TLS handshake did not come to its end");
            return visit.refused(Unserved::Handshake);
        }
    };
    let chain = stream.get_ref().1.peer_certificates();
    let client = match chain.filter(|chain| !chain.is_empty()) {
        None => None,
        Some(chain) => {
            let signed_by = authorities.of(chain, UnixTime::now());
            match Client::read(chain.to_vec(), signed_by, authorities, tls) {
                Some(client) => Some(Arc::new(client)),
                None => return turn_away(stream, visit, limits, closing).await,
            }
        }
    };
    let caller = client.clone();
    let service = service_fn(move |mut request: Request<Incoming>| {
        let client = caller.as_ref();
        let client = client.map(|client| client.certificate(UnixTime::now()));
        request.extensions_mut().insert(peer);
        request.extensions_mut().insert(OverTls { client });
        service.call(normal(request))
    });
    let refused = async {
        match &client {
            Some(client) => client.is_refused().await,
            None => pending().await,
        }
    };
    if speaks_http2(&stream) {
        over_http2(*stream, visit, service, limits, closing, refused).await
    } else {
        over_http1(*stream, visit, service, limits, closing, refused).await
    }
}

/// Tells a client that its certificate does not say who it is. Over HTTP/2 that takes a request.
async fn turn_away(
    stream: Box<TlsStream<Flushed>>,
    visit: Visit,
    limits: Limits,
    closing: watch::Receiver<()>,
) {
    visit.login_failed(NAMELESS, closing.clone()).await;
    if !speaks_http2(&stream) {
        return tell(*stream, &UNNAMED.text()).await;
    }
    let service = service_fn(|_| ready(Ok::<_, Infallible>(UNNAMED.reply())));
    over_http2(*stream, visit, service, limits, closing, pending()).await;
}

fn speaks_http2(stream: &TlsStream<Flushed>) -> bool {
    stream.get_ref().1.alpn_protocol() == Some(HTTP2)
}

/// Sends a reply without reading a request, if there is one, and ends the connection.
async fn tell<I: AsyncWrite + Unpin>(mut stream: I, reply: &str) {
    let told = async {
        stream.write_all(reply.as_bytes()).await?;
        stream.shutdown().await
    };
    if let Err(error) = told.await {
        tracing::debug!(%error, "a connection broke off");
    }
}

/// Makes requests alike, whichever form they have. If the URI has a host, `Host` does not count (RFC 9112, section 3.2.2; RFC
/// 9113, section 8.3.1), and the rest of the URI is as without one. Several of them stay, to be refused (RFC 9112, section 3.2).
fn normal<B>(mut request: Request<B>) -> Request<B> {
    let has_several = request.headers().get_all(HOST).iter().nth(1).is_some();
    if let Some(authority) = request.uri().authority().filter(|_| !has_several)
        && let Ok(host) = authority.as_str().parse()
    {
        request.headers_mut().insert(HOST, host);
    }
    if let Some(path) = request.uri().path_and_query().cloned() {
        *request.uri_mut() = Uri::from(path);
    }
    request
}
