//! HTTP/1.1 over a connection.

use std::error::Error;
use std::pin::pin;

use http_body_util::Either;
use hyper::body::{Body, Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;

use crate::limits::Limits;
use crate::unserved::Unserved;
use crate::visit::Visit;

/// Serves requests until the client leaves, the server closes, or the client is `refused`. A request that has begun is
/// answered.
pub(crate) async fn over_http1<I, S, B>(
    stream: I,
    visit: Visit,
    service: S,
    limits: Limits,
    mut closing: watch::Receiver<()>,
    refused: impl Future<Output = ()>,
) where
    I: AsyncRead + AsyncWrite + Unpin,
    S: Service<Request<Incoming>, Response = Response<B>>,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + 'static,
{
    let placed = service_fn(|mut request: Request<Incoming>| {
        let place = visit.places.take();
        if place.is_none() {
            visit.refused(Unserved::TooManyRequests);
        }
        let reply = place.map(|place| {
            request.extensions_mut().insert(place);
            service.call(request)
        });
        async move {
            match reply {
                Some(reply) => Ok(reply.await?.map(Either::Left)),
                // What the client has left before goes on.
                None => Ok::<_, S::Error>(limits.refusal.reply().map(Either::Right)),
            }
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_timeout)
        .max_header_size(limits.head_bytes)
        .serve_connection(TokioIo::new(stream), placed);
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
        if error.is_parse() {
            visit.refused(Unserved::Head);
        }
        let cause = error.source().map(ToString::to_string);
        tracing::debug!(%error, cause, "a connection broke off");
    }
}
