//! A connection whose client must take what is sent to it. hyper limits the time of a request's head, but waits for ever
//! for a client that does not read.

use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::limits::WriteLimit;

/// A connection that is reset if its client takes no bytes for too long.
pub(crate) struct Replying {
    stream: TcpStream,
    limit: Option<WriteLimit>,
    waiting: Option<Waiting>,
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

impl Replying {
    pub(crate) fn new(stream: TcpStream, limit: Option<WriteLimit>) -> Self {
        Self {
            stream,
            limit,
            waiting: None,
        }
    }

    /// Judges an attempt to write. hyper flushes when it has written all that it has.
    fn judge(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<Result<usize>>,
    ) -> Poll<Result<usize>> {
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
                // What the client did not take is not worth keeping.
                let _ = self.stream.set_zero_linger();
                let message = "the client does not take the reply";
                Poll::Ready(Err(Error::new(ErrorKind::TimedOut, message)))
            }
        }
    }
}

impl AsyncRead for Replying {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl AsyncWrite for Replying {
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
        self.waiting = None;
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
