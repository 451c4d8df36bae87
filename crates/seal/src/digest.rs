//! Keyed digests of values that are compared and never read again.

use std::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::Value;
use sha2::Sha256;
use ucp_model::{Digest, Entropy, Lineage, json};
use zeroize::Zeroizing;

use crate::{AssociatedData, Error, Keyring};

/// The key for digests of write-only values.
pub struct DigestKey {
    id: String,
    key: Zeroizing<[u8; 32]>,
}

impl DigestKey {
    /// Generates a key.
    pub fn generate(entropy: &dyn Entropy) -> Self {
        let mut key = Zeroizing::new([0; 32]);
        key[..16].copy_from_slice(&entropy.draw("seal.digest-key"));
        key[16..].copy_from_slice(&entropy.draw("seal.digest-key"));
        Self {
            id: entropy.uuid("seal.digest-key-id").to_string(),
            key,
        }
    }

    /// Returns the public id of the key, which is stored with each digest.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Seals the key for storage.
    pub fn seal(&self, sealing: &Keyring, entropy: &dyn Entropy) -> Vec<u8> {
        sealing.seal(AssociatedData::DigestKey(&self.id), &self.key[..], entropy)
    }

    /// Opens the sealed key `id`.
    pub fn open(id: &str, sealed: &[u8], sealing: &Keyring) -> Result<Self, Error> {
        let bytes = sealing.open(AssociatedData::DigestKey(id), sealed)?;
        let key = Zeroizing::new(bytes.as_slice().try_into().map_err(|_| Error::Corrupt)?);
        Ok(Self {
            id: id.to_owned(),
            key,
        })
    }

    /// Returns the fingerprint of a plan that is described by this text.
    pub fn fingerprint(&self, text: &str) -> String {
        hex::encode(self.mac(&["plan", text]))
    }

    /// Computes the digest of the `value` that a reference of this lineage declares at `pointer`. Each part is preceded by
    /// its length, so that no two inputs are hashed as the same bytes.
    pub fn digest(&self, lineage: &Lineage, pointer: &str, value: &Value) -> Digest {
        let mac = self.mac(&[lineage.as_str(), pointer, &json::canonical(value)]);
        Digest {
            key_id: self.id.clone(),
            hmac: hex::encode(mac),
        }
    }

    fn mac(&self, parts: &[&str]) -> [u8; 32] {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(&self.key[..]).expect("HMAC takes keys of any length");
        for part in parts {
            mac.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            mac.update(part.as_bytes());
        }
        mac.finalize().into_bytes().into()
    }
}

impl fmt::Debug for DigestKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DigestKey({})", self.id)
    }
}
