use ucp_model::{Clock, Entropy};
use ucp_seal::{DigestKey, Keyring, Keys};
use ucp_store::{Sealed, SealedKey, SealedValues};

/// Errors of opening the keys of a store.
#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    /// The store refused or could not be reached.
    #[error(transparent)]
    Store(#[from] ucp_store::Error),
    /// The digest key cannot be opened with the encryption key.
    #[error("the database was written under another encryption key")]
    AnotherKey(#[source] ucp_seal::Error),
}

/// Opens the digest key of the store, which is created if there is none, and returns it with `sealing`. It opens only
/// with the encryption key that sealed it.
pub async fn open_keys(
    sealing: Keyring,
    store: &dyn SealedValues,
    clock: &dyn Clock,
    entropy: &dyn Entropy,
) -> Result<Keys, KeysError> {
    let fresh = DigestKey::generate(entropy);
    let candidate = SealedKey {
        id: fresh.id().to_owned(),
        key: Sealed(fresh.seal(&sealing, entropy)),
    };
    let current = store.ensure_digest_key(candidate, clock.now()).await?;
    let digest =
        DigestKey::open(&current.id, &current.key.0, &sealing).map_err(KeysError::AnotherKey)?;
    Ok(Keys { sealing, digest })
}
