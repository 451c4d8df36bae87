//! Replies in pieces.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use hyper::body::{Body, Bytes, Frame, SizeHint};

/// How much of a reply is offered to the client at once, in bytes. It is the usual size of a frame.
pub(crate) const PIECE: usize = 16 << 10;

/// The body of a reply, in pieces.
///
/// hyper asks for a piece, and for the next one when there is room for a part of it. So the last byte goes by itself: when there is
/// room for it, there is for all before it, but for what hyper keeps of a connection, less than half a megabyte. Then the body is
/// dropped, and what the request holds with it. Otherwise that would be when hyper begins to send.
pub(crate) struct Pieces<B> {
    body: B,
    /// What is left of what the body has given.
    rest: Bytes,
}

impl<B> Pieces<B> {
    pub(crate) fn of(body: B) -> Self {
        Self {
            body,
            rest: Bytes::new(),
        }
    }

    /// Returns whether all that the body has given so far is handed out.
    pub(crate) fn is_spent(&self) -> bool {
        self.rest.is_empty()
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Pieces<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let Self { body, rest } = &mut *self;
        if rest.is_empty() {
            match ready!(Pin::new(body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => *rest = data,
                    Err(other) => return Poll::Ready(Some(Ok(other))),
                },
                end => return Poll::Ready(end),
            }
        }
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
    use http_body_util::{BodyExt as _, Full};

    use super::*;

    #[tokio::test]
    async fn the_last_byte_of_a_reply_goes_by_itself() {
        for (length, pieces) in [
            (0, &[][..]),
            (1, &[1]),
            (2, &[1, 1]),
            (PIECE + 1, &[PIECE, 1]),
            (PIECE + 2, &[PIECE, 1, 1]),
        ] {
            let body = Full::new(Bytes::from(vec![0; length]));
            let mut body = Pieces::of(body);
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
