//! Sealed values: bytes that only the holder of the encryption key can read.

use std::fmt;

use async_trait::async_trait;
use ucp_model::{CredentialId, OperationId, Timestamp};

use crate::Error;

/// Bytes that only the holder of the encryption key can read.
#[derive(Clone, PartialEq, Eq)]
pub struct Sealed(pub Vec<u8>);

/// The sealed documents of a live operation. They are erased when it ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Documents {
    /// The declared properties of a put.
    pub desired: Option<Sealed>,
    /// The exact bytes of the recorded intent.
    pub document: Option<Sealed>,
    /// What the request has seen in AWS, until the first step.
    pub look: Option<Sealed>,
}

/// A digest key, sealed under the encryption key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedKey {
    /// Its public id, stored beside every digest made with it.
    pub id: String,
    /// The sealed key.
    pub key: Sealed,
}

/// Where a sealed value is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SealedPlace {
    /// The secret of a credential.
    Credential(CredentialId),
    /// The declared properties of a live operation.
    Desired(OperationId),
    /// The current digest key, with its id.
    DigestKey(String),
    /// The bytes of the recorded intent of a live operation.
    Document(OperationId),
    /// The look that a live operation was accepted with.
    Look(OperationId),
}

impl fmt::Debug for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sealed({} bytes)", self.0.len())
    }
}

/// Access to the sealed values of all tables, and to the digest key.
#[async_trait]
pub trait SealedValues: Send + Sync {
    /// Returns up to `limit` sealed values in a stable order, starting after `after`, which need not exist any more, or
    /// with the first one.
    async fn list_sealed(
        &self,
        after: Option<&SealedPlace>,
        limit: usize,
    ) -> Result<Vec<(SealedPlace, Sealed)>, Error>;

    /// Replaces `old` by `new`. Returns whether it did: not if the value has changed or is gone. The plaintext stays
    /// the same, so no revision increases and no lease is needed.
    async fn reseal(&self, place: &SealedPlace, old: &Sealed, new: Sealed) -> Result<bool, Error>;

    /// Returns the current digest key. If there is none, stores `candidate` and returns it.
    async fn ensure_digest_key(
        &self,
        candidate: SealedKey,
        now: Timestamp,
    ) -> Result<SealedKey, Error>;

    /// Makes `new` the current digest key and removes the previous one, if any.
    async fn replace_digest_key(&self, new: SealedKey, now: Timestamp) -> Result<(), Error>;
}
