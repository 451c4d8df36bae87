//! The authorities that sign certificates of clients.

use std::sync::Arc;

use tokio_rustls::rustls::crypto::CryptoProvider;
use tokio_rustls::rustls::pki_types::{CertificateDer, UnixTime};
use tokio_rustls::rustls::server::danger::ClientCertVerifier;
use tokio_rustls::rustls::server::{VerifierBuilderError, WebPkiClientVerifier};
use tokio_rustls::rustls::{Error, RootCertStore};

use crate::certificate::Authority;

/// Verifies the certificates of clients, and tells who has signed one.
#[derive(Clone, Debug)]
pub(crate) struct Authorities {
    provider: Arc<CryptoProvider>,
    /// The certificates of all of them.
    roots: RootCertStore,
    each: Vec<(Authority, Arc<dyn ClientCertVerifier>)>,
}

impl Authorities {
    pub(crate) fn new(provider: Arc<CryptoProvider>) -> Self {
        Self {
            provider,
            roots: RootCertStore::empty(),
            each: Vec::new(),
        }
    }

    /// Adds an authority with its certificates.
    pub(crate) fn add(
        &mut self,
        authority: Authority,
        roots: RootCertStore,
    ) -> Result<(), VerifierBuilderError> {
        self.roots.extend(roots.roots.iter().cloned());
        let verifier = verifier(roots, &self.provider)?;
        self.each.push((authority, verifier));
        Ok(())
    }

    /// Returns what verifies certificates during a handshake: a client has one of an authority, or none. `None` without
    /// authorities.
    pub(crate) fn verifier(&self) -> Result<Option<Arc<dyn ClientCertVerifier>>, Error> {
        if self.each.is_empty() {
            return Ok(None);
        }
        let verifier = verifier(self.roots.clone(), &self.provider);
        let verifier = verifier.map_err(|error| Error::General(error.to_string()))?;
        Ok(Some(verifier))
    }

    /// Returns who has signed the first of these certificates, by way of the others, as far as they are valid at this time.
    pub(crate) fn of(&self, chain: &[CertificateDer<'_>], now: UnixTime) -> Vec<Authority> {
        let Some((own, between)) = chain.split_first() else {
            return Vec::new();
        };
        let each = self.each.iter();
        let signed = each.filter(|(_, by)| by.verify_client_cert(own, between, now).is_ok());
        signed.map(|(authority, _)| *authority).collect()
    }
}

fn verifier(
    roots: RootCertStore,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, VerifierBuilderError> {
    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
        .allow_unauthenticated()
        .build()
}
