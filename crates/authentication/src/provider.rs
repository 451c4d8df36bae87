//! Those who vouch for users by tokens of their own.

use std::error::Error;
use std::fmt::Debug;

use async_trait::async_trait;
use ucp_access::Principal;

/// Knows users by tokens that it has made, such as an OpenID Connect issuer.
#[async_trait]
pub trait IdentityProvider: Debug + Send + Sync {
    /// Returns who has the token.
    async fn verify(&self, token: &str) -> Result<Principal, Refused>;

    /// Returns what all names of its users and groups begin with, such as `oidc:`. Nobody else has such names.
    fn prefix(&self) -> &str;
}

/// Why a credential does not tell who calls.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// It is not valid. The sentence says why, to the caller too, and does not contain the credential.
    #[error("{0}")]
    Invalid(String),
    /// What is needed to verify it cannot be reached at the moment.
    #[error("the credential cannot be verified at the moment")]
    Unavailable(#[source] Box<dyn Error + Send + Sync>),
    /// Too many others wait to be verified.
    #[error("too many credentials are being verified")]
    Busy,
}

impl Refused {
    /// Refuses an invalid credential. The reason is a sentence.
    pub fn invalid(reason: impl Into<String>) -> Self {
        Refused::Invalid(reason.into())
    }
}
