//! The requests under way on a connection over HTTP/2. hyper waits for ever for a client that makes no room for a reply.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::rt::Executor;
use tokio::time::{Instant, sleep_until};

use crate::limits::WriteLimit;
use crate::pieces::Pieces;
use crate::places::Place;

/// The requests under way on a connection. As the executor of hyper it runs each until its client is late, and no longer: the
/// request is reset then, and the others of the connection go on.
#[derive(Clone, Debug)]
pub(crate) struct Streams {
    write: Option<WriteLimit>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    under_way: usize,
    /// When the last request ended.
    idle_since: Instant,
    /// The deadline of the request that has begun, and that is to be run next.
    begun: Option<Deadline>,
}

/// A request. It is under way until it is dropped.
#[derive(Debug)]
pub(crate) struct Stream {
    streams: Streams,
    deadline: Deadline,
    /// Until when the client must take the whole reply.
    whole: Option<Instant>,
}

/// Until when the client must take what it is offered of a reply. `None` while it is not its turn.
#[derive(Clone, Debug, Default)]
struct Deadline(Arc<Mutex<Option<Instant>>>);

impl Streams {
    pub(crate) fn new(write: Option<WriteLimit>) -> Self {
        let state = State {
            under_way: 0,
            idle_since: Instant::now(),
            begun: None,
        };
        Self {
            write,
            state: Arc::new(Mutex::new(state)),
        }
    }

    /// Begins a request. It is the next one that is run.
    pub(crate) fn begin(&self) -> Stream {
        let deadline = Deadline::default();
        let mut state = self.state();
        state.under_way += 1;
        state.begun = Some(deadline.clone());
        Stream {
            streams: self.clone(),
            deadline,
            whole: None,
        }
    }

    /// Returns for how long there has been no request. `None` if there is one.
    pub(crate) fn idle(&self) -> Option<Duration> {
        let state = self.state();
        (state.under_way == 0).then(|| state.idle_since.elapsed())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<F> Executor<F> for Streams
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, serving: F) {
        let deadline = self.state().begun.take().unwrap_or_default();
        tokio::spawn(deadline.kept(serving));
    }
}

impl Deadline {
    /// Runs a request until its end, or until its client is late.
    async fn kept(self, serving: impl Future<Output = ()>) {
        let mut serving = pin!(serving);
        let mut late = pin!(sleep_until(Instant::now()));
        poll_fn(|context| {
            if serving.as_mut().poll(context).is_ready() {
                return Poll::Ready(());
            }
            let Some(until) = *self.until() else {
                return Poll::Pending;
            };
            if late.deadline() != until {
                late.as_mut().reset(until);
            }
            ready!(late.as_mut().poll(context));
            tracing::debug!("a reply was not taken in time");
            Poll::Ready(())
        })
        .await;
    }

    fn until(&self) -> MutexGuard<'_, Option<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stream {
    /// Offers something to the client, which it must take in time.
    fn offer(&mut self) {
        let Some(limit) = self.streams.write else {
            return;
        };
        let now = Instant::now();
        let whole = *self.whole.get_or_insert(now + limit.whole);
        *self.deadline.until() = Some(whole.min(now + limit.stall));
    }

    /// Notes that the client has taken what it was offered.
    fn taken(&self) {
        *self.deadline.until() = None;
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let mut state = self.streams.state();
        state.under_way -= 1;
        state.idle_since = Instant::now();
    }
}

/// The body of a reply, of which it is known how the client takes it.
pub(crate) struct Taken<B> {
    body: Pieces<B>,
    stream: Stream,
    /// The client takes a place until it has taken the reply.
    _place: Option<Place>,
}

impl<B> Taken<B> {
    pub(crate) fn new(body: B, stream: Stream, place: Option<Place>) -> Self {
        Self {
            body: Pieces::of(body),
            stream,
            _place: place,
        }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Taken<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let Self { body, stream, .. } = &mut *self;
        if body.is_spent() {
            stream.taken();
        }
        let frame = ready!(Pin::new(body).poll_frame(context));
        if let Some(Ok(frame)) = &frame
            && frame.is_data()
        {
            stream.offer();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::{BodyExt, Full};

    use super::*;
    use crate::pieces::PIECE;

    const SECOND: Duration = Duration::from_secs(1);

    fn streams() -> Streams {
        Streams::new(Some(WriteLimit {
            stall: 2 * SECOND,
            whole: 3 * SECOND,
        }))
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_without_a_request_is_idle() {
        let streams = streams();
        tokio::time::advance(4 * SECOND).await;
        assert_eq!(streams.idle(), Some(4 * SECOND));
        let (first, second) = (streams.begin(), streams.begin());
        tokio::time::advance(9 * SECOND).await;
        assert_eq!(streams.idle(), None);
        drop(first);
        assert_eq!(streams.idle(), None, "the other one is under way");
        drop(second);
        tokio::time::advance(4 * SECOND).await;
        assert_eq!(streams.idle(), Some(4 * SECOND));
    }

    /// The pauses are those of the client between two pieces.
    #[tokio::test(start_paused = true)]
    async fn a_reply_that_is_not_taken_in_time_ends() {
        for (pauses, end) in [
            (&[][..], None),
            (&[1, 1], None),
            (&[9], Some(2)),
            (&[1, 1, 9], Some(3)),
        ] {
            let stream = streams().begin();
            let deadline = stream.deadline.clone();
            let begun = Instant::now();
            let serving = async move {
                // In the making.
                tokio::time::sleep(9 * SECOND).await;
                let body = Full::new(Bytes::from(vec![0; 9 * PIECE]));
                let mut body = Taken::new(body, stream, None);
                for pause in pauses {
                    let piece = body.frame().await.unwrap().unwrap().into_data();
                    assert_eq!(piece.unwrap().len(), PIECE);
                    tokio::time::sleep(*pause * SECOND).await;
                }
                while body.frame().await.is_some() {}
            };
            deadline.kept(serving).await;
            let took = begun.elapsed().saturating_sub(9 * SECOND);
            let whole: u32 = pauses.iter().sum();
            let expected = end.unwrap_or(whole) * SECOND;
            assert_eq!(took.as_secs(), expected.as_secs(), "{pauses:?}");
        }
    }
}
