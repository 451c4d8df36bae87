//! The frames of a client that cost work and ask for nothing, such as PING and SETTINGS (RFC 9113, section 10.5). A connection has
//! so many of them, and more with time and with what it is sent: a client that reads grants windows.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

/// The length of the client's preface (section 3.4).
const PREFACE: usize = 24;
/// The length of the head of a frame (section 4.1).
const HEAD: usize = 9;
/// The kinds of frames that are not counted here (section 6): those of requests, which are counted as such.
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
/// The flag of the last frame of a request.
const END_STREAM: u8 = 1;
/// After so many bytes to the client it may send one frame more: it grants a window for some kilobytes at a time.
const BYTES_PER_FRAME: usize = 1 << 10;
/// How many frames more it may send each second.
const PER_SECOND: u128 = 200;

/// A stream of frames from a client, which ends with an error if there are too many.
pub(super) struct Watched<S> {
    stream: S,
    frames: Frames,
}

impl<S> Watched<S> {
    /// A client may send so many frames at once.
    pub(super) fn new(stream: S, most: usize) -> Self {
        Self {
            stream,
            frames: Frames::of_at_most(most, Instant::now()),
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if let Poll::Ready(Ok(())) = &read {
            let now = Instant::now();
            if !self.frames.take(&buffer.filled()[before..], now) {
                let message = "the client sends too many frames that ask for nothing";
                return Poll::Ready(Err(io::Error::other(message)));
            }
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        if let Poll::Ready(Ok(length)) = &written {
            self.frames.sent(*length);
        }
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        if let Poll::Ready(Ok(length)) = &written {
            self.frames.sent(*length);
        }
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Where a client is in its frames, and how many more it may send.
struct Frames {
    /// What is left of the preface, or of a frame.
    skip: usize,
    head: [u8; HEAD],
    filled: usize,
    most: usize,
    left: usize,
    /// The requests that the client has not taken back.
    requests: usize,
    /// What was sent and is not counted yet.
    sent: usize,
    /// When frames were last given for the time.
    at: Instant,
}

impl Frames {
    fn of_at_most(most: usize, now: Instant) -> Self {
        Self {
            skip: PREFACE,
            head: [0; HEAD],
            filled: 0,
            most,
            left: most,
            requests: 0,
            sent: 0,
            at: now,
        }
    }

    fn sent(&mut self, length: usize) {
        self.sent += length;
        let frames = self.sent / BYTES_PER_FRAME;
        self.sent %= BYTES_PER_FRAME;
        // Also beyond those that it may send at once: they come after what they are for.
        self.left = self.left.saturating_add(frames);
    }

    /// Reads on. Returns whether the client may go on, too.
    fn take(&mut self, mut bytes: &[u8], now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.at);
        let given = passed.as_millis().saturating_mul(PER_SECOND) / 1_000;
        if given > 0 {
            let given = usize::try_from(given).unwrap_or(usize::MAX);
            self.left = self
                .left
                .max(self.left.saturating_add(given).min(self.most));
            self.at = now;
        }
        while !bytes.is_empty() {
            let skipped = self.skip.min(bytes.len());
            self.skip -= skipped;
            bytes = &bytes[skipped..];
            let read = (HEAD - self.filled).min(bytes.len());
            self.head[self.filled..self.filled + read].copy_from_slice(&bytes[..read]);
            self.filled += read;
            bytes = &bytes[read..];
            if self.filled < HEAD {
                continue;
            }
            self.filled = 0;
            let [a, b, c, kind, flags, ..] = self.head;
            let length = u32::from_be_bytes([0, a, b, c]);
            self.skip = usize::try_from(length).unwrap_or(usize::MAX);
            match kind {
                HEADERS => self.requests += 1,
                RST_STREAM if self.requests > 0 => self.requests -= 1,
                DATA if length > 0 || flags & END_STREAM != 0 => {}
                _ => match self.left.checked_sub(1) {
                    Some(left) => self.left = left,
                    None => return false,
                },
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const PING: u8 = 6;
    const WINDOW_UPDATE: u8 = 8;

    fn frame(kind: u8, length: u8) -> Vec<u8> {
        let mut frame = vec![0, 0, length, kind, 0, 0, 0, 0, 0];
        frame.extend(vec![7; usize::from(length)]);
        frame
    }

    fn begun(most: usize) -> (Frames, Instant) {
        let now = Instant::now();
        let mut frames = Frames::of_at_most(most, now);
        assert!(frames.take(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", now));
        (frames, now)
    }

    #[test]
    fn so_many_frames_ask_for_nothing_and_no_more() {
        for kind in [2, 4, PING, WINDOW_UPDATE, 9, 200] {
            let (mut frames, now) = begun(3);
            for _ in 0..3 {
                assert!(frames.take(&frame(kind, 8), now), "{kind}");
            }
            assert!(!frames.take(&frame(kind, 8), now), "{kind}");
        }
        let (mut frames, now) = begun(1);
        for (kind, length) in [(HEADERS, 5), (RST_STREAM, 4), (DATA, 200)] {
            for _ in 0..10 {
                assert!(frames.take(&frame(kind, length), now), "{kind}");
            }
        }
        let last = [0, 0, 0, DATA, END_STREAM, 0, 0, 0, 1];
        assert!(
            (0..10).all(|_| frames.take(&last, now)),
            "the end of a body"
        );
        assert!(frames.take(&frame(DATA, 0), now));
        assert!(!frames.take(&frame(DATA, 0), now), "an empty one");
        // Each request is taken back once.
        assert!(!frames.take(&frame(RST_STREAM, 4), now));
    }

    #[test]
    fn frames_are_told_apart_however_they_arrive() {
        let bytes: Vec<u8> = (0..5).flat_map(|number| frame(PING, number * 3)).collect();
        for step in 1..bytes.len() {
            let (mut frames, now) = begun(5);
            for part in bytes.chunks(step) {
                assert!(frames.take(part, now), "{step}");
            }
            assert_eq!(frames.left, 0, "{step}");
        }
    }

    #[test]
    fn more_come_with_time_and_with_what_is_sent() {
        let (mut frames, now) = begun(3);
        let all: Vec<u8> = (0..3).flat_map(|_| frame(WINDOW_UPDATE, 4)).collect();
        assert!(frames.take(&all, now));
        frames.sent(2 * BYTES_PER_FRAME + 1);
        frames.sent(BYTES_PER_FRAME - 1);
        assert_eq!(frames.left, 3);
        frames.sent(100 * BYTES_PER_FRAME);
        assert_eq!(
            frames.left, 103,
            "a client grants windows for what it takes"
        );
        frames.left = 0;
        assert!(frames.take(&[], now + Duration::from_millis(10)));
        assert_eq!(frames.left, 2);
        assert!(frames.take(&[], now + Duration::from_secs(60)));
        assert_eq!(frames.left, 3);
    }
}
