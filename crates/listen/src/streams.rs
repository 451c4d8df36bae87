//! The requests under way on a connection over HTTP/2. hyper waits for ever for a client that makes no room for a reply, or
//! that keeps a connection without a request.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::body::{Body, Buf, Bytes, Frame, SizeHint};
use tokio::time::Instant;

use crate::limits::Limits;
use crate::places::Place;

/// How much of a reply is offered to the client at once, in bytes. It is the usual size of a frame.
const PIECE: usize = 16 << 10;
/// How often a connection without limits is looked at.
const SELDOM: Duration = Duration::from_secs(3600);

/// Why a connection must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Late {
    /// There has been no request for too long.
    Idle,
    /// The client has not taken a reply in time.
    Unread,
}

/// The requests under way on a connection.
#[derive(Clone, Debug)]
pub(crate) struct Streams {
    limits: Limits,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    /// When the last request ended.
    idle_since: Instant,
    /// The number of the next request.
    next: u64,
    /// Until when the client must take what it is offered of each reply. `None` while it is not its turn.
    under_way: BTreeMap<u64, Option<Instant>>,
}

/// A request. It is under way until it is dropped.
#[derive(Debug)]
pub(crate) struct Stream {
    streams: Streams,
    number: u64,
    /// Until when the client must take the whole reply.
    whole: Option<Instant>,
    _place: Place,
}

impl Streams {
    pub(crate) fn new(limits: Limits) -> Self {
        let state = State {
            idle_since: Instant::now(),
            next: 0,
            under_way: BTreeMap::new(),
        };
        Self {
            limits,
            state: Arc::new(Mutex::new(state)),
        }
    }

    /// Begins a request.
    pub(crate) fn begin(&self, place: Place) -> Stream {
        let mut state = self.state();
        let number = state.next;
        state.next += 1;
        state.under_way.insert(number, None);
        Stream {
            streams: self.clone(),
            number,
            whole: None,
            _place: place,
        }
    }

    /// Returns when to look again, or why the connection must end. It may have no request for as long as `idle`.
    pub(crate) fn judge(&self, now: Instant, idle: Option<Duration>) -> Result<Instant, Late> {
        let state = self.state();
        let idle_until = idle.filter(|_| state.under_way.is_empty());
        let idle_until = idle_until.map(|idle| state.idle_since + idle);
        let taken_until = state.under_way.values().flatten().min().copied();
        if idle_until.is_some_and(|until| until <= now) {
            return Err(Late::Idle);
        }
        if taken_until.is_some_and(|until| until <= now) {
            return Err(Late::Unread);
        }
        // What begins from now on is not late earlier.
        let soon = [
            idle,
            self.limits.write.map(|write| write.stall.min(write.whole)),
        ];
        let soon = soon.into_iter().flatten().min().unwrap_or(SELDOM);
        let next = [idle_until, taken_until].into_iter().flatten().min();
        Ok(next.map_or(now + soon, |next| next.min(now + soon)))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stream {
    /// Offers something to the client, which it must take in time.
    fn offer(&mut self) {
        let Some(limit) = self.streams.limits.write else {
            return;
        };
        let now = Instant::now();
        let whole = *self.whole.get_or_insert(now + limit.whole);
        self.expect(Some(whole.min(now + limit.stall)));
    }

    fn expect(&self, until: Option<Instant>) {
        self.streams.state().under_way.insert(self.number, until);
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let mut state = self.streams.state();
        state.under_way.remove(&self.number);
        state.idle_since = Instant::now();
    }
}

/// The body of a reply, of which it is known how the client takes it.
///
/// hyper asks for a piece, and for the next one when the client has made room for a part of it. So the last byte goes by
/// itself: when there is room for it, there is for all before it. Then the body is dropped, and the request with it.
pub(crate) struct Taken<B> {
    body: B,
    /// What is left of what the body has given.
    rest: Bytes,
    stream: Stream,
}

impl<B> Taken<B> {
    pub(crate) fn new(body: B, stream: Stream) -> Self {
        Self {
            body,
            rest: Bytes::new(),
            stream,
        }
    }
}

impl<B: Body + Unpin> Body for Taken<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let Self { body, rest, stream } = &mut *self;
        if rest.is_empty() {
            stream.expect(None);
            let all = |mut data: B::Data| data.copy_to_bytes(data.remaining());
            match ready!(Pin::new(body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.map_data(all).into_data() {
                    Ok(data) => *rest = data,
                    Err(other) => return Poll::Ready(Some(Ok(other))),
                },
                end => return Poll::Ready(end.map(|end| end.map(|frame| frame.map_data(all)))),
            }
        }
        stream.offer();
        let piece = match rest.len() {
            length @ (0 | 1) => length,
            length => PIECE.min(length - 1),
        };
        Poll::Ready(Some(Ok(Frame::data(rest.split_to(piece)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (mut hint, rest) = (self.body.size_hint(), self.rest.len() as u64);
        if let Some(upper) = hint.upper() {
            hint.set_upper(upper + rest);
        }
        hint.set_lower(hint.lower() + rest);
        hint
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::{BodyExt, Full};
    use hyper::StatusCode;

    use super::*;
    use crate::limits::{Http2Limits, WriteLimit};
    use crate::peers::Peers;
    use crate::places::Places;
    use crate::refusal::Refusal;

    const SECOND: Duration = Duration::from_secs(1);

    fn streams() -> Streams {
        let limits = Limits {
            connections: 2,
            peer: None,
            refusal: Refusal {
                status: StatusCode::SERVICE_UNAVAILABLE,
                body: "",
            },
            head_bytes: 1,
            head_timeout: None,
            write: Some(WriteLimit {
                stall: 2 * SECOND,
                whole: 3 * SECOND,
            }),
            http2: Http2Limits {
                streams: 1,
                resets: 1,
                errors: 1,
                ping: SECOND,
            },
            grace: None,
        };
        Streams::new(limits)
    }

    async fn begin(streams: &Streams) -> Stream {
        let admitted = Peers::new(1, None).admit([192, 0, 2, 1].into()).await;
        streams.begin(Places::new(admitted.unwrap()).take().unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_without_a_request_is_idle() {
        let (streams, idle) = (streams(), Some(5 * SECOND));
        let begun = Instant::now();
        let judge = || streams.judge(Instant::now(), idle);
        assert_eq!(judge(), Ok(begun + 2 * SECOND));
        tokio::time::advance(4 * SECOND).await;
        assert_eq!(judge(), Ok(begun + 5 * SECOND));
        let stream = begin(&streams).await;
        tokio::time::advance(9 * SECOND).await;
        assert!(judge().is_ok(), "a request is under way");
        drop(stream);
        tokio::time::advance(4 * SECOND).await;
        assert!(judge().is_ok());
        tokio::time::advance(SECOND).await;
        assert_eq!(judge(), Err(Late::Idle));
        assert!(streams.judge(Instant::now(), None).is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_reply_that_is_not_taken_in_time_is_late() {
        for (pauses, late) in [(&[2][..], 2), (&[1, 1, 1], 3)] {
            let streams = streams();
            let stream = begin(&streams).await;
            tokio::time::advance(9 * SECOND).await;
            assert!(streams.judge(Instant::now(), None).is_ok(), "in the making");
            let mut body = Taken::new(Full::new(Bytes::from(vec![0; 9 * PIECE])), stream);
            let begun = Instant::now();
            for pause in pauses {
                assert!(streams.judge(Instant::now(), None).is_ok());
                let piece = body.frame().await.unwrap().unwrap().into_data();
                assert_eq!(piece.unwrap().len(), PIECE);
                tokio::time::advance(*pause * SECOND).await;
            }
            assert_eq!(begun.elapsed(), late * SECOND);
            let judged = streams.judge(Instant::now(), None);
            assert_eq!(judged, Err(Late::Unread), "{pauses:?}");
            drop(body);
            assert!(streams.judge(Instant::now(), None).is_ok());
        }
    }

    #[tokio::test]
    async fn the_last_byte_of_a_reply_goes_by_itself() {
        for (length, pieces) in [
            (0, &[][..]),
            (1, &[1]),
            (2, &[1, 1]),
            (PIECE + 1, &[PIECE, 1]),
            (PIECE + 2, &[PIECE, 1, 1]),
        ] {
            let stream = begin(&streams()).await;
            let mut body = Taken::new(Full::new(Bytes::from(vec![0; length])), stream);
            let mut given = Vec::new();
            while !body.is_end_stream() {
                let rest = length - given.iter().sum::<usize>();
                assert_eq!(body.size_hint().exact(), Some(rest as u64));
                let piece = body.frame().await.unwrap().unwrap().into_data();
                given.push(piece.unwrap().len());
            }
            assert_eq!(given, pieces);
        }
    }
}
