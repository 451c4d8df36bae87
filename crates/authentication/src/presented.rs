use std::sync::Arc;

use ucp_listen::ClientCertificate;
use zeroize::Zeroizing;

/// What a request has to show who sends it.
#[derive(Debug)]
pub enum Presented {
    /// Nothing.
    Nothing,
    /// A bearer token. It counts more than a certificate.
    Bearer(Zeroizing<String>),
    /// The certificate of a client.
    Certificate(Arc<ClientCertificate>),
    /// The word of a proxy that is trusted with it.
    RequestHeader {
        /// The name of the user.
        user: String,
        /// The groups that the user is a member of.
        groups: Vec<String>,
    },
    /// Something that cannot be read. The sentence says why.
    Unreadable(&'static str),
}
