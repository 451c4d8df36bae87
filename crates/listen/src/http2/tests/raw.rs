//! A client of raw frames (RFC 9113).

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::time::timeout;

/// The kinds of frames, and their flags (section 6).
pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
pub(super) const PING: u8 = 6;
pub(super) const GOAWAY: u8 = 7;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// The codes of errors (section 7).
pub(super) const NO_ERROR: u8 = 0;
pub(super) const REFUSED_STREAM: u8 = 7;
pub(super) const CANCEL: u8 = 8;
pub(super) const ENHANCE_YOUR_CALM: u8 = 11;

/// How long a client waits for anything. It is more than any limit here.
const PATIENCE: Duration = Duration::from_secs(100_000);

/// A connection of which the client has sent nothing yet.
pub(super) struct Raw(pub(super) DuplexStream);

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) kind: u8,
    pub(super) stream: u32,
    pub(super) payload: Vec<u8>,
}

impl Frame {
    /// The code of the error that it tells.
    pub(super) fn code(&self) -> u8 {
        match self.kind {
            RST_STREAM => self.payload[3],
            GOAWAY => self.payload[7],
            kind => panic!("a frame of kind {kind} has no code"),
        }
    }
}

impl Raw {
    /// Begins to speak.
    pub(super) async fn begin(&mut self) {
        self.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await;
        self.send(&frame(SETTINGS, 0, 0, &[])).await;
    }

    pub(super) async fn send(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).await.expect("it is taken");
    }

    /// Returns the next frame of one of these kinds. `None` at the end of the connection.
    pub(super) async fn next(&mut self, kinds: &[u8]) -> Option<Frame> {
        let reading = async {
            loop {
                let mut head = [0; 9];
                self.0.read_exact(&mut head).await.ok()?;
                let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
                let kind = head[3];
                let mut payload = vec![0; length as usize];
                self.0.read_exact(&mut payload).await.ok()?;
                if kinds.contains(&kind) {
                    let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
                    return Some(Frame {
                        kind,
                        stream,
                        payload,
                    });
                }
            }
        };
        let read = timeout(PATIENCE, reading).await;
        read.expect("an answer or an end")
    }

    /// Expects that the server ends the connection, and returns the code of the error that it tells, if it does.
    pub(super) async fn ends(&mut self) -> Option<u8> {
        let mut told = None;
        while let Some(frame) = self.next(&[GOAWAY]).await {
            told = Some(frame.code());
        }
        told
    }
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a short one");
    let mut frame = length.to_be_bytes()[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// Returns the frame of a GET.
pub(super) fn get(stream: u32, path: &str) -> Vec<u8> {
    // GET and https by their numbers, the path, and the authority `x` (RFC 7541, appendix A).
    let length = u8::try_from(path.len()).expect("a short one");
    let mut fields = vec![0x82, 0x87, 0x04, length];
    fields.extend(path.as_bytes());
    fields.extend([0x01, 1, b'x']);
    frame(HEADERS, END_STREAM | END_HEADERS, stream, &fields)
}

/// Returns the frame of a request whose head goes on.
pub(super) fn half_a_head(stream: u32) -> Vec<u8> {
    frame(HEADERS, END_STREAM, stream, &[0x82])
}

/// Returns the frame that takes a request back.
pub(super) fn take_back(stream: u32) -> Vec<u8> {
    frame(RST_STREAM, 0, stream, &[0, 0, 0, CANCEL])
}

/// Returns the frame of a ping.
pub(super) fn ping(text: &[u8; 8]) -> Vec<u8> {
    frame(PING, 0, 0, text)
}
