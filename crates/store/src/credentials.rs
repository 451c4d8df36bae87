//! Credentials: whose signature AWS sees.

use async_trait::async_trait;
use ucp_model::{Credential, CredentialId, NewCredential, Timestamp};

use crate::{Error, Precondition, Sealed};

/// A credential with what it takes to sign.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredCredential {
    /// The credential.
    pub credential: Credential,
    /// The secret of an access key.
    pub secret: Option<Sealed>,
}

/// The credentials, each with its secret.
#[async_trait]
pub trait Credentials: Send + Sync {
    /// Creates the credential, or replaces all that it had, the secret included; the casing of the first write stays.
    /// [`Error::PreconditionFailed`] when `precondition` does not hold.
    async fn put_credential(
        &self,
        new: NewCredential,
        secret: Option<Sealed>,
        precondition: &Precondition,
        now: Timestamp,
    ) -> Result<Credential, Error>;

    /// The credential, if it is there.
    async fn get_credential(&self, id: &CredentialId) -> Result<Option<StoredCredential>, Error>;

    /// Up to `limit` credentials of an aws plane in the order of their keys, from the first one whose key is greater than
    /// that of `after`, which need not be there any more.
    async fn list_credentials(
        &self,
        plane: &str,
        after: Option<&CredentialId>,
        limit: usize,
    ) -> Result<Vec<Credential>, Error>;

    /// Removes the credential and its secret, and tells whether it was there. [`Error::PreconditionFailed`] when it is and
    /// `precondition` does not hold.
    async fn delete_credential(
        &self,
        id: &CredentialId,
        precondition: &Precondition,
    ) -> Result<bool, Error>;
}
