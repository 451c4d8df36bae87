//! How clients reach a server, and who is let in.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use ucp_authentication::Settings;
use ucp_listen::{Tls, TlsFiles};

use crate::oidc::Oidc;

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
    /// Certificates of authorities, in PEM. A client with a certificate of one of them is who its certificate names.
    #[arg(
        long,
        env = "UCP_CLIENT_CA",
        value_name = "FILE",
        requires = "tls_cert"
    )]
    pub(crate) client_ca: Option<PathBuf>,
    /// Certificates of authorities, in PEM. A client with a certificate of one of them is a proxy that has authenticated
    /// its callers, and says who they are in the headers X-Remote-User and X-Remote-Group.
    #[arg(
        long,
        env = "UCP_REQUEST_HEADER_CLIENT_CA",
        value_name = "FILE",
        requires = "tls_cert"
    )]
    pub(crate) request_header_client_ca: Option<PathBuf>,
    /// The common name of such a proxy. Without it, any certificate of these authorities will do. May be repeated.
    #[arg(
        long = "request-header-allowed-name",
        env = "UCP_REQUEST_HEADER_ALLOWED_NAME",
        value_name = "NAME",
        value_delimiter = ',',
        requires = "request_header_client_ca"
    )]
    pub(crate) request_header_allowed_names: Vec<String>,
    /// A proxy in front of the server speaks TLS with clients: what arrives in clear beyond loopback has not come so from them.
    #[arg(long, env = "UCP_TLS_AT_PROXY", conflicts_with = "tls_cert")]
    pub(crate) tls_at_proxy: bool,
    #[command(flatten)]
    pub(crate) oidc: Oidc,
    /// Refuse callers that are not known on loopback too. Beyond it they always are.
    #[arg(long, env = "UCP_REQUIRE_AUTHENTICATION")]
    pub(crate) require_authentication: bool,
    /// Listen beyond loopback without knowing who calls. Whoever reaches the server can then change AWS. It has no effect
    /// beside a flag that says how callers are known.
    #[arg(
        long,
        env = "UCP_INSECURE_NO_AUTHENTICATION",
        conflicts_with = "require_authentication"
    )]
    pub(crate) insecure_no_authentication: bool,
}

impl Access {
    /// Returns how callers are known at this address.
    pub(crate) fn authentication(&self, address: SocketAddr) -> Settings {
        let is_asked_for = self.require_authentication
            || self.client_ca.is_some()
            || self.oidc.settings().is_some()
            || self.request_header_client_ca.is_some();
        let proxies = self.request_header_client_ca.as_ref();
        Settings {
            required: is_asked_for || !(is_loopback(address) || self.insecure_no_authentication),
            certificates: self.client_ca.is_some(),
            proxies: proxies.map(|_| self.request_header_allowed_names.clone()),
        }
    }

    /// Returns whether tokens and passwords travel in clear to one of the addresses.
    pub(crate) fn is_in_clear(&self, addresses: &[Option<SocketAddr>]) -> bool {
        let mut addresses = addresses.iter().flatten();
        let is_encrypted = self.tls_cert.is_some() || self.tls_at_proxy;
        !is_encrypted && addresses.any(|address| !is_loopback(*address))
    }
}

/// Reads the certificates, if the server speaks TLS.
pub(crate) fn tls(given: &Access) -> anyhow::Result<Option<Tls>> {
    let (Some(certificate), Some(key)) = (&given.tls_cert, &given.tls_key) else {
        return Ok(None);
    };
    if given.client_ca.is_some()
        && given.request_header_client_ca.is_some()
        && given.request_header_allowed_names.is_empty()
    {
        bail!(
            "with --client-ca, name the proxies with --request-header-allowed-name: a client whose certificate an authority of \
             both has signed would be a proxy too"
        );
    }
    let files = TlsFiles {
        certificate: certificate.clone(),
        key: key.clone(),
        client_ca: given.client_ca.clone(),
        request_header_ca: given.request_header_client_ca.clone(),
    };
    Tls::read(files).map(Some).context("cannot speak TLS")
}

/// Warns of what whoever reaches the address can do.
pub(crate) fn warn(authentication: &Settings, address: SocketAddr) {
    match (authentication.required, is_loopback(address)) {
        (false, true) => tracing::warn!(
            "callers are not authenticated: whoever reaches this address can change AWS"
        ),
        (false, false) => tracing::warn!(
            listen.address = %address,
            "INSECURE: callers are not authenticated, and the address is not loopback: whoever reaches it can change AWS"
        ),
        (true, _) => {}
    }
}

/// Returns whether only this machine reaches the address.
pub(crate) fn is_loopback(address: SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}
