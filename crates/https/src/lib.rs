//! Connections of our HTTP clients: in clear or over TLS, with one TLS stack.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyper_rustls::{ConfigBuilderExt as _, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::{Error as PemError, PemObject as _};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// Makes the connections of an HTTP client.
pub type Connector = HttpsConnector<HttpConnector>;

/// The authorities cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the certificates of the authorities{}", of(path.as_deref()))]
pub struct NoAuthorities {
    /// The file, or else the machine's own are meant.
    path: Option<PathBuf>,
    /// Why.
    #[source]
    source: Box<dyn std::error::Error + Send + Sync>,
}

fn of(path: Option<&Path>) -> String {
    path.map_or_else(String::new, |path| format!(" in {}", path.display()))
}

/// Returns a connector that trusts the authorities in a file of PEM, or else those of the machine.
pub fn connector(ca: Option<&Path>) -> Result<Connector, NoAuthorities> {
    let tls = tls(ca).map_err(|source| NoAuthorities {
        path: ca.map(Path::to_owned),
        source,
    })?;
    Ok(HttpsConnectorBuilder::new()
        .with_tls_config(tls)
        .https_or_http()
        .enable_http1()
        .build())
}

fn tls(ca: Option<&Path>) -> Result<ClientConfig, Box<dyn std::error::Error + Send + Sync>> {
    let builder = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()?;
    let builder = match ca {
        Some(file) => builder.with_root_certificates(authorities(file)?),
        None => builder.with_native_roots()?,
    };
    Ok(builder.with_no_client_auth())
}

/// Reads the certificates in a file, of which there must be one.
fn authorities(file: &Path) -> Result<RootCertStore, Box<dyn std::error::Error + Send + Sync>> {
    let pem = std::fs::read(file)?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        roots.add(certificate?)?;
    }
    if roots.is_empty() {
        Err(PemError::NoItemsFound.into())
    } else {
        Ok(roots)
    }
}
