//! HTTP/2 over a connection. What hyper does not limit by itself is limited here, as it is for HTTP/1.1.

use std::error::Error;
use std::pin::pin;
use std::time::Duration;

use http_body_util::Either;
use hyper::body::{Body, Bytes, Incoming};
use hyper::server::conn::http2;
use hyper::service::{Service, service_fn};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::limits::{HEADERS, Limits};
use crate::places::Places;
use crate::refusal::Refusal;
use crate::streams::{Late, Streams, Taken};

/// The time that a client has to confirm the end of a connection without requests.
const GOODBYE: Duration = Duration::from_secs(1);

/// What a request with too many headers gets, as over HTTP/1.1.
const TOO_MANY_HEADERS: Refusal = Refusal {
    status: StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
    body: "",
};

/// How much of a reply waits for the client where nobody sees it. A reply counts as taken once no more than that is left.
const SEND_BUFFER: usize = 64 << 10;

/// Serves requests until the client leaves, the server closes, or the client is `refused`. Requests that have begun are
/// answered.
pub(crate) async fn over_http2<I, S, B>(
    stream: I,
    service: S,
    places: Places,
    limits: Limits,
    mut closing: watch::Receiver<()>,
    refused: impl Future<Output = ()>,
) where
    I: AsyncRead + AsyncWrite + Unpin,
    S: Service<Request<Incoming>, Response = Response<B>>,
    S::Future: Send + 'static,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static,
{
    let streams = Streams::new(limits);
    let bounded = service_fn(|mut request: Request<Incoming>| {
        let begun = match request.headers().len() {
            0..=HEADERS => places.take().ok_or(limits.refusal),
            _ => Err(TOO_MANY_HEADERS),
        };
        let served = begun.map(|place| {
            request.extensions_mut().insert(place.clone());
            (streams.begin(place), service.call(request))
        });
        async move {
            match served {
                Ok((stream, reply)) => {
                    let reply = reply.await?;
                    Ok(reply.map(|body| Either::Left(Taken::new(body, stream))))
                }
                Err(refusal) => Ok::<_, S::Error>(refusal.reply().map(Either::Right)),
            }
        }
    });
    let head_bytes = u32::try_from(limits.head_bytes).unwrap_or(u32::MAX);
    let connection = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .max_header_list_size(head_bytes)
        .max_concurrent_streams(limits.http2.streams)
        .max_send_buf_size(SEND_BUFFER)
        .max_pending_accept_reset_streams(limits.http2.resets)
        .max_local_error_reset_streams(limits.http2.errors)
        .keep_alive_interval(limits.http2.ping)
        .keep_alive_timeout(limits.http2.ping)
        .serve_connection(TokioIo::new(stream), bounded);
    let (mut connection, mut refused) = (pin!(connection), pin!(refused));
    let (mut is_leaving, mut look) = (false, Instant::now());
    loop {
        tokio::select! {
            outcome = connection.as_mut() => {
                if let Err(error) = outcome {
                    let cause = error.source().map(ToString::to_string);
                    tracing::debug!(%error, cause, "a connection broke off");
                }
                return;
            }
            // Always an error: the sender never sends and is dropped at shutdown.
            _ = closing.changed(), if !is_leaving => {}
            () = refused.as_mut(), if !is_leaving => {}
            () = sleep_until(look) => {
                let idle = if is_leaving { Some(GOODBYE) } else { limits.head_timeout };
                match streams.judge(Instant::now(), idle) {
                    Ok(next) => {
                        look = next;
                        continue;
                    }
                    Err(Late::Idle) if !is_leaving => {}
                    Err(late) => {
                        tracing::debug!(cause = ?late, "a connection broke off");
                        return;
                    }
                }
            }
        }
        is_leaving = true;
        connection.as_mut().graceful_shutdown();
        look = Instant::now() + GOODBYE;
    }
}
