//! What the certificate of a client says about it.

use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::FromDer;
use x509_parser::x509::AttributeTypeAndValue;

/// The name of who is not known.
const NOBODY: &str = "anonymous";

/// Who has signed a client's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Authority {
    /// An authority of [`TlsFiles::client_ca`](crate::TlsFiles::client_ca): the client is who its certificate names.
    OfClients,
    /// An authority of [`TlsFiles::request_header_ca`](crate::TlsFiles::request_header_ca): the client is a proxy, which
    /// says itself who calls.
    OfProxies,
}

/// The certificate of a client, which at least one authority has signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificate {
    /// The common name of the subject, or else its first URI, such as a SPIFFE ID, or its first DNS name.
    pub name: String,
    /// The common name of the subject, if it has one.
    pub common_name: Option<String>,
    /// The organizations of the subject, which are the groups of the client.
    pub groups: Vec<String>,
    /// Who has signed it. Nobody, if it has expired since the client connected, or its authority was removed.
    pub signed_by: Vec<Authority>,
}

impl ClientCertificate {
    /// Reads a certificate in DER. `None` if it has no name, or one that does not tell it from others.
    pub(crate) fn read(certificate: &[u8], signed_by: Vec<Authority>) -> Option<Self> {
        let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
        let subject = certificate.subject();
        let common_name = subject.iter_common_name().next().and_then(text);
        let name = match &common_name {
            Some(name) => name.clone(),
            None => alternative(&certificate)?,
        };
        let is_named = !name.trim().eq_ignore_ascii_case(NOBODY);
        is_named.then(|| Self {
            name,
            common_name,
            groups: subject.iter_organization().filter_map(text).collect(),
            signed_by,
        })
    }

    /// Returns whether `authority` has signed it.
    pub fn is_signed_by(&self, authority: Authority) -> bool {
        self.signed_by.contains(&authority)
    }
}

/// Returns the last second in which a certificate in DER is valid, since 1970.
pub(crate) fn expires_at(certificate: &[u8]) -> Option<u64> {
    let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
    certificate.validity().not_after.timestamp().try_into().ok()
}

/// Returns the text of an attribute, unless it is blank.
fn text(attribute: &AttributeTypeAndValue<'_>) -> Option<String> {
    let text = attribute.as_str().ok()?;
    (!text.trim().is_empty()).then(|| text.to_owned())
}

fn alternative(certificate: &X509Certificate<'_>) -> Option<String> {
    let others = certificate.subject_alternative_name().ok()??;
    let others = &others.value.general_names;
    let uri = others.iter().find_map(|name| match name {
        GeneralName::URI(uri) => Some(*uri),
        _ => None,
    });
    let dns = others.iter().find_map(|name| match name {
        GeneralName::DNSName(dns) => Some(*dns),
        _ => None,
    });
    uri.or(dns).map(str::to_owned)
}
