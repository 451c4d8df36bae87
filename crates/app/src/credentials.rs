use ucp_model::{Credential, CredentialId, ErrorCode, Failure, NewCredential, PlaneId};
use ucp_seal::AssociatedData;
use ucp_store::Sealed;

use crate::{App, Listed, Precondition, Rejection};

/// A credential to write. Not `Debug`, so that the secret cannot be printed.
pub struct PutCredential {
    /// The credential.
    pub new: NewCredential,
    /// The secret of an access key.
    pub secret: Option<String>,
}

impl App {
    /// Creates the credential, or replaces it and its secret.
    pub async fn put_credential(
        &self,
        put: PutCredential,
        precondition: &Precondition,
    ) -> Result<Credential, Rejection> {
        let id = put.new.id.clone();
        let secret = put.secret.map(|secret| {
            let (place, entropy) = (AssociatedData::Credential(&id), self.parts.entropy.as_ref());
            let sealing = &self.parts.keys.sealing;
            Sealed(sealing.seal(place, secret.as_bytes(), entropy))
        });
        let store = &self.parts.store;
        let put = store.put_credential(put.new, secret, precondition, self.now());
        let put = put.await;
        // Even after an error, since the commit may have succeeded.
        self.parts.accounts.credential_changed(&id.plane);
        put.map_err(|error| refusal(error, &id))
    }

    /// Returns the credential without its secret.
    pub async fn get_credential(&self, id: &CredentialId) -> Result<Credential, Rejection> {
        let stored = self.parts.store.get_credential(id).await?;
        stored.map(|stored| stored.credential).ok_or_else(|| {
            let message = format!(
                "There is no credential '{}' on the plane '{}'.",
                id.name, id.plane
            );
            Rejection::Missing(
                Failure::new(ErrorCode::NotFound, message).with_target(id.to_string()),
            )
        })
    }

    /// Returns up to `top` credentials of an aws plane, after `after`.
    pub async fn list_credentials(
        &self,
        plane: &PlaneId,
        after: Option<&CredentialId>,
        top: usize,
    ) -> Result<Listed<Credential>, Rejection> {
        let store = &self.parts.store;
        let listed = store.list_credentials(&plane.name, after, top + 1).await?;
        Ok(Listed::of(listed, top))
    }

    /// Removes the credential with its secret. Returns whether it existed.
    pub async fn delete_credential(
        &self,
        id: &CredentialId,
        precondition: &Precondition,
    ) -> Result<bool, Rejection> {
        let deleted = self.parts.store.delete_credential(id, precondition).await;
        self.parts.accounts.credential_changed(&id.plane);
        deleted.map_err(|error| refusal(error, id))
    }
}

fn refusal(error: ucp_store::Error, id: &CredentialId) -> Rejection {
    match error {
        ucp_store::Error::PreconditionFailed => Rejection::precondition_failed(id),
        other => other.into(),
    }
}
