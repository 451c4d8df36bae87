//! Who orders.

use std::fmt;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConstantTimeEq as _};
use ucp_app::Platform;
use zeroize::Zeroizing;

/// A platform, and how it signs in.
pub struct PlatformAccount {
    /// The platform.
    pub platform: Platform,
    /// Its name at the sign-in.
    pub username: String,
    /// Its passwords. Each is valid, so that they can be rotated.
    pub passwords: Vec<Zeroizing<String>>,
}

/// The platforms that may sign in.
#[derive(Debug, Default)]
pub struct Platforms(Vec<Arc<PlatformAccount>>);

impl fmt::Debug for PlatformAccount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PlatformAccount")
            .field("platform", &self.platform)
            .field("username", &self.username)
            .finish_non_exhaustive()
    }
}

impl Platforms {
    /// Returns these platforms.
    pub fn new(accounts: Vec<PlatformAccount>) -> Self {
        Self(accounts.into_iter().map(Arc::new).collect())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &PlatformAccount> {
        self.0.iter().map(Arc::as_ref)
    }

    /// Returns the platform that signs in so. All are compared, whichever it is, and in constant time: by
    /// their digests, since texts of different lengths are told apart at once.
    pub(crate) fn find(&self, username: &str, password: &str) -> Option<&Arc<PlatformAccount>> {
        let (username, password) = (Sha256::digest(username), Sha256::digest(password));
        let mut found = None;
        for account in &self.0 {
            let name = Sha256::digest(&account.username).ct_eq(&username);
            let mut is_valid = Choice::from(0);
            for valid in &account.passwords {
                is_valid |= Sha256::digest(valid.as_bytes()).ct_eq(&password);
            }
            if bool::from(name & is_valid) {
                found = Some(account);
            }
        }
        found
    }
}
