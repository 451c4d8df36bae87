//! Credentials that sign AWS calls.

use async_trait::async_trait;
use ucp_model::{Credential, CredentialId, NewCredential, Timestamp};

use crate::{Error, Precondition, Sealed, Written};

/// A credential with its secret.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredCredential {
    /// The credential.
    pub credential: Credential,
    /// The secret of an access key.
    pub secret: Option<Sealed>,
}

/// Storage of credentials and their secrets.
#[async_trait]
pub trait Credentials: Send + Sync {
    /// Creates the credential, or replaces it and its secret; the casing of the first write stays.
    /// [`Error::PreconditionFailed`] if `precondition` does not hold.
    async fn put_credential(
        &self,
        new: NewCredential,
        secret: Option<Sealed>,
        precondition: &Precondition,
        now: Timestamp,
    ) -> Result<Written<StoredCredential>, Error>;

    /// Returns the credential, if it exists.
    async fn get_credential(&self, id: &CredentialId) -> Result<Option<StoredCredential>, Error>;

    /// Returns up to `limit` credentials of an aws plane in the order of their keys, starting after the key of `after`,
    /// which need not exist any more.
    async fn list_credentials(
        &self,
        plane: &str,
        after: Option<&CredentialId>,
        limit: usize,
    ) -> Result<Vec<Credential>, Error>;

    /// Removes the credential and its secret. Returns whether it existed. [`Error::PreconditionFailed`] if it exists
    /// and `precondition` does not hold.
    async fn delete_credential(
        &self,
        id: &CredentialId,
        precondition: &Precondition,
    ) -> Result<bool, Error>;

    /// Resolves when another process may have written or removed a credential since the last call resolved. Engines
    /// that cannot know never resolve; cached credentials then hold until they are too old.
    async fn credentials_changed(&self) {
        std::future::pending().await
    }
}
