//! A connection whose client must take what is sent to it. hyper limits the time of a request's head, but waits for ever
//! for a client that does not read.

use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::limits::WriteLimit;

/// A connection that is reset if its client takes no bytes for too long.
pub(crate) struct Replying<I = TcpStream> {
    stream: I,
    limit: Option<WriteLimit>,
    waiting: Option<Waiting>,
    traffic: Traffic,
}

/// A connection that can be cut off, so that nothing of what the client has not taken is kept.
pub(crate) trait CutOff {
    fn cut_off(&self);
}

impl CutOff for TcpStream {
    fn cut_off(&self) {
        // What the client did not take is not worth keeping.
        let _ = self.set_zero_linger();
    }
}

/// What goes over a connection.
#[derive(Clone, Debug)]
pub(crate) struct Traffic(Arc<Mutex<Last>>);

#[derive(Debug)]
struct Last {
    /// Whether bytes wait for the client.
    is_waiting: bool,
    /// When the client has sent something, or taken what waited for it.
    sign: Instant,
}

impl Traffic {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Last {
            is_waiting: false,
            sign: Instant::now(),
        })))
    }

    /// Returns for how long the client has given no sign of life. `None` while bytes wait for it.
    pub(crate) fn quiet(&self) -> Option<Duration> {
        let last = self.last();
        (!last.is_waiting).then(|| last.sign.elapsed())
    }

    fn heard(&self) {
        self.last().sign = Instant::now();
    }

    /// Notes whether the client takes what it is sent.
    fn moved(&self, is_waiting: bool) {
        let mut last = self.last();
        if last.is_waiting && !is_waiting {
            last.sign = Instant::now();
        }
        last.is_waiting = is_waiting;
    }

    fn last(&self) -> MutexGuard<'_, Last> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes wait for the client.
struct Waiting {
    /// When all of them must have been taken.
    whole: Instant,
    /// When some of them must have been taken, or all of them.
    until: Pin<Box<Sleep>>,
}

impl Waiting {
    fn begin(limit: WriteLimit) -> Self {
        let now = Instant::now();
        let whole = now + limit.whole;
        let until = Box::pin(sleep_until(whole.min(now + limit.stall)));
        Self { whole, until }
    }

    fn moved(&mut self, limit: WriteLimit) {
        let until = self.whole.min(Instant::now() + limit.stall);
        self.until.as_mut().reset(until);
    }
}

impl<I: CutOff> Replying<I> {
    pub(crate) fn new(stream: I, limit: Option<WriteLimit>, traffic: Traffic) -> Self {
        Self {
            stream,
            limit,
            waiting: None,
            traffic,
        }
    }

    /// Judges an attempt to write. hyper flushes when it has written all that it has.
    fn judge(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<Result<usize>>,
    ) -> Poll<Result<usize>> {
        self.traffic.moved(written.is_pending());
        let Some(limit) = self.limit else {
            return written;
        };
        match written {
            Poll::Ready(_) => {
                if let Some(waiting) = &mut self.waiting {
                    waiting.moved(limit);
                }
                written
            }
            Poll::Pending => {
                let waiting = self.waiting.get_or_insert_with(|| Waiting::begin(limit));
                ready!(waiting.until.as_mut().poll(context));
                self.stream.cut_off();
                let message = "the client does not take the reply";
                Poll::Ready(Err(Error::new(ErrorKind::TimedOut, message)))
            }
        }
    }
}

impl<I: AsyncRead + Unpin> AsyncRead for Replying<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_read(context, into))?;
        self.traffic.heard();
        Poll::Ready(Ok(()))
    }
}

impl<I: AsyncWrite + CutOff + Unpin> AsyncWrite for Replying<I> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judge(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.judge(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(context))?;
        if self.waiting.take().is_some() {
            self.traffic.moved(false);
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
    use tokio::net::TcpListener;
    use tokio::time::timeout;

    use super::*;

    impl CutOff for DuplexStream {
        fn cut_off(&self) {}
    }

    const SECOND: Duration = Duration::from_secs(1);
    const LONG: Duration = Duration::from_secs(3600);
    /// More than what the operating system keeps for a client.
    const LARGE: usize = 16 << 20;

    /// The connection is a real one. The time is not: it moves when the server waits for nothing but the client.
    #[tokio::test(start_paused = true)]
    async fn a_client_that_does_not_read_is_reset() {
        let limit = WriteLimit {
            stall: 2 * SECOND,
            whole: LONG,
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let mut client = TcpStream::connect(address).await.expect("a connection");
        let (ours, _) = listener.accept().await.expect("a connection");
        let mut server = Replying::new(ours, Some(limit), Traffic::new());
        let begun = Instant::now();
        let bytes = vec![b'x'; LARGE];
        let written = timeout(LONG, server.write_all(&bytes)).await;
        let error = written
            .expect("it is let go")
            .expect_err("it does not read");
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        assert_eq!(begun.elapsed().as_secs(), 2);
        drop(server);
        let end = client.read_to_end(&mut Vec::new()).await;
        let end = end.expect_err("it learns that something is missing");
        assert_eq!(end.kind(), ErrorKind::ConnectionReset);
    }
}
