//! How clients reach a server, and who is let in.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use ucp_api::Authentication;
use ucp_listen::{Tls, TlsFiles};

/// How clients reach a server, and who is let in.
#[derive(Debug, Args)]
pub(crate) struct Access {
    /// The certificate of this server in PEM, followed by those between it and the root. With it, the API speaks TLS only.
    /// The files are read again when they change.
    #[arg(long, env = "UCP_TLS_CERT", value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The private key of the certificate, in PEM.
    #[arg(long, env = "UCP_TLS_KEY", value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Certificates of authorities, in PEM. Only clients with a certificate of one of them are let in.
    #[arg(
        long,
        env = "UCP_CLIENT_CA",
        value_name = "FILE",
        requires = "tls_cert"
    )]
    pub(crate) client_ca: Option<PathBuf>,
    /// Listen beyond loopback without knowing who calls. Whoever reaches the server can then change AWS.
    #[arg(long, env = "UCP_INSECURE_NO_AUTHENTICATION")]
    pub(crate) insecure_no_authentication: bool,
}

impl Access {
    /// How callers are known.
    pub(crate) fn authentication(&self) -> Authentication {
        match self.client_ca {
            Some(_) => Authentication::ClientCertificate,
            None => Authentication::None,
        }
    }
}

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
    match given.authentication() {
        Authentication::ClientCertificate => return Ok(()),
        Authentication::None => {}
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
