//! The name of a client in its certificate.

use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::FromDer;

/// The name of who is not known.
const NOBODY: &str = "anonymous";

/// Returns the common name of the subject, or else its first URI, such as a SPIFFE ID, or its first DNS name. `None` if it
/// has none of these, or one that does not tell it from others.
pub(crate) fn name(certificate: &[u8]) -> Option<String> {
    let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
    let mut common_names = certificate.subject().iter_common_name();
    let common_name = common_names.next().and_then(|name| name.as_str().ok());
    if let Some(name) = common_name.filter(|name| !name.trim().is_empty()) {
        return (!name.trim().eq_ignore_ascii_case(NOBODY)).then(|| name.to_owned());
    }
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
