//! What is refused before it is a request of the service, which neither answers nor records it then.

use std::io;

use async_trait::async_trait;
use tokio_rustls::rustls;

use crate::peers::Peer;

/// Why something is refused before it is a request of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unserved {
    /// A connection: its peer has as many as it may.
    TooManyConnections,
    /// A request: its peer, or all, have as many as they may.
    TooManyRequests,
    /// The client does not speak TLS, and must.
    NotTls,
    /// The certificate of the client is not accepted.
    Certificate,
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
            Self::Certificate => "certificate",
            Self::Handshake => "handshake",
            Self::Head => "head",
        }
    }
}

/// Returns why a handshake has come to nothing, if that is the certificate of the client.
pub(crate) fn refused_certificate(error: &io::Error) -> Option<String> {
    match error.get_ref()?.downcast_ref()? {
        rustls::Error::InvalidCertificate(reason) => Some(reason.to_string()),
        _ => None,
    }
}

/// Is told of what is refused before it is a request of the service.
#[async_trait]
pub trait Witness: Send + Sync {
    /// Something of this peer was refused.
    fn refused(&self, peer: Peer, why: Unserved);

    /// The certificate of this peer is not accepted, of which [`refused`](Self::refused) tells too. Until this returns, the client
    /// does not learn it, and the connection stays open and keeps its place, so that who tries many of them can be slowed. It is
    /// dropped where it first waits if the server closes: what must not be lost is to be done before.
    async fn login_failed(&self, peer: Peer, reason: &str);
}

/// Forgets it.
#[async_trait]
impl Witness for () {
    fn refused(&self, _: Peer, _: Unserved) {}

    async fn login_failed(&self, _: Peer, _: &str) {}
}
