//! Certificates for servers of tests.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use super::server::Account;

/// The certificate of a server named `localhost`, and of the authority that has signed it.
#[derive(Debug)]
pub(super) struct Certificates {
    pub(super) authority: PathBuf,
    pub(super) certificate: PathBuf,
    pub(super) key: PathBuf,
}

impl Certificates {
    /// Makes them in a folder, for the account that the server runs as.
    pub(super) fn new(folder: &Path) -> Self {
        let mut authority = CertificateParams::new(Vec::new()).unwrap();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority =
            CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let server = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let server = server.signed_by(&key, &authority).unwrap();
        let write = |name: &str, pem: String| {
            let file = folder.join(name);
            std::fs::write(&file, pem).unwrap();
            std::fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
            if let Some(account) = Account::unprivileged() {
                account.give(&file);
            }
            file
        };
        Self {
            authority: write("authority.pem", authority.pem()),
            certificate: write("server.pem", server.pem()),
            key: write("server.key", key.serialize_pem()),
        }
    }
}
