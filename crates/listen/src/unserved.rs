//! What is refused before it is a request of the service, which neither answers nor records it then.

use std::io;

use tokio_rustls::rustls;

use crate::peers::Peer;

/// Why something is refused before it is a request of the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unserved {
    /// A connection: its peer has as many as it may.
    TooManyConnections,
    /// A request: its peer, or all, have as many as they may.
    TooManyRequests,
    /// The client does not speak TLS, and must.
    NotTls,
    /// The certificate of the client is not accepted, for this reason.
    Certificate(String),
    /// The handshake of TLS came to nothing otherwise.
    Handshake,
    /// The head of a request cannot be read, or is too large.
    Head,
}

impl Unserved {
    /// Returns its name, as metrics have it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::TooManyConnections => "too_many_connections",
            Self::TooManyRequests => "too_many_requests",
            Self::NotTls => "not_tls",
            Self::Certificate(_) => "certificate",
            Self::Handshake => "handshake",
            Self::Head => "head",
        }
    }

    /// Tells why a handshake came to nothing.
    pub(crate) fn handshake(error: &io::Error) -> Self {
        let cause = error.get_ref();
        match cause.and_then(|cause| cause.downcast_ref()) {
            Some(rustls::Error::InvalidCertificate(reason)) => {
                Self::Certificate(reason.to_string())
            }
            Some(_) | None => Self::Handshake,
        }
    }
}

/// Is told of what is refused before it is a request of the service.
pub trait Witness: Send + Sync {
    /// Something of this peer was refused.
    fn refused(&self, peer: Peer, why: &Unserved);
}

/// Forgets it.
impl Witness for () {
    fn refused(&self, _: Peer, _: &Unserved) {}
}
