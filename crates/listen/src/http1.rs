//! HTTP/1.1 over a connection.

use std::error::Error;
use std::pin::pin;

use http_body_util::Either;
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{HeaderMap, TRANSFER_ENCODING};
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;

use crate::limits::Limits;
use crate::pieces::Pieces;
use crate::refusal::Refusal;
use crate::unserved::Unserved;
use crate::visit::Visit;

/// What a request gets whose body is encoded otherwise than the server reads it.
const ENCODED: Refusal = Refusal {
    status: StatusCode::BAD_REQUEST,
    body: r#"{"error":{"code":"BadRequest","message":"The Transfer-Encoding is not supported. Send the body with a Content-Length, or chunked alone."}}"#,
};

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
    B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Unpin + 'static,
{
    let placed = service_fn(|mut request: Request<Incoming>| {
        let place = if is_chunked_alone(request.headers()) {
            // What the client has left before goes on.
            (visit.places.take()).ok_or((limits.refusal, Unserved::TooManyRequests))
        } else {
            Err((ENCODED, Unserved::Head))
        };
        if let Err((_, why)) = place {
            visit.refused(why);
        }
        let reply = place.map(|place| {
            request.extensions_mut().insert(place);
            service.call(request)
        });
        async move {
            match reply {
                Ok(reply) => Ok(reply.await?.map(|body| Either::Left(Pieces::of(body)))),
                Err((refusal, _)) => Ok::<_, S::Error>(refusal.reply().map(Either::Right)),
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

/// Whether a body is encoded as the server reads it. A proxy in front could take the same bytes for another body.
fn is_chunked_alone(headers: &HeaderMap) -> bool {
    let mut given = headers.get_all(TRANSFER_ENCODING).iter();
    match (given.next(), given.next()) {
        (None, _) => true,
        (Some(only), None) => only
            .as_bytes()
            .trim_ascii()
            .eq_ignore_ascii_case(b"chunked"),
        (Some(_), Some(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    //! The connection is a pipe, and the time moves by itself when nobody has anything to do.

    use std::convert::Infallible;
    use std::future::pending;
    use std::sync::Arc;
    use std::time::Duration;

    use http_body_util::{BodyExt as _, Full};
    use hyper::header::HeaderValue;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
    use tokio::sync::mpsc::unbounded_channel;
    use tokio::task::JoinHandle;
    use tokio::time::{Instant, sleep, timeout};

    use super::*;
    use crate::limits::{Http2Limits, WriteLimit};
    use crate::peers::{Peer, Peers};
    use crate::places::{Place, Places};
    use crate::replying::{Replying, Traffic};

    #[test]
    fn a_body_is_chunked_alone() {
        for (given, is_read) in [
            (&[][..], true),
            (&["chunked"], true),
            (&[" Chunked "], true),
            (&["gzip, chunked"], false),
            (&["gzip", "chunked"], false),
            (&["chunked", "chunked"], false),
            (&["identity"], false),
            (&[""], false),
        ] {
            let mut headers = HeaderMap::new();
            for value in given {
                headers.append(TRANSFER_ENCODING, HeaderValue::from_static(value));
            }
            assert_eq!(is_chunked_alone(&headers), is_read, "{given:?}");
        }
    }

    const SECOND: Duration = Duration::from_secs(1);
    const LONG: Duration = Duration::from_secs(3600);
    /// The length of each reply, which is more than what the pipe takes that nobody reads.
    const LARGE: usize = 1 << 20;
    const PIPE: usize = 64 << 10;

    /// Serves a connection of which there is one.
    async fn serve<S, B>(write: Option<WriteLimit>, service: S) -> (DuplexStream, JoinHandle<()>)
    where
        S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>
            + Send
            + Sync
            + 'static,
        S::Future: Send,
        B: Body<Data = Bytes, Error = Infallible> + Send + Unpin + 'static,
    {
        let limits = Limits {
            connections: 1,
            peer: None,
            refusal: Refusal {
                status: StatusCode::SERVICE_UNAVAILABLE,
                body: "",
            },
            head_bytes: 64 << 10,
            head_timeout: Some(5 * SECOND),
            write,
            http2: Http2Limits::USUAL,
            grace: None,
        };
        let (ours, client) = tokio::io::duplex(PIPE);
        let traffic = Traffic::new();
        let stream = Replying::new(ours, limits.write, traffic.clone());
        let admitted = Peers::new(1, None).admit([192, 0, 2, 1].into()).await;
        let visit = Visit {
            peer: Peer(([192, 0, 2, 1], 1).into()),
            places: Places::new(admitted.expect("room")),
            traffic,
            witness: Arc::new(()),
        };
        let (open, closing) = watch::channel(());
        let serving = async move {
            over_http1(stream, visit, service, limits, closing, pending()).await;
            drop(open);
        };
        (client, tokio::spawn(serving))
    }

    /// Asks for a large reply.
    async fn ask(write: WriteLimit) -> (DuplexStream, JoinHandle<()>) {
        let service = service_fn(async |_| {
            let body = Bytes::from(vec![b'x'; LARGE]);
            Ok::<_, Infallible>(Response::new(Full::new(body)))
        });
        let (mut client, ended) = serve(Some(write), service).await;
        let head = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        client.write_all(head).await.expect("a request");
        (client, ended)
    }

    /// Reads a piece every second. Returns how much that was in the end.
    async fn read_slowly(mut client: DuplexStream) -> usize {
        let (mut all, mut bytes) = (0, vec![0; PIPE]);
        while let count @ 1.. = client.read(&mut bytes).await.expect("a pipe") {
            all += count;
            sleep(SECOND).await;
        }
        all
    }

    #[tokio::test(start_paused = true)]
    async fn who_does_not_send_a_whole_head_is_let_go() {
        for sent in ["", "GET / HTTP/1.1\r\nHost"] {
            let begun = Instant::now();
            let service = service_fn(async |_| Ok::<_, Infallible>(Response::new(String::new())));
            let (mut client, ended) = serve(None, service).await;
            let sending = client.write_all(sent.as_bytes()).await;
            sending.expect("it is taken");
            let ended = timeout(LONG, ended).await;
            ended.expect("in time").expect("no panic");
            assert_eq!(begun.elapsed().as_secs(), 5, "{sent:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_does_not_read_is_let_go() {
        for (stall, whole) in [(2 * SECOND, LONG), (LONG, 2 * SECOND)] {
            let begun = Instant::now();
            let (_client, ended) = ask(WriteLimit { stall, whole }).await;
            ended.await.expect("no panic");
            assert_eq!(begun.elapsed().as_secs(), 2, "{stall:?} and {whole:?}");
        }
    }

    /// What a request holds is counted until its reply is taken, however slowly.
    #[tokio::test(start_paused = true)]
    async fn a_reply_is_held_until_it_is_taken() {
        let holds = Arc::new(());
        let held = Arc::downgrade(&holds);
        let service = service_fn(move |_| {
            let holds = Arc::clone(&holds);
            async move {
                let body = Full::new(Bytes::from(vec![b'x'; LARGE]));
                let body = body.map_frame(move |frame| {
                    let _holds = &holds;
                    frame
                });
                Ok::<_, Infallible>(Response::new(body))
            }
        });
        let write = WriteLimit {
            stall: LONG,
            whole: LONG,
        };
        let (mut client, ended) = serve(Some(write), service).await;
        let head = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        client.write_all(head).await.expect("a request");
        sleep(SECOND).await;
        // The service, and the body.
        assert_eq!(held.strong_count(), 2);
        let mut half = vec![0; LARGE / 2];
        client.read_exact(&mut half).await.expect("a half");
        sleep(SECOND).await;
        assert_eq!(held.strong_count(), 2);
        client.read_to_end(&mut half).await.expect("the rest");
        ended.await.expect("no panic");
        assert_eq!(held.strong_count(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn who_reads_slowly_gets_all_of_it_within_the_time() {
        for (whole, is_all) in [(LONG, true), (5 * SECOND, false)] {
            let stall = 2 * SECOND;
            let (client, ended) = ask(WriteLimit { stall, whole }).await;
            let read = read_slowly(client).await;
            assert_eq!(read > LARGE, is_all, "{read} within {whole:?}");
            ended.await.expect("no panic");
        }
    }

    /// Such as a change whose time is over: the client has an answer, and the change no end.
    #[tokio::test]
    async fn a_request_after_one_that_goes_on_is_one_too_many() {
        let (given, mut going_on) = unbounded_channel();
        let service = service_fn(move |request: Request<Incoming>| {
            let place = request.extensions().get::<Place>().cloned();
            given.send(place).expect("the test takes it");
            async { Ok::<_, Infallible>(Response::new(Full::new(Bytes::new()))) }
        });
        let (mut client, _ended) = serve(None, service).await;
        let mut ask = async || {
            let head = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";
            client.write_all(head).await.expect("a request");
            let mut reply = Vec::new();
            while !reply.ends_with(b"\r\n\r\n") {
                reply.push(client.read_u8().await.expect("a reply"));
            }
            String::from_utf8_lossy(&reply[9..12]).into_owned()
        };
        assert_eq!(ask().await, "200");
        assert_eq!(ask().await, "503");
        drop(going_on.recv().await.flatten().expect("a place"));
        assert_eq!(ask().await, "200");
    }
}
