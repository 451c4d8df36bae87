//! The client of a connection. Its certificate was valid when it connected, and need not be any more.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio_rustls::rustls::pki_types::{CertificateDer, UnixTime};

use crate::authorities::Authorities;
use crate::certificate::{Authority, ClientCertificate, expires_at};
use crate::tls::Tls;

/// A client with a certificate.
pub(crate) struct Client {
    chain: Vec<CertificateDer<'static>>,
    tls: Tls,
    verified: Mutex<Verified>,
    /// Told when nobody vouches for the certificate any more.
    refused: Notify,
}

/// Who had signed the certificate when that was last asked.
struct Verified {
    certificate: Arc<ClientCertificate>,
    by: Arc<Authorities>,
    /// Until when it holds.
    until: UnixTime,
}

impl Client {
    /// Reads a chain of certificates that was verified just now. `None` if it does not say who the client is.
    pub(crate) fn read(
        chain: Vec<CertificateDer<'static>>,
        signed_by: Vec<Authority>,
        by: Arc<Authorities>,
        tls: Tls,
    ) -> Option<Self> {
        let certificate = ClientCertificate::read(chain.first()?, signed_by)?;
        let expire = chain.iter().filter_map(|one| expires_at(one));
        let until = Duration::from_secs(expire.min().unwrap_or_default());
        Some(Self {
            chain,
            tls,
            verified: Mutex::new(Verified {
                certificate: Arc::new(certificate),
                by,
                until: UnixTime::since_unix_epoch(until),
            }),
            refused: Notify::new(),
        })
    }

    /// Returns the certificate, signed by those who vouch for it at this time. It is verified again if it has expired, or
    /// if the authorities have changed.
    pub(crate) fn certificate(&self, now: UnixTime) -> Arc<ClientCertificate> {
        let current = self.tls.authorities();
        let mut verified = self.verified();
        if now > verified.until || !Arc::ptr_eq(&verified.by, &current) {
            verified.certificate = Arc::new(ClientCertificate {
                signed_by: current.of(&self.chain, now),
                ..(*verified.certificate).clone()
            });
            verified.by = current;
        }
        if verified.certificate.signed_by.is_empty() {
            self.refused.notify_one();
        }
        Arc::clone(&verified.certificate)
    }

    /// Returns once nobody vouches for the certificate: a request has found that it has expired, or its authority was removed.
    pub(crate) async fn is_refused(&self) {
        let mut changed = self.tls.changes();
        while !self.certificate(UnixTime::now()).signed_by.is_empty() {
            tokio::select! {
                () = self.refused.notified() => {}
                _ = changed.changed() => {}
            }
        }
    }

    fn verified(&self) -> MutexGuard<'_, Verified> {
        self.verified.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rcgen::{CertificateParams, CertifiedIssuer, DnType, KeyPair, date_time_ymd};

    use super::*;
    use crate::TlsFiles;

    #[tokio::test]
    async fn a_certificate_that_expires_is_signed_by_nobody_any_more() {
        let key = || KeyPair::generate().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut params = CertificateParams::default();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, key()).unwrap();
        let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, "ada");
        params.not_after = date_time_ymd(2100, 1, 1);
        let own = key();
        let certificate = params.signed_by(&own, &authority).unwrap();
        let [certificate_file, key_file, ca] =
            ["tls.crt", "tls.key", "ca.crt"].map(|name| folder.path().join(name));
        fs::write(&certificate_file, certificate.pem()).unwrap();
        fs::write(&key_file, own.serialize_pem()).unwrap();
        fs::write(&ca, authority.pem()).unwrap();
        let tls = Tls::read(TlsFiles {
            certificate: certificate_file,
            key: key_file,
            client_ca: Some(ca),
            request_header_ca: None,
        });
        let tls = tls.unwrap();
        let chain = vec![certificate.der().clone()];
        let by = tls.authorities();
        let client = Client::read(chain, vec![Authority::OfClients], by, tls).unwrap();
        let last = date_time_ymd(2100, 1, 1).unix_timestamp();
        let at = |second: i64| {
            let second = Duration::from_secs(second.try_into().unwrap());
            UnixTime::since_unix_epoch(second)
        };
        let signed_by = |second| client.certificate(at(second)).signed_by.clone();
        assert_eq!(signed_by(last), [Authority::OfClients]);
        assert_eq!(signed_by(last + 1), []);
        client.refused.notified().await;
    }
}
