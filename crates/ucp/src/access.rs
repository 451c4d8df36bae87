//! How clients reach a server, and who is let in.

use std::net::SocketAddr;

use anyhow::{Context, bail};
use ucp_listen::{Tls, TlsFiles};

use crate::cli::Access;

/// Reads the certificates, if the server speaks TLS.
pub(crate) fn tls(given: &Access) -> anyhow::Result<Option<Tls>> {
    let (Some(certificate), Some(key)) = (&given.tls_cert, &given.tls_key) else {
        return Ok(None);
    };
    let files = TlsFiles {
        certificate: certificate.clone(),
        key: key.clone(),
        client_ca: given.client_ca.clone(),
    };
    Tls::read(files).map(Some).context("cannot speak TLS")
}

/// Refuses an address beyond loopback where anybody would be let in.
pub(crate) fn judge(given: &Access, address: SocketAddr) -> anyhow::Result<()> {
    if given.client_ca.is_some() {
        return Ok(());
    }
    match (
        address.ip().to_canonical().is_loopback(),
        given.insecure_no_authentication,
    ) {
        (true, _) => tracing::warn!(
            "callers are not authenticated: whoever reaches this address can change AWS"
        ),
        (false, true) => tracing::warn!(
            listen.address = %address,
            "INSECURE: callers are not authenticated, and the address is not loopback: whoever reaches it can change AWS"
        ),
        (false, false) => bail!(
            "{address} is not loopback, and whoever reaches it could change AWS. Let in only clients with a certificate \
             (--tls-cert, --tls-key and --client-ca), listen on loopback behind a proxy that authenticates them, or accept \
             that with --insecure-no-authentication"
        ),
    }
    Ok(())
}
