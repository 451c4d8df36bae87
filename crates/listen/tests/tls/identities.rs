//! Authorities, what they certify, and clients that have it.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DistinguishedName, DnType, IsCa, Issuer,
    KeyPair,
};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use ucp_listen::TlsFiles;

/// An authority.
pub(super) struct Authority {
    certificate: Certificate,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate and its key, in PEM.
pub(super) struct Identity {
    pub(super) certificate: String,
    pub(super) key: String,
}

impl Authority {
    pub(super) fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.self_signed(&key).expect("a certificate");
        Self {
            certificate,
            issuer: Issuer::new(params, key),
        }
    }

    pub(super) fn pem(&self) -> String {
        self.certificate.pem()
    }

    /// Certifies a DNS name.
    pub(super) fn issue(&self, name: &str) -> Identity {
        let mut params = CertificateParams::new([name.to_owned()]).expect("a name");
        params.distinguished_name = DistinguishedName::new();
        self.sign(&params)
    }

    /// Certifies a common name and an organization.
    pub(super) fn issue_to(&self, name: &str, organization: Option<&str>) -> Identity {
        let mut params = CertificateParams::new(["localhost".to_owned()]).expect("a name");
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, name);
        if let Some(organization) = organization {
            let kind = DnType::OrganizationName;
            params.distinguished_name.push(kind, organization);
        }
        self.sign(&params)
    }

    pub(super) fn sign(&self, params: &CertificateParams) -> Identity {
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        Identity {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        }
    }
}

impl Identity {
    pub(super) fn write(&self, folder: &Path) -> TlsFiles {
        let files = TlsFiles {
            certificate: folder.join("tls.crt"),
            key: folder.join("tls.key"),
            client_ca: None,
            request_header_ca: None,
        };
        fs::write(&files.certificate, &self.certificate).expect("a file");
        fs::write(&files.key, &self.key).expect("a file");
        files
    }
}

/// Connects, and speaks one of these protocols.
pub(super) async fn connect(
    address: SocketAddr,
    root: &Authority,
    identity: Option<&Identity>,
    protocols: &[&str],
) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots
        .add(root.certificate.der().clone())
        .expect("a certificate");
    let builder = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots);
    let mut config = match identity {
        None => builder.with_no_client_auth(),
        Some(Identity { certificate, key }) => {
            let chain = CertificateDer::pem_slice_iter(certificate.as_bytes());
            let chain: Result<Vec<_>, _> = chain.collect();
            let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).expect("a key");
            let chain = chain.expect("a certificate");
            builder.with_client_auth_cert(chain, key).expect("a pair")
        }
    };
    let protocols = protocols.iter().map(|name| name.as_bytes().to_vec());
    config.alpn_protocols = protocols.collect();
    let stream = TcpStream::connect(address).await.expect("a connection");
    let connector = TlsConnector::from(Arc::new(config));
    let name = "localhost".try_into().expect("a name");
    connector.connect(name, stream).await
}
