//! HTTP/2 over a connection. What hyper does not limit by itself is limited here, as it is for HTTP/1.1.

mod frames;

use std::error::Error;
use std::future::pending;
use std::pin::pin;
use std::time::Duration;

use http_body_util::Either;
use hyper::body::{Body, Bytes, Incoming};
use hyper::server::conn::http2;
use hyper::service::{Service, service_fn};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::sleep;

use self::frames::Watched;
use crate::limits::{HEADERS, Limits};
use crate::refusal::Refusal;
use crate::streams::{Streams, Taken};
use crate::unserved::Unserved;
use crate::visit::Visit;

/// The time that a client without requests has to confirm the end of a connection, from its last sign of life on.
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
    visit: Visit,
    service: S,
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
    let streams = Streams::new(limits.write);
    let bounded = service_fn(|mut request: Request<Incoming>| {
        let stream = streams.begin();
        let begun = match request.headers().len() {
            0..=HEADERS => {
                let place = visit.places.take();
                place.ok_or((limits.refusal, Unserved::TooManyRequests))
            }
            _ => Err((TOO_MANY_HEADERS, Unserved::Head)),
        };
        if let Err((_, why)) = begun {
            visit.refused(why);
        }
        let served = begun.map(|place| {
            request.extensions_mut().insert(place.clone());
            (service.call(request), place)
        });
        async move {
            let (reply, place) = match served {
                Ok((reply, place)) => (reply.await?.map(Either::Left), Some(place)),
                Err((refusal, _)) => (refusal.reply().map(Either::Right), None),
            };
            Ok::<_, S::Error>(reply.map(|body| Taken::new(body, stream, place)))
        }
    });
    let stream = Watched::new(stream, limits.http2.frames);
    let head_bytes = u32::try_from(limits.head_bytes).unwrap_or(u32::MAX);
    let connection = http2::Builder::new(streams.clone())
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
    let mut is_leaving = false;
    loop {
        let most = if is_leaving {
            Some(GOODBYE)
        } else {
            limits.head_timeout
        };
        let idle = || {
            let (idle, quiet) = (streams.idle()?, visit.traffic.quiet()?);
            Some(if is_leaving { idle.min(quiet) } else { idle })
        };
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
            () = lasts(most, idle) => if is_leaving {
                tracing::debug!("a client does not confirm the end of its connection");
                return;
            }
        }
        is_leaving = true;
        connection.as_mut().graceful_shutdown();
    }
}

/// Waits until a client has been `idle` for so long.
async fn lasts(most: Option<Duration>, idle: impl Fn() -> Option<Duration>) {
    let Some(most) = most else {
        return pending().await;
    };
    loop {
        let left = most.saturating_sub(idle().unwrap_or_default());
        if left.is_zero() {
            return;
        }
        sleep(left).await;
    }
}

#[cfg(test)]
mod tests;
