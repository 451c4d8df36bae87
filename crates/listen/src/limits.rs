use std::time::Duration;

/// The limits of a server.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The maximum number of open connections. Further ones wait to be accepted.
    pub connections: usize,
    /// The limit of each peer. Unlimited if `None`.
    pub peer: Option<PeerLimit>,
    /// The maximum size of a request head, in bytes. A larger one, or one with more than 100 headers, gets the reply
    /// 431.
    pub head_bytes: usize,
    /// The time that a client has to send a request head, and that a connection may be idle. Unlimited if `None`.
    pub head_timeout: Option<Duration>,
    /// The time that a client has to receive a reply. Unlimited if `None`.
    pub write: Option<WriteLimit>,
    /// The time that open requests have to complete after shutdown. Unlimited if `None`.
    pub grace: Option<Duration>,
}

/// The limit of the connections of one address. The addresses of an IPv6 network of 64 bits count as one.
#[derive(Clone, Copy, Debug)]
pub struct PeerLimit {
    /// The maximum number of open connections. Further ones are closed.
    pub connections: usize,
    /// What a connection gets before it is closed: the head and the body of a reply.
    pub refusal: &'static str,
}

/// The time that a client has to receive a reply. A connection that takes longer is reset.
#[derive(Clone, Copy, Debug)]
pub struct WriteLimit {
    /// The time within which the client must take some bytes of those that wait for it.
    pub stall: Duration,
    /// The time within which it must take all that wait for it.
    pub whole: Duration,
}
