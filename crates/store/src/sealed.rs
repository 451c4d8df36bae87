//! Sealed values: what only the holder of the encryption key can read.

use std::fmt;

use async_trait::async_trait;
use ucp_model::{CredentialId, OperationId, Timestamp};

use crate::Error;

/// Bytes that only the holder of the encryption key can read.
#[derive(Clone, PartialEq, Eq)]
pub struct Sealed(pub Vec<u8>);

/// The documents of an operation that wait to be sent. They are erased when it ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Documents {
    /// The declared properties of a put.
    pub desired: Option<Sealed>,
    /// The exact bytes of the recorded intent.
    pub document: Option<Sealed>,
}

/// A digest key, sealed under the encryption key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedKey {
    /// Its public id, stored beside every digest it makes.
    pub id: String,
    /// The key.
    pub key: Sealed,
}

/// Where a sealed value stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SealedPlace {
    /// The secret of a credential.
    Credential(CredentialId),
    /// The declared properties of a live operation.
    Desired(OperationId),
    /// The current digest key, by its id.
    DigestKey(String),
    /// The bytes of the recorded intent of a live operation.
    Document(OperationId),
}

impl fmt::Debug for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sealed({} bytes)", self.0.len())
    }
}

/// The sealed values of all tables, and the digest key among them.
#[async_trait]
pub trait SealedValues: Send + Sync {
    /// Up to `limit` of all sealed values, in an order that stays the same: those behind `after`, which need not be there
    /// any more, or the first ones.
    async fn list_sealed(
        &self,
        after: Option<&SealedPlace>,
        limit: usize,
    ) -> Result<Vec<(SealedPlace, Sealed)>, Error>;

    /// Puts `new` in place of `old`, and tells whether it did: not when the value has changed or is gone. It is not a
    /// change of what was sealed: no revision rises and no lease is needed.
    async fn reseal(&self, place: &SealedPlace, old: &Sealed, new: Sealed) -> Result<bool, Error>;

    /// The current digest key: `candidate` becomes it when there is none yet.
    async fn ensure_digest_key(
        &self,
        candidate: SealedKey,
        now: Timestamp,
    ) -> Result<SealedKey, Error>;

    /// Makes `new` the current digest key in place of the one that was, which is gone with this, or the first.
    async fn replace_digest_key(&self, new: SealedKey, now: Timestamp) -> Result<(), Error>;
}
