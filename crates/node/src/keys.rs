use ucp_model::{Clock, Entropy};
use ucp_seal::{DigestKey, Keyring, Keys};
use ucp_store::{Sealed, SealedKey, SealedValues};

/// Why the keys of a store cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    /// The store refused or could not be reached.
    #[error(transparent)]
    Store(#[from] ucp_store::Error),
    /// The digest key does not open.
    #[error("the database was written under another encryption key")]
    AnotherKey(#[source] ucp_seal::Error),
}

/// All keys: the digest key is the database's, made when there is none, and opens only under the encryption key that
/// wrote it.
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
