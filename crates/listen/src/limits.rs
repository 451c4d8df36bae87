use std::time::Duration;

use crate::refusal::Refusal;

/// The maximum number of headers of a request. It is hyper's own for HTTP/1.1, which costs less than any other.
pub const HEADERS: usize = 100;

/// The limits of a server.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The maximum number of open connections, and of what counts as one: a request beside another one, and one that goes on
    /// after its client has left, by its [`Place`](crate::Place). Further connections wait; further requests
    /// are refused.
    pub connections: usize,
    /// The maximum number of those of one address; those of an IPv6 network of 64 bits count as one. Further
    /// ones are closed. Unlimited if `None`.
    pub peer: Option<usize>,
    /// What a peer with too many connections is told.
    pub refusal: Refusal,
    /// The maximum size of a request head, in bytes. A larger one, or one with more than [`HEADERS`], gets the reply 431.
    pub head_bytes: usize,
    /// The time that a client has to send a request head, and that a connection may be idle. Unlimited if `None`.
    pub head_timeout: Option<Duration>,
    /// The time that a client has to receive a reply. Unlimited if `None`.
    pub write: Option<WriteLimit>,
    /// The limits of a connection over HTTP/2, beside these.
    pub http2: Http2Limits,
    /// The time that open requests have to complete after shutdown, with those that go on without their clients. Unlimited if
    /// `None`.
    pub grace: Option<Duration>,
}

/// The limits of a connection over HTTP/2.
///
/// The first request under way on it is counted with the connection. Each further one counts as a connection, of its peer
/// and of all, and is refused if there are too many.
#[derive(Clone, Copy, Debug)]
pub struct Http2Limits {
    /// The maximum number of requests under way. Clients are told, and keep further ones back.
    pub streams: u32,
    /// The maximum number of requests that the client has taken back before they are served. The connection ends beyond it.
    pub resets: usize,
    /// The maximum number of requests that were refused for errors of the protocol. The connection ends beyond it.
    pub errors: usize,
    /// The maximum number of frames that the client sends at once and that ask for nothing, such as PING and SETTINGS; each second,
    /// and each kilobyte that it is sent, bring some more. The connection ends beyond it.
    pub frames: usize,
    /// The time after which a silent client is sent a ping, and in which it must answer. The connection ends beyond it.
    pub ping: Duration,
}

impl Http2Limits {
    /// What will do for any server. A client may take it that a hundred requests can be under way (RFC 9113, section 6.5.2).
    pub const USUAL: Self = Self {
        streams: 100,
        resets: 20,
        errors: 1_000,
        frames: 2_000,
        ping: Duration::from_secs(10),
    };
}

/// The time that a client has to receive a reply. A connection that takes longer is reset; over HTTP/2 only the request, if the
/// client takes others.
#[derive(Clone, Copy, Debug)]
pub struct WriteLimit {
    /// The time within which the client must take some bytes of those that wait for it.
    pub stall: Duration,
    /// The time within which it must take all that wait for it.
    pub whole: Duration,
}
